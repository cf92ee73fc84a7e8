// `tool logs` asks the log service of tool.json, by a token of its very origin, and else what it asked before.
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import t, { type Test } from "tap";
import { startAws } from "../../support/aws/index.ts";
import { shell, spawnTool, tool } from "../../support/cli.ts";
import { startTestService } from "../../support/service.ts";
import { slow } from "../../support/slow.ts";
import { until } from "../../support/until.ts";

const ago = (minutes: number) => new Date(Date.now() - minutes * 60_000).toISOString();

const response = (minutes: number, path: string, stage: string, status = 200) => ({
  timestamp: ago(minutes),
  level: status >= 500 ? "error" : "info",
  message: "response",
  fields: { stage, version: "1", path, status },
});

/** A home in which a person is signed in at an address. */
function signedIn(t: Test, url: string, token: string): Record<string, string> {
  const home = mkdtempSync(join(tmpdir(), "tool-signed-in-"));
  t.teardown(() => rmSync(home, { recursive: true, force: true }));
  mkdirSync(join(home, "tool"), { mode: 0o700 });
  const teams = { acme: { team: "acme", email: "ann@example.com", url, token } };
  writeFileSync(join(home, "tool/config.json"), JSON.stringify({ team: "acme", teams }), { mode: 0o600 });
  return { XDG_CONFIG_HOME: home };
}

const configOf = (service: string, more: object = {}) => ({
  "tool.json": JSON.stringify({ name: "my-shop", logs: { service, ...more } }),
});

/** A service that knows no token, and keeps those that it was sent. */
async function openListener(t: Test) {
  const tokens: (string | undefined)[] = [];
  const server = createServer((request, answer) => {
    tokens.push(request.headers.authorization);
    answer.writeHead(401, { "content-type": "application/json" });
    answer.end('{"type":"unauthorized","message":"this token is not known"}');
  });
  await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
  t.teardown(() => server.close());
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, tokens };
}

const pathsOf = (stdout: string) =>
  stdout
    .split("\n")
    .filter(Boolean)
    .map((line) => JSON.parse(line).fields.path);

