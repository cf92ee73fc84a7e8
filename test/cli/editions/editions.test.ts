// The editions of a release: what each Pro row of the specification does in the free one, and in the Pro one with an account.

import { execFile } from "node:child_process";
import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { build } from "esbuild";
import t from "tap";
import type { Release } from "../../../cli/edition.ts";
import { describeTable, isProCommand, TABLE } from "../../../cli/table.ts";
import { systemClock } from "../../../grammar/units/clock.ts";
import { proKeysIn } from "../../../schema/index.ts";
import { cleanEnv, cliPath, type Outcome, root, tool } from "../../support/cli.ts";
import { startLsp } from "../../support/lsp-client.ts";
import { signedInAt, startStandIn, testRun } from "../../support/release-account.ts";

const KEY = "11qYAYKxCrfVS/7TyWQHOg7hcvPapiMlrwIaaPcHURo=";
const ACCOUNT = { url: "https://account.example.com", key: KEY };

const FREE: Release = { edition: "free", account: ACCOUNT };

/** The constants that the bundler inserts, for the command in this process: it is loaded after them. */
Object.assign(globalThis, { TOOL_EDITION: FREE.edition, TOOL_ACCOUNT: FREE.account });
const { run } = await import("../../../cli/main.ts");

/** Runs the free edition in this process. */
async function free(argv: string, cwd = "/"): Promise<Pick<Outcome, "code" | "stdout" | "stderr">> {
  const { context, stdout, stderr } = testRun({ env: cleanEnv(), clock: systemClock, cwd });
  const code = await run(context.io, argv.split(" ")).catch(context.explain);
  return { code, stdout: stdout(), stderr: stderr() };
}

/** The words of Node for the compiled command with other constants, in a process of its own. */
function wordsOf(release: Release, argv: readonly string[]): string[] {
  const constants = { TOOL_EDITION: release.edition, TOOL_ACCOUNT: release.account };
  const script = `Object.assign(globalThis, ${JSON.stringify(constants)});`;
  return [`--import=data:text/javascript,${encodeURIComponent(script)}`, join(root, "dist/cli/cli.js"), ...argv];
}

function toolOf(release: Release, argv: readonly string[], more: { cwd?: string; env?: Record<string, string> }) {
  return new Promise<Outcome>((done) => {
    const options = { cwd: more.cwd, env: cleanEnv(more.env) };
    const child = execFile(process.execPath, wordsOf(release, argv), options, (_, stdout, stderr) => {
      done({ code: child.exitCode, signal: child.signalCode, stdout, stderr });
    });
  });
}

/** Each has every setting of Pro, and what a build would leave behind. */
const PROJECT = {
  "tool.json": `{
  "name": "app",
  "hooks": { "build": "touch built" },
  "function": { "layers": ["arn:aws:lambda:us-west-2:123456789012:layer:a:1"], "warm": true },
  "actions": [{ "name": "ops", "type": "email", "emails": ["ops@example.com"] }],
  "alerts": [{ "metric": "http.5xx", "statistic": "sum", "threshold": 1, "action": "ops" }],
  "stages": { "production": { "function": { "warm": true } } }
}
`,
  "app.js": 'require("http").createServer((_, res) => res.end("hello")).listen(process.env.PORT);',
};
const KEYS =
  "function.layers (line 4), function.warm (line 4), actions (line 5), alerts (line 6), stages.production.function.warm (line 7)";
const GET_PRO = "subscribe with tool team subscribe; then tool upgrade installs the Pro edition";

