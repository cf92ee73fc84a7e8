// The scenario of test/clients in a real editor: a copy of an example is opened, and every step's answer is a row.
import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import t, { type Test } from "tap";
import { cleanEnv, cliPath, root } from "./cli.ts";
import { copyExample } from "./copy-example.ts";
import { requires } from "./require.ts";

export interface Editor {
  readonly program: string;
  /** The Debian packages that it comes in. */
  readonly packages: string;
  readonly argv: readonly string[];
  /** The steps that it cannot show as others do. */
  readonly differs?: Differences;
}

/** By the step's name, what replaces its own expectations. */
export type Differences = Readonly<Record<string, Partial<Pick<Step, "shows" | "removes" | "adds">>>>;

export interface Step {
  readonly do: string;
  readonly name: string;
  /** A text that occurs once, and what replaces it; `|` in it is the cursor. */
  readonly replace?: string;
  readonly with?: string;
  /** A text that occurs once, with the cursor in it. */
  readonly at?: string;
  /** The title of the fix, or the label of the item, that is taken. */
  readonly pick?: string;
  /** The new name. */
  readonly to?: string;
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

/** An editor that is driven from here: an action for every `do` of the steps, which gives what the editor shows then. */
export interface DrivenEditor {
  readonly actions: Readonly<Record<string, (step: Step) => Promise<object>>>;
  /** The text after a step. */
  text(): Promise<string>;
}

/** A starting editor, a starting server and every step's own limit; the whole takes a second or two. */
const LIMIT_MS = 120_000;

export function runScenario({ program, packages, argv, differs = {} }: Editor): void {
  const missing = requires(program) && `${program} is not installed (Debian: apt-get install ${packages})`;
  t.test(`the scenario in ${program}`, { skip: missing }, async (t) => {
    const dir = t.testdir();
    const app = copyExample(dir);
    const home = join(dir, "home");
    mkdirSync(home);
    const original = readFileSync(join(app, "tool.json"), "utf8");
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

    compare(t, original, answers, differs);
    t.equal(status, 0, `${program} ends well`, { stdout, stderr, signal });
  });
}

/** Plays every step; the first that fails is the last, as all further ones build on it. */
export async function playScenario(
  t: Test,
  original: string,
  { actions, text }: DrivenEditor,
  differs: Differences = {},
): Promise<void> {
  const answers: Answer[] = [];
  for (const step of steps()) {
    try {
      answers.push({ ...(await actions[step.do]!(step)), text: await text() });
    } catch (error) {
      answers.push({ error: String((error as Error).stack) });
      break;
    }
  }
  compare(t, original, answers, differs);
}

const scenario = join(root, "test/clients/scenario.json");

function steps(): readonly Step[] {
  return JSON.parse(readFileSync(scenario, "utf8"));
}

function compare(t: Test, original: string, answers: readonly Answer[], differs: Differences): void {
  let before = original;
  for (const [index, step] of steps().entries()) {
    const { name, shows, removes = [], adds = [] } = { ...step, ...differs[step.name] };
    const { text = before, ...answer } = answers[index] ?? { error: "not reached" };
    t.same(answer, shows, name);
    t.same(onlyIn(before, text), removes, `${name}: lines that go`);
    t.same(onlyIn(text, before), adds, `${name}: lines that come`);
    before = text;
  }
  t.ok(
    Object.keys(differs).every((name) => steps().some((step) => step.name === name)),
    "every difference names a step",
  );
}

/** The lines of a text that another does not have, as often as they occur more. */
function onlyIn(text: string, other: string): string[] {
  const otherLines = other.split("\n");
  return text.split("\n").filter((line) => {
    const at = otherLines.indexOf(line);
    if (at >= 0) otherLines.splice(at, 1);
    return at < 0;
  });
}