t.test("the service, its flags, and CloudWatch by --cloud", async (t) => {
  const [service, aws] = [await startTestService(t), await startAws(t)];
  const { url } = service.running;
  await service.call("add_project", { project: { id: "my_shop", name: "my-shop" } });
  const events = [
    response(50, "/a", "production"),
    response(40, "/b", "staging", 500),
    response(30, "/c", "pr-7"),
    response(20, "/c", "production"),
  ];
  await service.call("add_events", {
    project_id: "my_shop",
    events: events.map((one, id) => ({ id: `${id}`, ...one })),
  });
  const cloud = response(10, "/cloud", "production");
  aws.state
    .service("logs")
    .append("/aws/lambda/my-shop", "2025/06/30/[3]aaaa", [
      { timestamp: Date.now() - 600_000, message: JSON.stringify(cloud) },
    ]);
  const env = { ...aws.env, ...signedIn(t, url, service.owner) };
  const cwd = t.testdir({
    ...configOf(url),
    "one.ndjson": JSON.stringify(response(5, "/file", "production")),
    ".tool": { "development.ndjson": `${JSON.stringify(response(5, "/here", "development"))}\n` },
  });
  const logs = (...argv: string[]) => tool(["logs", ...argv], { cwd, env });
  const { host } = new URL(url);
  const first = `reading the log of my-shop in ${host}, project my_shop\ntool logs development reads that of tool start\n`;

  const rows: [argv: string[], paths: string[]][] = [
    [[], ["/a", "/b", "/c", "/c"]],
    [
      ["-S", "45m", "--until", "25m"],
      ["/b", "/c"],
    ],
    [["-n", "1", "status < 500"], ["/c"]],
  ];
  for (const [argv, paths] of rows) {
    const ran = await logs(...argv);
    t.same([ran.code, pathsOf(ran.stdout), ran.stderr], [0, paths, first], argv.join(" "));
  }
  t.equal((await logs("--count", "stage = pr-7")).stdout, "1\n");
  t.equal((await logs("--format", "csv", "| count by path | sort path | limit 1")).stdout, "path,count\r\n/a,1\r\n");
  const following = spawnTool(["logs", "-f", "--live", "-S", "1h", "-n", "5"], { cwd, env });
  await until("the past", () => following.stdout().includes("/a"));
  await service.call("add_events", {
    project_id: "my_shop",
    events: [{ id: "new", ...response(0, "/new", "staging") }],
  });
  t.equal((await following.ended).code, 0);
  t.same(pathsOf(following.stdout()).at(-1), "/new");

  const other = await logs("--project", "nope");
  t.match(other, {
    code: 1,
    stderr: `reading the log of my-shop in ${host}, project nope\n`,
  });
  t.ok(
    other.stderr.endsWith('there is no project "nope"\n  leave out --project for that of tool.json: my_shop\n'),
    other.stderr,
  );
  t.same(pathsOf((await logs("--project", "my_shop", "-n", "1", "status < 500")).stdout).at(-1), "/new");
  for (const flag of ["--cloud", "--sandbox"]) {
    t.match(await logs("--project", "nope", flag), {
      code: 2,
      stderr: `error: --project names a project of a log service, and ${flag} another log\n  leave one of them out\n`,
    });
  }
  const byCloud = await logs("--cloud", "production");
  t.same([pathsOf(byCloud.stdout)[0], byCloud.code], ["/cloud", 0], byCloud.stderr);
  const cloudLine = "reading the log of my-shop in eu-west-1, and that of tool start\n";
  t.equal(byCloud.stderr, cloudLine);
  t.same(pathsOf((await logs("development")).stdout), ["/here"], "the development log");
  const piped = await shell("cat one.ndjson | tool logs", { cwd, env });
  t.same([pathsOf(piped.stdout), piped.stderr], [["/file"], ""]);
  for (const [flag, value] of [
    ["--file", "one.ndjson"],
    ["--service", url],
  ] as const) {
    t.match(await logs("--cloud", flag, value), { code: 2, stderr: `error: --cloud and ${flag} name two logs\n` });
  }

  const nobody = await tool(["logs", "production"], { cwd, env: aws.env });
  t.same(pathsOf(nobody.stdout), ["/cloud"]);
  const remark = `${url} is not asked, as there is no token for it: tool team login --email <address> --url ${url}\n`;
  t.equal(nobody.stderr, cloudLine + remark);
  for (const [more, reason] of [
    [{}, "a token is not sent to an address that only tool.json names"],
    [{ TOOL_LOGS_URL: "https://logs.example.com" }, "TOOL_LOGS_URL is https://logs.example.com now"],
  ] as const) {
    const { stderr } = await tool(["logs", "production"], {
      cwd,
      env: { ...aws.env, TOOL_LOGS_TOKEN: "lgs_x", ...more },
    });
    const line = `as there is no token for it. To ask it, set TOOL_LOGS_URL=${url} if TOOL_LOGS_TOKEN is for it (${reason})\n`;
    t.ok(stderr.endsWith(line), stderr);
  }
  t.match(await tool(["logs", "--project", "my_shop"], { cwd, env: aws.env }), {
    code: 2,
    stderr: `error: ${remark}`,
  });

  const notYet = t.testdir({ "tool.json": JSON.stringify({ name: "other", logs: { service: url } }) });
  const { code, stderr } = await tool(["logs"], { cwd: notYet, env });
  const advice = "a deploy by an admin of the team adds it: tool deploy\n  or add --cloud, which asks CloudWatch\n";
  t.ok(stderr.endsWith(`there is no project "other"\n  ${advice}`), stderr);
  t.equal(code, 1);
});

