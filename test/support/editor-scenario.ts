// The scenario of test/clients in a real editor: a copy of an example is opened, and every step's answer is a row.
import { spawnSync } from "node:child_process";
import { cpSync, existsSync, mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import t from "tap";
import { cleanEnv, cliPath, root } from "./cli.ts";
import { requires } from "./require.ts";

export interface Editor {
  readonly program: string;
  /** The Debian packages that it comes in. */
  readonly packages: string;
  readonly argv: readonly string[];
  /** What it cannot show as others do: in place of the step's expectation, by the step's name. */
  readonly differs?: Readonly<Record<string, object>>;
}

interface Step {
  readonly name: string;
  /** Everything that the editor shows. */
  readonly shows: object;
  /** The lines that the step takes out of the text and those that it puts in; none where it is not given. */
  readonly removes?: readonly string[];
  readonly adds?: readonly string[];
}

interface Answer {
  readonly text?: string;
  readonly error?: string;
}

/** A starting editor, a starting server and every step's own limit; the whole takes a second or two. */
const LIMIT_MS = 120_000;

export function runScenario({ program, packages, argv, differs = {} }: Editor): void {
  const missing = requires(program) && `${program} is not installed (Debian: apt-get install ${packages})`;
  t.test(`the scenario in ${program}`, { skip: missing }, async (t) => {
    const scenario = join(root, "test/clients/scenario.json");
    const steps: readonly Step[] = JSON.parse(readFileSync(scenario, "utf8"));
    const dir = t.testdir();
    const app = join(dir, "app");
    const home = join(dir, "home");
    mkdirSync(home);
    cpSync(join(root, "examples/node-server"), app, { recursive: true });
    const results = join(dir, "results.json");

    const { status, signal, stdout, stderr, error } = spawnSync(program, argv, {
      cwd: app,
      env: cleanEnv({
        HOME: home,
        LANG: "C.UTF-8",
        TOOL_SCENARIO: scenario,
        TOOL_RESULTS: results,
        TOOL_SERVER: JSON.stringify([process.execPath, cliPath, "lsp", "--stdio"]),
      }),
      stdio: ["ignore", "pipe", "pipe"],
      encoding: "utf8",
      timeout: LIMIT_MS,
    });
    if (error !== undefined && status === null && signal === null) throw error;
    t.ok(existsSync(results), "answers", { stdout, stderr, signal });
    const answers: readonly Answer[] = existsSync(results) ? JSON.parse(readFileSync(results, "utf8")) : [];

    let before = readFileSync(join(app, "tool.json"), "utf8");
    for (const [index, { name, shows, removes = [], adds = [] }] of steps.entries()) {
      const { text = before, ...shown } = answers[index] ?? { error: "not reached" };
      t.same(shown, differs[name] ?? shows, name);
      t.same(onlyIn(before, text), removes, `${name}: lines that go`);
      t.same(onlyIn(text, before), adds, `${name}: lines that come`);
      before = text;
    }
    t.ok(
      Object.keys(differs).every((name) => steps.some((step) => step.name === name)),
      "every difference names a step",
    );
    t.equal(status, 0, `${program} ends well`, { stdout, stderr, signal });
  });
}

/** The lines of a text that another does not have, as often as they occur more. */
function onlyIn(text: string, other: string): string[] {
  const known = other.split("\n");
  return text.split("\n").filter((line) => {
    const at = known.indexOf(line);
    if (at >= 0) known.splice(at, 1);
    return at < 0;
  });
}
