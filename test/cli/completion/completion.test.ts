// Completion of the command line: what may be where, and the scripts in real shells.
import { execFileSync, spawn } from "node:child_process";
import { chmodSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import t from "tap";
import type { Command } from "../../../cli/command-row.ts";
import { complete, type ProjectWords } from "../../../cli/completion/complete.ts";
import { afterBreak, splitLine } from "../../../cli/completion/shell-words.ts";
import { describeTable } from "../../../cli/table.ts";
import { cleanEnv, cliPath, tool } from "../../support/cli.ts";
import { requires } from "../../support/require.ts";

const project: ProjectWords = {
  stages: ["development", "staging", "production", "pr-1"],
  queries: ["slow", "failed"],
  hooks: ["prebuild", "build"],
  variables: ["API_KEY", "LEVEL"],
  teams: ["acme", "shop"],
};

/** Returns the candidates that begin as the last word does. */
function offered(line: string, commands: readonly Command[], from = project): string {
  const words = splitLine(line).slice(1);
  const result = complete(words, commands, from);
  if (result.kind !== "words") return `:${result.kind}`;
  return result.candidates.flatMap(({ value }) => (value.startsWith(words.at(-1)!) ? [value] : [])).join(" ");
}

t.test("what may stand at the cursor", (t) => {
  const commands = describeTable();
  const rows: [string, string][] = [
    ["tool st", "stack start staging"],
    ["tool stack ", "status plan apply delete rotate-logs-token policy"],
    ["tool stack ap", "apply"],
    ["tool help stack ", "status plan apply delete rotate-logs-token policy"],
    ["tool deploy ", "staging production pr-1"],
    ["tool deploy -v pr-", "pr-1"],
    ["tool production ", ""],
    ["tool lo", "logs"],
    ["tool -v lo", "logs"],
    ["tool -C dir lo", "logs"],
    ["tool -C ", ":directories"],
    ["tool --chdir x --format ", "text json"],
    ["tool nothing ", ""],
    ["tool logs @", "@slow @failed"],
    ["tool logs ", "@slow @failed"],
    ["tool logs @slow ", ""],
    ["tool logs --fo", "--format --follow"],
    ["tool logs --follow --fo", "--format"],
    ["tool logs -f --fol", ""],
    ["tool logs --file a --fi", "--file"],
    ["tool logs --file ", ":files"],
    ["tool logs --file=", ":files"],
    ["tool logs -S ", "15m 1h 1d 7d 1M"],
    ["tool logs -fS ", "15m 1h 1d 7d 1M"],
    ["tool logs -- --", ""],
    ["tool logs --format=", "--format=text --format=json --format=csv"],
    ["tool deploys --format ", "text json"],
    ["tool validate --format ", "text json github gitlab sarif"],
    ["tool validate a.json ", ":files"],
    ["tool run ", "prebuild build"],
    ["tool run build ", ""],
    ["tool run -s ", "development staging production pr-1"],
    ["tool build --stage=p", "--stage=production --stage=pr-1"],
    ["tool build --stage production --s", "--size --sandbox"],
    ["tool help lo", "logs"],
    ["tool env ", "add set get ls rm export"],
    ["tool env get ", "API_KEY LEVEL"],
    ["tool env rm API_KEY L", "LEVEL"],
    ["tool env add -s ", "all development staging production pr-1"],
    ["tool env ls --stage=a", "--stage=all"],
    ["tool env add --file ", ":files"],
    ["tool team ", "status login switch logout add subscribe unsubscribe card members ci"],
    ["tool team members ", "ls add role link rm"],
    ["tool help team members ", "ls add role link rm"],
    ["tool team members role ben@example.com ", "member admin owner"],
    ["tool team members add --role a", "admin"],
    ["tool team switch ", "acme shop"],
    ["tool team login --team=a", "--team=acme"],
    ["tool team ci ", "ls rm"],
    ["tool completion ", "bash zsh fish"],
    ["true; tool lo", "logs"],
    ["tool logs 'a b' @s", ""],
    ["tool 'logs' @s", "@slow"],
  ];
  for (const [line, expected] of rows) t.equal(offered(line, commands), expected, line);
  const names = [...new Set(commands.map(({ name }) => name.split(" ")[0]!))];
  t.equal(offered("tool ", commands), [...names, "staging", "production", "pr-1"].join(" "), "all commands");
  t.equal(
    offered("tool build -", commands),
    "--help --chdir --verbose --format --version --stage --size --no-env --sandbox",
    "all flags",
  );

  // Commands of two words, and stages as commands, where there is a deploy.
  const base = { summary: "", examples: [], flags: [], minWords: 0, maxWords: 1 };
  const more: Command[] = [
    { ...base, name: "deploy", usage: "deploy [stage]" },
    { ...base, name: "stack plan", usage: "stack plan" },
    {
      ...base,
      name: "stack delete",
      usage: "stack delete",
      flags: [{ long: "yes", repeatable: false, description: "" }],
    },
    { ...base, name: "domains", usage: "domains" },
    { ...base, name: "domains check", usage: "domains check <domain>" },
  ];
  const rowsOfMore: [string, string][] = [
    ["tool ", "deploy stack domains staging production pr-1"],
    ["tool p", "production pr-1"],
    ["tool deploy ", "staging production pr-1"],
    ["tool stack ", "plan delete"],
    ["tool stack delete --y", "--yes"],
    ["tool -v stack -v d", "delete"],
    ["tool domains ", "check"],
    ["tool domains check ", ""],
  ];
  for (const [line, expected] of rowsOfMore) t.equal(offered(line, more), expected, line);
  t.end();
});

t.test("the words of a line", (t) => {
  const rows: [string, string[]][] = [
    ["", [""]],
    ["tool", ["tool"]],
    ["tool ", ["tool", ""]],
    ["tool  a\tb ", ["tool", "a", "b", ""]],
    ['tool \'a b\' "c \\" d" e\\ f', ["tool", "a b", 'c " d', "e f"]],
    ["tool 'a b", ["tool", "a b"]],
    ["tool '' x", ["tool", "", "x"]],
    ["cat x | tool lo", ["tool", "lo"]],
    ["a && tool lo", ["tool", "lo"]],
  ];
  for (const [line, words] of rows) t.same(splitLine(line), words, JSON.stringify(line));
  t.equal(afterBreak("--stage=pr", "--stage=production"), "production");
  t.equal(afterBreak("@s", "@slow"), "@slow");
  t.equal(afterBreak("lo", "logs"), "logs");
  t.end();
});

t.test("the command", async (t) => {
  const cwd = t.testdir({
    "tool.json":
      '{ "name": "app", "stages": { "pr-1": {} }, "logs": { "include": ["ops/*.json"], "queries": { "slow": "duration > 1s" } } }',
    ops: { "a.json": '{ "logs": { "queries": { "failed": "error" } } }', "b.json": "{" },
  });
  const rows: { argv: string[]; code?: number; stdout?: string; stderr?: string }[] = [
    {
      argv: ["powershell"],
      code: 2,
      stderr: 'error: there are no completions for "powershell"\n  the shells are: bash, zsh, fish\n',
    },
    { argv: ["bash", "--line", "tool logs @s"], stdout: "@slow\n" },
    { argv: ["bash", "--line", "tool logs @f"], stdout: "@failed\n" },
    { argv: ["bash", "--line", "sudo /usr/bin/tool build --stage=pr"], stdout: "production\npr-1\n" },
    { argv: ["fish", "--line", "tool run postb"], stdout: "postbuild\n" },
    {
      argv: ["fish", "--line", "x | tool lo"],
      stdout: "logs\tSearch or follow the logs\n",
    },
    { argv: ["zsh", "--line=tool lo"], stdout: "logs:Search or follow the logs\n" },
    { argv: ["zsh", "--line", "tool -C / logs @"], stdout: "" },
    { argv: ["fish", "--line", "tool nothing "], stdout: "" },
  ];
  for (const { argv, code = 0, stdout = "", stderr = "" } of rows) {
    const outcome = await tool(["completion", ...argv], { cwd });
    t.same(
      { code: outcome.code, stdout: outcome.stdout, stderr: outcome.stderr },
      { code, stdout, stderr },
      argv.join(" "),
    );
  }
  for (const text of ["", "{", "[]", "null", '"x"', '{"stages":5,"logs":null}']) {
    writeFileSync(join(cwd, "tool.json"), text);
    const { code, stdout, stderr } = await tool(["completion", "fish", "--line", "tool build -s "], { cwd });
    t.same(
      { code, stdout, stderr },
      { code: 0, stdout: "development\nstaging\nproduction\n", stderr: "" },
      JSON.stringify(text),
    );
  }
});

/** Typed into a real shell, up to the tab; then what the line has become. */
const typed: [string, string][] = [
  ["tool bui", "tool build"],
  ["tool logs @sl", "tool logs @slow"],
  ["tool logs --cou", "tool logs --count"],
  ["tool build --stage=prod", "tool build --stage=production"],
  ["tool build -s pr-", "tool build -s pr-1"],
  ["tool run postd", "tool run postdeploy"],
  ["tool validate som", "tool validate some-file.json"],
  ["tool -C subf", "tool -C subfolder/"],
  ["tool logs --file=som", "tool logs --file=some-file.json"],
  ["tool completion b", "tool completion bash"],
];

function makeProject(t: Tap): { cwd: string; env: Record<string, string> } {
  const cwd = t.testdir({
    "tool.json": '{ "name": "app", "stages": { "pr-1": {} }, "logs": { "queries": { "slow": "duration > 1s" } } }',
    "some-file.json": "",
    subfolder: {},
    bin: { tool: `#!/bin/sh\nexec "${process.execPath}" "${cliPath}" "$@"\n` },
  });
  chmodSync(join(cwd, "bin/tool"), 0o755);
  const env = cleanEnv({ HOME: cwd, TERM: "xterm" });
  return { cwd, env: { ...env, PATH: `${join(cwd, "bin")}:${env.PATH}` } };
}

type Tap = typeof t;

for (const { shell, start, prepare } of [
  { shell: "bash", start: "bash --norc --noprofile -i", prepare: "source <(tool completion bash)" },
  {
    shell: "zsh",
    start: "zsh -f -i",
    prepare: "bindkey -e; autoload -Uz compinit; compinit -u -D; source <(tool completion zsh)",
  },
]) {
  t.test(`typed into ${shell}`, { skip: requires(shell) || requires("script") }, async (t) => {
    const { cwd, env } = makeProject(t as Tap);
    const child = spawn("script", ["-qec", start, "/dev/null"], { cwd, env, stdio: ["pipe", "ignore", "ignore"] });
    child.stdin.write(`${prepare}\n`);
    // To the beginning of the line, and to its end: what is in between goes into a file.
    for (const [i, [line]] of typed.entries()) child.stdin.write(`${line}\t\u0001echo \u0005 > out-${i}\n`);
    child.stdin.write("exit\n");
    await new Promise((resolve) => child.once("exit", resolve));
    for (const [i, [line, expected]] of typed.entries()) {
      const became = readFileSync(join(cwd, `out-${i}`), "utf8").trim();
      // zsh takes the slash away where nothing follows it.
      t.equal(became, shell === "zsh" ? expected.replace(/\/$/, "") : expected, line);
    }
  });
}

t.test("typed into fish", { skip: requires("fish") }, (t) => {
  const { cwd, env } = makeProject(t as Tap);
  for (const [line, expected] of typed) {
    const script = `tool completion fish | source; complete -C ${JSON.stringify(line)}`;
    const answer = execFileSync("fish", ["--no-config", "-c", script], { cwd, env, encoding: "utf8" });
    const values = answer.split("\n").flatMap((value) => (value === "" ? [] : [value.split("\t")[0]!]));
    t.same([...new Set(values)], [expected.split(" ").at(-1)], line);
  }
  t.end();
});
