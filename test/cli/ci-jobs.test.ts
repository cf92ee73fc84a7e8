// The definitions for CI of others: each step is run as its host runs it, with the real command on the path.
import { spawn } from "node:child_process";
import { chmodSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import t from "tap";
import { parse, parseAllDocuments } from "yaml";
import { checkableFiles } from "../../cli/project/checkable-files.ts";
import { cleanEnv, cliPath, root } from "../support/cli.ts";

interface Step {
  readonly uses?: string;
  readonly run?: string;
  readonly shell?: string;
  readonly env?: Readonly<Record<string, string>>;
}

interface Action {
  readonly inputs: Readonly<Record<string, { readonly description: string; readonly default: string }>>;
  readonly runs: { readonly using: string; readonly steps: readonly Step[] };
}

const FAULTY = '{ "name": "App" }\n';
const DOUBTFUL = '{ "name": "app", "static": { "dir": "none" } }\n';
const GOOD = '{ "name": "app" }\n';

/** A folder of programs with `tool` in it, at the front of the path. */
function toolOnPath(folder: string): string {
  const bin = join(folder, "bin");
  mkdirSync(bin);
  writeFileSync(join(bin, "tool"), `#!/bin/sh\nexec "${process.execPath}" "${cliPath}" "$@"\n`);
  chmodSync(join(bin, "tool"), 0o755);
  return `${bin}:${process.env.PATH}`;
}

async function bash(script: string, cwd: string, env: Readonly<Record<string, string>>) {
  // As the runner of GitHub starts `shell: bash`.
  const child = spawn("bash", ["--noprofile", "--norc", "-eo", "pipefail", "-c", script], {
    cwd,
    env: { ...cleanEnv(), ...env },
    stdio: ["ignore", "pipe", "pipe"],
  });
  const ended = new Promise<number | null>((done) => child.once("close", done));
  const [stdout, stderr] = await Promise.all([text(child.stdout), text(child.stderr)]);
  return { code: await ended, stdout, stderr };
}

t.test("the action for GitHub annotates, fails by its inputs, and leaves a log for code scanning", async (t) => {
  const actionPath = join(root, ".github/actions/validate");
  const { inputs, runs }: Action = parse(readFileSync(join(actionPath, "action.yml"), "utf8"));
  t.equal(runs.using, "composite");
  const cwd = t.testdir({
    faulty: { "tool.json": FAULTY },
    doubtful: { "tool.json": DOUBTFUL },
    good: { "tool.json": GOOD, "-f.logq": "error\n" },
    "a b; exit 9": { "tool.json": FAULTY },
  });
  const PATH = toolOnPath(cwd);
  const run = (given: Readonly<Record<string, string>>, path = PATH) => {
    const [step] = runs.steps;
    t.equal(step!.shell, "bash");
    const value = (name: string) => {
      t.ok(name in inputs, name);
      return given[name] ?? inputs[name]!.default;
    };
    const env = Object.entries(step!.env ?? {}).map(([name, template]) => [
      name,
      template.replace(/\$\{\{ inputs\.([\w-]+) \}\}/g, (_, input) => value(input)),
    ]);
    return bash(step!.run!, cwd, {
      ...Object.fromEntries(env),
      GITHUB_ACTION_PATH: actionPath,
      GITHUB_WORKSPACE: cwd,
      PATH: path,
    });
  };
  const rows: [inputs: Readonly<Record<string, string>>, code: number, stdout: RegExp][] = [
    [{ path: "good" }, 0, /^$/],
    [{ path: "faulty" }, 1, /^::error file=faulty\/tool\.json,line=1,.*title=config\/name::/],
    [{ path: "faulty/tool.json" }, 1, /^::error file=faulty\/tool\.json,/],
    [{ path: "doubtful" }, 1, /^::warning file=doubtful\/tool\.json,.*title=config\/missing-directory::/],
    [{ path: "doubtful", strict: "false" }, 0, /^::warning file=doubtful/],
    [{ path: "doubtful", ignore: "config/missing-directory  query/*" }, 0, /^$/],
    [{ path: "a b; exit 9" }, 1, /^::error file=a b; exit 9\/tool\.json/],
    [{ path: "good", strict: "yes" }, 2, /^::error title=strict::strict is true or false\n$/],
    [{ path: "absent" }, 2, /^$/],
    [{}, 1, /::error file=faulty\/tool\.json/],
  ];
  for (const [given, code, stdout] of rows) {
    const result = await run(given);
    t.equal(result.code, code, JSON.stringify(given));
    t.match(result.stdout, stdout, JSON.stringify(given));
  }
  const withLog = await run({ path: "faulty", sarif: "problems.sarif" });
  t.equal(withLog.code, 1);
  t.match(withLog.stdout, /^::error file=faulty/);
  const log = JSON.parse(readFileSync(join(cwd, "problems.sarif"), "utf8"));
  t.match(log.runs[0].results, [{ ruleId: "config/name" }]);
  const bare = join(cwd, "bare");
  mkdirSync(bare);
  const missing = await run({}, `${bare}:/usr/bin:/bin`);
  t.equal(missing.code, 1);
  t.match(missing.stdout, /^::error title=tool is not installed::add a step before this one/);
});

t.test("the job for GitLab fails by its inputs and leaves a report of all problems", async (t) => {
  const [header, jobs] = parseAllDocuments(readFileSync(join(root, ".gitlab/validate.yml"), "utf8"));
  const inputs = header!.toJS().spec.inputs;
  const run = async (given: Readonly<Record<string, string>>, cwd: string, PATH: string) => {
    const filled = String(jobs).replace(/\$\[\[ inputs\.([\w-]+) \]\]/g, (_, name) => {
      t.ok(name in inputs, name);
      return given[name] ?? String(inputs[name].default);
    });
    const { image, variables, script, artifacts } = parse(filled)["tool-validate"];
    t.equal(image, given.image ?? "node:24");
    t.match(artifacts, { when: "always", reports: { codequality: "gl-code-quality-report.json" } });
    const result = await bash(script.join("\n"), cwd, { ...variables, CI_PROJECT_DIR: cwd, PATH });
    return { ...result, issues: JSON.parse(readFileSync(join(cwd, "gl-code-quality-report.json"), "utf8")) };
  };
  const rows: [text: string, inputs: Readonly<Record<string, string>>, code: number, issues: object[]][] = [
    [GOOD, {}, 0, []],
    [FAULTY, { path: "tool.json" }, 1, [{ check_name: "config/name", location: { path: "tool.json" } }]],
    [DOUBTFUL, {}, 1, [{ severity: "minor" }]],
    [DOUBTFUL, { strict: "false" }, 0, [{ severity: "minor" }]],
  ];
  for (const [file, given, code, issues] of rows) {
    const folder = t.testdir({ "tool.json": file });
    const PATH = toolOnPath(folder);
    const result = await run(given, folder, PATH);
    t.equal(result.code, code, `${file} ${JSON.stringify(given)}`);
    t.match(result.issues, issues);
    t.equal(result.issues.length, issues.length);
  }
});

t.test("the hooks of pre-commit take the files that a folder's check takes, but for .toolignore", async (t) => {
  const hooks: { id: string; entry: string; files: string }[] = parse(
    readFileSync(join(root, ".pre-commit-hooks.yaml"), "utf8"),
  );
  t.same(
    hooks.map(({ id }) => id),
    ["tool-validate", "tool-validate-fix"],
  );
  const names = ["tool.json", "a/tool.json", "a/web.tool.json", "x.logq", "a/b c.logq"];
  const others = ["package.json", "atool.json", "tool.json.bak", "a/tool.jsonc", "logq", "y.logq/readme"];
  const folder = t.testdir({});
  for (const name of [...names, ...others]) {
    mkdirSync(join(folder, name, ".."), { recursive: true });
    writeFileSync(join(folder, name), "");
  }
  const checkable = await checkableFiles(folder);
  for (const { id, files } of hooks) {
    t.same([...names, ...others].filter((name) => new RegExp(files).test(name)).sort(), checkable, id);
  }
});