t.test("the free edition refuses each Pro command before it does anything", async (t) => {
  const cwd = t.testdir({ ...PROJECT, "tool.json": '{ "name": "app" }' });
  const commands = [
    "env",
    "env add A=1",
    "env set A=1",
    "env get A",
    "env ls",
    "env rm A",
    "env export",
    "rollback",
    "rollback v1 --stage production --sandbox",
    "deploys",
    "team add Night",
    "team members add ben@example.com",
  ];
  for (const command of commands) {
    const name = command
      .split(" ")
      .slice(
        0,
        command.startsWith("team members") ? 3 : command.startsWith("env") || command.startsWith("team") ? 2 : 1,
      )
      .join(" ");
    t.same(
      await free(command, cwd),
      {
        code: 1,
        stdout: "",
        stderr: `error: tool ${name} is a Pro feature, and this is the free edition\n  ${GET_PRO}\n`,
      },
      command,
    );
  }
  const tried = commands.map((command) =>
    Object.keys(TABLE)
      .map((usage) => usage.replace(/ [<[].*/, ""))
      .filter((name) => `${command} `.startsWith(`${name} `))
      .at(-1),
  );
  const marked = describeTable().filter(({ name }) => isProCommand(name as never));
  t.same([...new Set(tried)].sort(), marked.map(({ name }) => name).sort(), "these are all that the table marks");
  t.match(await free("rollback --help", cwd), { code: 0, stderr: "" }, "help is for everybody");
  t.match(await free("rollback --stgae a", cwd), { code: 2 }, "a slip is told first");
});

t.test("the free edition refuses settings of Pro before anything is built, all at once", async (t) => {
  const cwd = t.testdir(PROJECT);
  for (const command of [
    "deploy",
    "deploy production --sandbox",
    "build",
    "stack plan --sandbox",
    "stack apply --yes --sandbox",
  ]) {
    const { code, stdout, stderr } = await free(command, cwd);
    t.equal(code, 1, command);
    t.equal(stdout, "", command);
    const places = [...stderr.matchAll(/^tool\.json:(\d+:\d+): error: "([\w.]+)" is a Pro feature \[config\/pro\]$/gm)];
    t.same(
      places.map(([, place, path]) => `${place} ${path}`),
      [
        "4:17 function.layers",
        "4:80 function.warm",
        "5:3 actions",
        "6:3 alerts",
        "7:45 stages.production.function.warm",
      ],
      command,
    );
    const said = `error: this is the free edition, and tool.json has settings of Pro: ${KEYS}\n  remove them, or ${GET_PRO}\n`;
    t.equal(stderr.slice(stderr.indexOf("error: this is")), said, command);
  }
  t.notOk(existsSync(join(cwd, "built")), "nothing was built");
  t.notOk(existsSync(join(cwd, "out.zip")));
});

t.test("the free edition does all else", async (t) => {
  const cwd = t.testdir(PROJECT);
  const note = `note: tool.json has settings of Pro, which this free edition does not deploy: ${KEYS}\n  ${GET_PRO}\n`;
  t.match(await free("validate --strict", cwd), {
    code: 0,
    stdout: "tool.json is valid\n",
    stderr: note,
  });
  const json = await free("validate --format json", cwd);
  t.same(JSON.parse(json.stdout), { file: "tool.json", problems: [] });
  t.match(json, { code: 0, stderr: note });
  t.match(await free("validate --ignore config/pro", cwd), { code: 0, stderr: "" });
  t.match(await free("config", cwd), { code: 0, stderr: "" });
  const plain = t.testdir({
    "tool.json": '{ "name": "app", "alerts": [], "function": { "warm": false } }',
    "app.js": PROJECT["app.js"],
  });
  t.match(await toolOf(FREE, ["build"], { cwd: plain }), { code: 0 });
  t.match(await free("--version"), { code: 0, stdout: "0.0.0\n", stderr: "" });
  t.match(await free("version --format json"), {
    stdout: '{"version":"0.0.0","edition":"free"}\n',
  });
  t.match(
    await free("team login --email ?"),
    {
      code: 2,
      stderr: 'error: "?" is not an email address\n  write ann@example.com\n',
    },
    "it knows where to sign in",
  );
});

t.test("an editor of the free edition gets hints, which can be switched off", async (t) => {
  const uri = "file:///nonexistent/app/tool.json";
  const client = startLsp({ argv: wordsOf(FREE, ["lsp", "--stdio"]) });
  t.teardown(() => client.child.kill());
  await client.initialize({ capabilities: { textDocument: { diagnostic: {} } } });
  client.open(uri, PROJECT["tool.json"]);
  const hints = async () => {
    const { result } = await client.request("textDocument/diagnostic", { textDocument: { uri } });
    const { items } = result as { items: { code: string; severity: number; message: string }[] };
    return items.filter(({ code }) => code === "config/pro").map(({ severity, message }) => `${severity} ${message}`);
  };
  const hint = "\nthis is the free edition, which does not deploy it; tool team subscribe gets Pro";
  const paths = ["function.layers", "function.warm", "actions", "alerts", "stages.production.function.warm"];
  t.same(
    await hints(),
    paths.map((path) => `4 "${path}" is a Pro feature${hint}`),
  );
  client.notify("workspace/didChangeConfiguration", {
    settings: { tool: { diagnostics: { severity: { "config/pro": "off" } } } },
  });
  t.same(await hints(), []);
  t.equal(await client.stop(), 0);
});

t.test("a Pro release asks its account service, once for all", async (t) => {
  const cwd = t.testdir(PROJECT);
  const service = await startStandIn(t, systemClock);
  const { env } = signedInAt(t, service.account.url);
  const release: Release = { edition: "pro", account: service.account };
  t.match(await toolOf(release, ["build"], { cwd, env }), { code: 0 });
  // The command goes on to where the cloud is missing.
  t.match(await toolOf(release, ["deploys"], { cwd, env }), { code: 1, stderr: /credentials/ });
  t.same(service.calls, ["get_subscription"]);
  t.match(await toolOf(release, ["validate"], { cwd, env }), { code: 0, stderr: "" });
  t.match(await toolOf(release, ["--version"], {}), { code: 0, stdout: "0.0.0-pro\n" });

  rmSync(join(cwd, "built"));
  service.answers.get_subscription = () => service.subscription({ status: "canceled", edition: "free" });
  const { env: other } = signedInAt(t, service.account.url);
  const no = `the team acme has a subscription that is canceled at ${service.account.url}\n  tool team subscribe gets Pro for it\n`;
  const refusal = await toolOf(release, ["build"], { cwd, env: other });
  t.match(refusal, { code: 1, stdout: "" });
  t.match(refusal.stderr, '5:3: error: "actions" is a Pro feature');
  t.match(refusal.stderr, `error: tool.json has settings of Pro (${KEYS}): ${no}`);
  t.notOk(existsSync(join(cwd, "built")), "nothing was built");
  for (const command of ["rollback", "env ls", "team members add ben@example.com"]) {
    const { code, stdout, stderr } = await toolOf(release, command.split(" "), { cwd, env: other });
    t.equal(
      `${code}${stdout}${stderr.slice(stderr.indexOf(":"))}`,
      `1: tool ${command.replace(/ ben.*/, "")} is a Pro feature: ${no}`,
      command,
    );
  }
  t.notOk(service.calls.includes("add_member"));
});

t.test("what is built from source is Pro, and asks nobody", async (t) => {
  const cwd = t.testdir(PROJECT);
  t.match(await tool(["build"], { cwd }), { code: 0 });
  const { stdout } = await tool(["--version"]);
  t.match(stdout, /^\d+\.\d+\.\d+-pro\n$/);
  t.equal((await tool(["version"])).stdout, stdout);
  const document = { version: stdout.trim(), edition: "pro" };
  t.equal((await tool(["version", "--format", "json"])).stdout, `${JSON.stringify(document)}\n`);
  t.ok(existsSync(cliPath));
});

t.test("settings that need Pro", (t) => {
  const rows: [text: string, paths: readonly string[]][] = [
    ['{ "name": "app" }', []],
    ['{ "alerts": [{}], "actions": [{}] }', ["alerts", "actions"]],
    ['{ "function": { "warm": true, "warm_count": 3, "layers": ["a"] } }', ["function.warm", "function.layers"]],
    ['{ "alerts": [], "actions": null, "function": { "warm": false, "layers": [] } }', []],
    ['{ "stages": { "a": { "function": { "warm": true } } } }', ["stages.a.function.warm"]],
    ['{ "lambda": { "warm": true } }', ["function.warm"]],
    ['{ "environment": { "alerts": "x" }, "tags": { "warm": "true" } }', []],
    ['{ "alerts": [{}]', ["alerts"]],
    ["[]", []],
    ["", []],
  ];
  for (const [text, paths] of rows) {
    const keys = proKeysIn(text);
    t.same(
      keys.map(({ path }) => path),
      paths,
      text,
    );
  }
  const [key] = proKeysIn('{ "lambda": { "warm": true } }');
  t.equal('{ "lambda": { "warm": true } }'.slice(key!.span.start, key!.span.end), '"warm"', "its place");
  t.end();
});

t.test("what TOOL_RELEASE may say", async (t) => {
  const { releaseDefines } = await import(pathToFileURL(join(root, "cli/build/edition.mjs")).href);
  const pro = { TOOL_VERSION: '"0.1.0"', TOOL_EDITION: '"pro"', TOOL_ACCOUNT: "undefined" };
  const account = JSON.stringify(ACCOUNT);
  const rows: [text: string | undefined, expected: object | RegExp][] = [
    [undefined, pro],
    ["", pro],
    ['{"edition":"pro"}', pro],
    ['{"edition":"pro","version":"2.0.0-beta.1"}', { ...pro, TOOL_VERSION: '"2.0.0-beta.1"' }],
    [
      `{"edition":"free","version":"1.2.3","account":${account}}`,
      { TOOL_VERSION: '"1.2.3"', TOOL_EDITION: '"free"', TOOL_ACCOUNT: account },
    ],
    ["{", /^TOOL_RELEASE is not valid JSON$/],
    ["null", /^TOOL_RELEASE is not a JSON object$/],
    ["{}", /no "edition"/],
    ['{"edition":"Pro"}', /no "edition"/],
    ['{"edition":"pro","acount":{}}', /members that nothing reads: acount/],
    ['{"edition":"free"}', /the free edition is made only where people can subscribe/],
    ['{"edition":"pro","version":"1.2.3-pro"}', /"version" that is not 1\.2\.3/],
    ['{"edition":"pro","version":"1.2"}', /"version" that is not 1\.2\.3/],
    ['{"edition":"pro","version":"1.2.3+a"}', /"version" that is not 1\.2\.3/],
    ['{"edition":"pro","account":true}', /an "account" that is not an object/],
    ['{"edition":"pro","account":{"url":"http://a.example","key":"x"}}', /no "account\.url"/],
    ['{"edition":"pro","account":{"url":"https://a.example/","key":"x"}}', /no "account\.url"/],
    ['{"edition":"pro","account":{"url":"https://a.example","key":"AAAA"}}', /no "account\.key"/],
    [`{"edition":"pro","account":{"url":"https://a.example","key":"${KEY}","more":1}}`, /members in "account"/],
  ];
  for (const [text, expected] of rows) {
    if (expected instanceof RegExp)
      t.throws(() => releaseDefines(text, "0.1.0"), { message: expected }, text ?? "unset");
    else t.same(releaseDefines(text, "0.1.0"), expected, text ?? "unset");
  }

  // As the bundler of dist/bin has it, with the entry alone.
  const folder = mkdtempSync(join(tmpdir(), "tool-edition-"));
  t.teardown(() => rmSync(folder, { recursive: true, force: true }));
  const versions: [text: string | undefined, version: string][] = [
    [undefined, "0.1.0-pro"],
    ['{"edition":"pro","version":"2.0.0-beta.1"}', "2.0.0-beta.1-pro"],
    [`{"edition":"pro","version":"1.2.3","account":${account}}`, "1.2.3-pro"],
    [`{"edition":"free","version":"1.2.3","account":${account}}`, "1.2.3"],
  ];
  for (const [i, [text, version]] of versions.entries()) {
    const path = join(folder, `${i}.cjs`);
    const define = releaseDefines(text, "0.1.0");
    await build({
      entryPoints: [join(root, "cli/cli.ts")],
      outfile: path,
      bundle: true,
      platform: "node",
      format: "cjs",
      minifySyntax: true,
      external: ["./main.ts"],
      define,
    });
    t.match(await tool(["--version"], { path }), { code: 0, stdout: `${version}\n` }, version);
  }
});