t.test("a service that does not answer, and one that refuses", async (t) => {
  const { url } = await openListener(t);
  const nothing = "http://127.0.0.1:2";
  const blocked = "http://127.0.0.1:1";
  for (const [service, line] of [
    [nothing, "is the log service running there?"],
    [blocked, "let the service listen on another port"],
    [url, `tool team login --email ann@example.com --team acme --url ${url}`],
  ] as const) {
    const cwd = t.testdir(configOf(service));
    for (const argv of service === url ? [["-f"]] : [[], ["| count by path"]]) {
      const ran = await tool(["logs", ...argv], { cwd, env: signedIn(t, service, "lgs_acme") });
      t.equal(ran.code, 1);
      t.ok(ran.stderr.endsWith(`\n  ${line}\n  or add --cloud, which asks CloudWatch\n`), ran.stderr);
    }
  }
  const cwd = t.testdir(configOf(nothing));
  t.match(await tool(["logs", "--cloud"], { cwd }), {
    code: 2,
    stderr: /^error: CloudWatch cannot be asked: there are no AWS credentials on this machine\n {2}set CLOUD_PROFILE/,
  });
  const without = t.testdir({ "tool.json": '{"name":"my-shop"}' });
  t.match(await tool(["logs", "--project", "x"], { cwd: without }), {
    code: 2,
    stderr: "error: --project names a project of a log service\n  give --service, too\n",
  });
});

const OWN = { TOOL_LOGS_TOKEN: "lgs_own" };
const ELSEWHERE = "https://logs.example.com";

t.test("no token goes to an address that it is not for", (t) =>
  sendsNoToken(t, [{ ...OWN, TOOL_LOGS_URL: ELSEWHERE }]),
);

t.test("nor one without a word for which it is, or of whoever is signed in elsewhere", slow(), (t) =>
  sendsNoToken(t, [{ ...OWN, TOOL_LOGS_URL: "logs.example.com" }, signedIn(t, ELSEWHERE, "lgs_elsewhere")], [OWN]),
);

/** Runs every command that reads TOOL_LOGS_TOKEN, with variables that hold no token for the address; `ofFile` for one in tool.json. */
async function sendsNoToken(
  t: Test,
  envs: readonly Record<string, string>[],
  ofFile: readonly Record<string, string>[] = [],
): Promise<void> {
  const { url, tokens } = await openListener(t);
  const alerts = { errors: { query: "status >= 500", operator: ">", threshold: 1, notify: "ops" } };
  const notifications = { ops: { type: "email", email_addresses: ["ops@example.com"] } };
  const redirects = { "/old": { location: "/", status: 301 } };
  const more = { alerts, notifications };
  const cwd = t.testdir({
    "tool.json": JSON.stringify({ name: "shop", redirects, logs: { service: url, ...more } }),
    "index.html": "",
  });
  const commands: [argv: string[], named: "argument" | "file"][] = [
    [["logs", "--service", url], "argument"],
    [["alerts", "export", "--service", url], "argument"],
    [["alerts", "test", "--since", "1h", "--service", url], "argument"],
    [["start", "--address", "127.0.0.1:0", "--logs-url", url], "argument"],
    [["logs"], "file"],
    [["alerts", "test", "--since", "1h"], "file"],
    [["validate", "--traffic", "30d"], "file"],
  ];
  for (const [argv, named] of commands) {
    for (const env of named === "file" ? [...envs, ...ofFile] : envs) {
      const ran = await tool(argv, { cwd, env, hasProcess: true });
      t.same(tokens.splice(0), [], `${argv.join(" ")} ${JSON.stringify(env)}`);
      t.match(ran.stderr, named === "file" ? /not asked|not known/ : /sign in: tool team login/, argv.join(" "));
      t.notMatch(ran.stdout + ran.stderr, "lgs_");
    }
    // One that is for it is sent, too: start goes on then.
    if (argv[0] === "start" || ofFile.length === 0) continue;
    // No request of it comes later.
    await tool(argv, { cwd, env: { ...OWN, TOOL_LOGS_URL: `${url}/ingest/shop` }, hasProcess: true });
    t.ok(tokens.length > 0 && tokens.splice(0).every((token) => token === "Bearer lgs_own"), argv.join(" "));
  }
}
