// `tool sandbox` and `--sandbox`, as a person uses them: the real command, its daemon, and apps that answer.

import { spawn } from "node:child_process";
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { CloudWatchLogs } from "@aws-sdk/client-cloudwatch-logs";
import { Ajv } from "ajv";
import t from "tap";
import { livingOwnerOf } from "../../../logservice/events/lock.ts";
import { isRunning, root, shell, tool } from "../../support/cli.ts";
import { copyExample } from "../../support/copy-example.ts";
import { ask, gone, testSandbox } from "../../support/sandbox.ts";
import { slow } from "../../support/slow.ts";
import { until } from "../../support/until.ts";

/** An app that says its version, its stage and the names of its variables. */
const APP = `require("http").createServer((request, response) => {
  if (request.url === "/env") return response.end(JSON.stringify(Object.keys(process.env)));
  if (request.url === "/fail") response.statusCode = 500;
  response.end("one " + process.env.TOOL_STAGE + "\\n");
}).listen(process.env.PORT);
`;

/** Writes an entry as `tool start` does. */
function startLocally(app: string) {
  const fields = { stage: "development", status: 500 };
  const entry = { timestamp: new Date().toISOString(), level: "error", message: "response", fields };
  mkdirSync(join(app, ".tool"), { recursive: true });
  writeFileSync(join(app, ".tool/development.ndjson"), `${JSON.stringify(entry)}\n`);
}

function makeApp(dir: string, config: object, source = APP): string {
  mkdirSync(dir, { recursive: true });
  writeFileSync(join(dir, "app.js"), source);
  writeFileSync(join(dir, "tool.json"), JSON.stringify(config));
  return dir;
}

t.test("from nothing to an app that answers, a change, a rollback, another stage, and away", async (t) => {
  const sandbox = testSandbox(t);
  const app = copyExample(t.testdir());
  const run = (...argv: string[]) => sandbox.tool(app, ...argv);

  const status = await run("sandbox");
  t.equal(status.stdout, "the sandbox is not running\n", status.stderr);
  t.notOk(existsSync(sandbox.folder), "asking makes nothing");

  const first = await run("deploy");
  t.equal(first.code, 0, first.stderr);
  const { port, pid } = sandbox.daemon();
  t.ok(
    [`http://staging.orders.localhost:${port}/\n`, `http://127.0.0.1:${port}/_app/orders/staging/\n`].includes(
      first.stdout,
    ),
    first.stdout,
  );
  t.match(first.stderr, /^staging is deployed in the sandbox: version 1 \(/m);
  t.match(await sandbox.ask("orders", "staging", "/api/orders/42"), { status: 200 });
  t.equal((await fetch(`http://127.0.0.1:${port}/_app/orders/staging/api/orders/42`)).status, 200, "by its path");
  t.match(await run("url"), { code: 0, stdout: first.stdout });

  startLocally(app);
  t.match(await sandbox.ask("orders", "staging", "/api/orders/42?fail=1"), { status: 500 });
  const logs = await until("the entry of the failure", async () => {
    const outcome = await run("logs", "status >= 500");
    return outcome.stdout.includes('"stage":"staging"') ? outcome : undefined;
  });
  t.equal(logs.stderr, "reading the log of orders in the sandbox\n");
  const lines = logs.stdout.trim().split("\n");
  t.same(
    lines.map((line) => JSON.parse(line).fields.stage),
    lines.map(() => "staging"),
    "the log of tool start is another one",
  );

  const same = await run("deploy");
  t.match(same.stderr, /^staging is unchanged in the sandbox: version 1 .*is already active/m);
  const server = readFileSync(join(app, "server.js"), "utf8");
  writeFileSync(join(app, "server.js"), `${server.replace(/Orders<\/h1>/, "Other orders</h1>")}\n`);
  const second = await run("deploy", "--format", "json");
  t.match(JSON.parse(second.stdout), { version: "2", previousVersion: "1", outcome: "updated" });
  const page = async () => /<h1>(.*)<\/h1>/.exec((await sandbox.ask("orders", "staging")).body)?.[1];
  t.equal(await page(), "Other orders", "the change");
  t.match(await run("rollback"), { code: 0 });
  t.equal(await page(), "Orders", "what was before");
  t.match((await run("deploys")).stdout, /staging/);

  writeFileSync(join(app, "server.js"), 'require("express");\n');
  const broken = await run("deploy");
  t.equal(broken.code, 1, "an app that cannot start");
  t.match(
    broken.stderr,
    /^error: version 3 cannot run, so staging stays as it was: the app exited before it listened/m,
  );
  t.match(broken.stderr, /^ {4}Error: Cannot find module 'express'$/m);
  t.equal(await page(), "Orders", "what was before");
  t.match((await run("deploys")).stdout, /^staging {2}3 .* did not start$/m);
  const { apps } = JSON.parse((await run("sandbox", "--format", "json")).stdout);
  t.same(
    apps[0].stages.map(({ stage }: { stage: string }) => stage),
    ["staging"],
  );
  t.match(await run("deploy", "--no-check"), { code: 0 });
  const unavailable = await sandbox.ask("orders", "staging", "/api/orders/42");
  t.equal(unavailable.status, 503);
  t.match(unavailable.body, /the app is not available: the app exited before it listened \(exit code 1\)/);
  t.match(await run("rollback"), { code: 0 }, "away from it");
  t.match(await run("deploy"), { code: 1 }, "deployed again, it does not start");
  t.match(await run("rollback"), {
    code: 1,
    stderr: /^error: the deployment before this one, version 3, did not start when it was last deployed\n/,
  });
  t.match(await run("rollback", "3"), { code: 0, stderr: /^version 3 did not start when it was deployed/m });
  writeFileSync(join(app, "server.js"), server);

  t.match(await run("deploy", "production"), { code: 0 });
  t.match(await sandbox.ask("orders", "production", "/api/orders/42"), { status: 200 });
  const listing = JSON.parse((await run("sandbox", "--format", "json")).stdout);
  t.match(listing, {
    running: true,
    address: `http://127.0.0.1:${port}`,
    pid,
    apps: [{ name: "orders", stages: [{ stage: "production" }, { stage: "staging" }] }],
  });
  t.match((await run("stack", "status")).stdout, /production/);
  t.match(await run("domains", "ls"), {
    code: 0,
    stdout: "the account has no domains\n",
    stderr: /^the sandbox has no registrar: what it says of domains is made up\n/,
  });
  const documents: [schema: string, ...argv: string[]][] = [
    ["url", "url"],
    ["deploy", "deploy"],
    ["deploys", "deploys"],
    ["stack-status", "stack"],
    ["stack-plan", "stack", "plan"],
    ["stack-apply", "stack", "apply"],
  ];
  for (const [name, ...argv] of documents) {
    const schema = JSON.parse(readFileSync(join(root, `cli/output/schemas/${name}.schema.json`), "utf8"));
    const { stdout } = await run(...argv, "--format", "json");
    const ajv = new Ajv({ allErrors: true, allowUnionTypes: true });
    t.ok(ajv.validate(schema, JSON.parse(stdout)), `${name}: ${ajv.errorsText()} in ${stdout}`);
  }
  t.match(await run("prune", "--retain", "0"), { code: 0 });

  const deleted = await run("stack", "delete", "--yes", "--logs");
  t.equal(deleted.code, 0, deleted.stderr);
  t.match(await sandbox.ask("orders", "production"), { status: 404 });
  t.same(JSON.parse((await run("sandbox", "--format", "json")).stdout).apps, []);

  t.match(await run("sandbox", "stop"), { stdout: "the sandbox is stopped\n" });
  t.notOk(isRunning(pid));
  await until("the end of all functions", () => sandbox.functions().length === 0);
});

/** Files of an app, with what tool.json says beside its name. */
interface Deployable {
  readonly app: string;
  readonly config?: object;
}

const answering = (status: number, more = "") =>
  `require("http").createServer((request, response) => { response.statusCode = ${status}; response.end("${status}") })${more}`;

/** Apps that cannot run, with what a deploy says of each. */
const CANNOT_RUN: Readonly<Record<string, Deployable & { readonly says: readonly RegExp[] }>> = {
  "a crash": {
    app: 'console.log("reading"); throw new Error("DATABASE_URL is not set")',
    says: [
      /: the app exited before it listened \(exit code 1\)$/m,
      /^ {4}reading$/m,
      /^ {4}Error: DATABASE_URL is not set$/m,
    ],
  },
  "a dependency that is missing": {
    app: 'require("express")',
    says: [/: the app exited before it listened \(exit code 1\)$/m, /^ {4}Error: Cannot find module 'express'$/m],
  },
  "a port of its own": {
    app: answering(200, '.listen(0, "127.0.0.1")'),
    says: [
      /: the app did not listen on PORT within \d+ ms; it listens on \d+: let it read PORT from its environment$/m,
    ],
  },
  "a variable that breaks the start": {
    app: `JSON.parse(process.env.SETTINGS); ${answering(200, ".listen(process.env.PORT)")}`,
    config: { environment: { SETTINGS: "{" } },
    says: [/: the app exited before it listened \(exit code 1\)$/m, /^ {4}SyntaxError: .*JSON/m],
  },
  "a command that is not there": {
    app: answering(200, ".listen(process.env.PORT)"),
    config: { proxy: { command: "gunicorn-of-nobody app:app" } },
    says: [/: the app exited before it listened \(exit code 127\)$/m, /^ {4}.*gunicorn-of-nobody.*not found$/m],
  },
};

/** Apps that run, whatever they answer at `/`, with the status of their answers. */
const CAN_RUN: Readonly<Record<string, Deployable & { readonly status: number }>> = {
  "500 at /": { app: answering(500, ".listen(process.env.PORT)"), status: 500 },
  "404 at /": { app: answering(404, ".listen(process.env.PORT)"), status: 404 },
  "a slow start": {
    app: `require("child_process").execFileSync("sleep", ["1"]); ${answering(200, ".listen(process.env.PORT)")}`,
    config: { proxy: { listen_timeout: 25 } },
    status: 200,
  },
};

t.test("an app that cannot run is not deployed, and one that runs is, whatever it answers", slow(), async (t) => {
  const sandbox = testSandbox(t);
  const folder = join(t.testdir(), "app");
  const deploy = ({ app, config = {} }: Deployable) => {
    const { proxy = {} } = config as { proxy?: object };
    const backoff = { attempts: 2, min: 1, max: 2 };
    makeApp(folder, { name: "shop", ...config, proxy: { backoff, ...proxy } }, app);
    return sandbox.tool(folder, "deploy");
  };
  const [first, ...others] = Object.entries(CANNOT_RUN);
  const refused = async ([name, row]: [string, (typeof CANNOT_RUN)[string]], state: string) => {
    const { code, stdout, stderr } = await deploy(row);
    t.same([code, stdout], [1, ""], name);
    t.match(stderr, new RegExp(`^error: version \\d+ cannot run, so ${state}: `, "m"), name);
    for (const says of row.says) t.match(stderr, says, name);
  };
  await refused(first!, "staging was not created");
  t.match(await sandbox.tool(folder, "url"), { code: 1, stdout: "" }, "nothing was made");
  t.match(await deploy({ app: APP }), { code: 0 });
  for (const other of others) {
    await refused(other, "staging stays as it was");
    t.match(await sandbox.ask("shop", "staging"), { status: 200, body: "one staging\n" }, other[0]);
  }
  for (const [name, row] of Object.entries(CAN_RUN)) {
    const { code, stderr } = await deploy(row);
    t.equal(code, 0, name) || t.comment(stderr);
    t.match(stderr, new RegExp(`^check: GET / ${row.status} \\(`, "m"), name);
    t.match(await sandbox.ask("shop", "staging"), { status: row.status, body: String(row.status) }, name);
  }
});

t.test("nothing that a command began with gets to a function, but its path", slow(), async (t) => {
  const sandbox = testSandbox(t, { SECRET_OF_THE_SHELL: "x", AWS_PROFILE: "work", NODE_OPTIONS: "--no-deprecation" });
  const app = makeApp(join(t.testdir(), "app"), { name: "quiet", environment: { GREETING: "hello" } });
  t.equal((await sandbox.tool(app, "deploy")).code, 0);
  const names: string[] = JSON.parse((await sandbox.ask("quiet", "staging", "/env")).body);
  t.ok(names.includes("GREETING") && names.includes("PATH"));
  for (const name of ["SECRET_OF_THE_SHELL", "AWS_PROFILE", "NODE_OPTIONS", "HOME", "XDG_STATE_HOME", "TOOL_SANDBOX"]) {
    t.notOk(names.includes(name), name);
  }
});

t.test("TOOL_SANDBOX and --sandbox choose it; neither asks an account", slow(), async (t) => {
  const sandbox = testSandbox(t);
  const app = makeApp(join(t.testdir(), "app"), { name: "chosen", profile: "nobody-has-this" });
  const run = (value: string, ...argv: string[]) =>
    tool(["-C", app, ...argv], { env: { ...sandbox.env, TOOL_SANDBOX: value } });
  t.equal((await run("", "deploy", "--sandbox")).code, 0);
  t.equal((await run("true", "url")).code, 0);
  t.match((await run("0", "url")).stderr, /nobody-has-this/, "the cloud is meant");
  const wrong = await run("maybe", "url");
  t.equal(wrong.code, 2);
  t.equal(
    wrong.stderr,
    'error: TOOL_SANDBOX is "maybe", which is neither yes nor no\n  write TOOL_SANDBOX=1 for the sandbox on this machine, or unset it for the cloud\n',
  );
  const both = await run("", "logs", "--sandbox", "--file", "x");
  t.match(both.stderr, /--sandbox and --file name two logs/);
});

t.test("a name belongs to one folder, until that is gone or its app is removed", slow(), async (t) => {
  const sandbox = testSandbox(t);
  const dir = t.testdir();
  const [one, two] = ["one", "two"].map((name) => makeApp(join(dir, name), { name: "shared" })) as [string, string];
  t.equal((await sandbox.tool(one, "deploy")).code, 0);
  for (const argv of [["deploy"], ["url"], ["stack", "delete", "--yes"]]) {
    const refused = await sandbox.tool(two, ...argv);
    t.equal(refused.code, 1, argv.join(" "));
    t.match(refused.stderr, `another app of the name "shared": it is deployed from ${one}, and this is ${two}`);
  }
  renameSync(one, join(dir, "moved"));
  t.equal((await sandbox.tool(join(dir, "moved"), "deploy")).code, 0, "a folder may move");
  t.equal((await sandbox.tool(join(dir, "moved"), "stack", "delete", "--yes")).code, 0);
  t.equal((await sandbox.tool(two, "deploy")).code, 0, "a name that nothing has is free");
});

t.test("two stages of one app at once, in the first deploy of both", slow(), async (t) => {
  const sandbox = testSandbox(t);
  const app = makeApp(join(t.testdir(), "app"), { name: "twice" });
  const outcomes = await Promise.all(["staging", "production"].map((stage) => sandbox.tool(app, "deploy", stage)));
  for (const { code, stderr } of outcomes) t.equal(code, 0, stderr);
  t.equal((await sandbox.ask("twice", "production")).body, "one production\n");
  t.equal((await sandbox.ask("twice", "staging")).body, "one staging\n");
});

t.test("commands at once share one daemon, and each app is there", slow(), async (t) => {
  const sandbox = testSandbox(t);
  const dir = t.testdir();
  const apps = ["first", "second", "third"].map((name) => makeApp(join(dir, name), { name }));
  const outcomes = await Promise.all(apps.map((app) => sandbox.tool(app, "deploy")));
  t.same(
    outcomes.map(({ code, stderr }) => [code, code === 0 ? "" : stderr]),
    outcomes.map(() => [0, ""]),
  );
  const { apps: listing } = JSON.parse((await tool(["sandbox", "--format", "json"], { env: sandbox.env })).stdout);
  t.same(
    listing.map(({ name }: { name: string }) => name),
    ["first", "second", "third"],
  );
});

t.test("what is deployed survives the end of the daemon, of whatever kind", async (t) => {
  const sandbox = testSandbox(t);
  const app = makeApp(join(t.testdir(), "app"), { name: "lasting" });
  t.equal((await sandbox.tool(app, "deploy")).code, 0);
  t.equal((await sandbox.ask("lasting", "staging")).body, "one staging\n");
  const before = sandbox.daemon();
  process.kill(before.pid, "SIGKILL");
  await gone(before.pid);
  await until("the end of its functions", () => sandbox.functions().length === 0);
  t.equal((await sandbox.tool(app, "url")).code, 0, "the next command starts it");
  t.not(sandbox.daemon().pid, before.pid);
  t.equal(sandbox.daemon().port, before.port, "at the same port");
  t.equal((await sandbox.ask("lasting", "staging")).body, "one staging\n");
  t.match((await sandbox.tool(app, "deploy")).stderr, /unchanged in the sandbox: version 1 /);

  await sandbox.tool(app, "sandbox", "stop");
  const other = createServer((socket) => void socket.destroy());
  // A sandbox of another test may have taken it by now.
  const taken = new Promise((done) => other.once("listening", done).once("error", done));
  other.listen(before.port, "127.0.0.1");
  t.teardown(() => new Promise((done) => other.close(done)));
  await taken;
  const moved = await sandbox.tool(app, "url");
  t.match(moved.stderr, `port ${before.port} is taken: the sandbox is at port ${sandbox.daemon().port} from now on\n`);
  t.equal((await sandbox.ask("lasting", "staging")).body, "one staging\n");
});

const damages: readonly [name: string, damage: (path: string) => void][] = [
  ["another byte", (path) => writeFileSync(path, Buffer.alloc(statSync(path).size))],
  ["no file", (path) => rmSync(path)],
];

t.test("a deploy of a version whose stored code is damaged uploads it again, and says so", async (t) => {
  const sandbox = testSandbox(t);
  const app = makeApp(join(t.testdir(), "app"), { name: "mended" });
  t.equal((await sandbox.tool(app, "deploy")).code, 0);
  const blobs = join(sandbox.folder, "state/blobs");
  for (const [name, damage] of damages) {
    for (const blob of readdirSync(blobs)) damage(join(blobs, blob));
    const again = await sandbox.tool(app, "deploy");
    t.equal(again.code, 0, again.stderr);
    t.match(again.stderr, /^staging is deployed in the sandbox: version 1\b/m, name);
    t.match(again.stderr, /^the stored code of version 1 was damaged, and was uploaded again$/m, name);
    t.equal((await sandbox.ask("mended", "staging")).body, "one staging\n", name);
    t.match((await sandbox.tool(app, "deploy")).stderr, /unchanged in the sandbox: version 1 /, name);
  }
});

t.test("the document of a deploy has the warnings of its build", async (t) => {
  const sandbox = testSandbox(t);
  const app = makeApp(join(t.testdir(), "app"), { name: "warned" });
  writeFileSync(join(app, "data.db"), "");
  writeFileSync(
    join(app, "package.json"),
    '{ "dependencies": { "express": "5" }, "scripts": { "start": "node app.js" } }',
  );
  const deployed = await sandbox.tool(app, "deploy", "--format", "json");
  const { remarks } = JSON.parse(deployed.stdout);
  t.match(remarks, [
    /^package\.json depends on express, .*: npm install/,
    /^data\.db is deployed with .*: keep data in/,
  ]);
  t.equal(remarks.length, 2, deployed.stderr);
  for (const part of ["express", "data.db"]) t.match(deployed.stderr, new RegExp(`^warning: .*${part}`, "m"), part);
});

t.test("nobody else gets in", async (t) => {
  const sandbox = testSandbox(t);
  const app = makeApp(join(t.testdir(), "app"), { name: "closed" });
  t.equal((await sandbox.tool(app, "deploy")).code, 0);
  const { port } = sandbox.daemon();
  const mode = (path: string) => (statSync(path).mode & 0o777).toString(8);
  t.equal(mode(sandbox.folder), "700");
  for (const name of ["access.json", "daemon.log"]) t.equal(mode(join(sandbox.folder, name)), "600", name);

  const { accessKeyId, secretAccessKey } = sandbox.access();
  const logs = (credentials: object, endpoint = `http://127.0.0.1:${port}`) =>
    new CloudWatchLogs({
      endpoint,
      region: "us-west-2",
      credentials: { accessKeyId, secretAccessKey, ...credentials },
      maxAttempts: 1,
    }).describeLogGroups({});
  t.equal((await logs({})).$metadata.httpStatusCode, 200, "the sandbox's own key");
  await t.rejects(logs({ secretAccessKey: "wrong" }), { name: "SignatureDoesNotMatch" });
  await t.rejects(logs({ accessKeyId: "AKIAOTHER" }), { name: "InvalidClientTokenId" });

  const rebound = await ask(port, "evil.example", "/");
  t.equal(rebound.status, 403);
  t.notMatch(rebound.body, /closed|staging|sandbox/, "a foreign name learns nothing");
  const signed = {
    authorization: `AWS4-HMAC-SHA256 Credential=${accessKeyId}/20261123/us-west-2/logs/aws4_request, SignedHeaders=host, Signature=${"0".repeat(64)}`,
  };
  t.equal((await ask(port, "evil.example", "/", signed)).status, 403);
  t.equal((await ask(port, "127.0.0.1", "/", signed)).status, 403, "a signature that is none");
  const front = await ask(port, "127.0.0.1", "/");
  t.equal(front.headers.server, "tool-sandbox");
  t.match(front.body, /closed/);
});

t.test("it ends by itself when nobody uses it", slow(), async (t) => {
  const sandbox = testSandbox(t, { TOOL_SANDBOX_IDLE_MS: "700" });
  t.match(
    (await tool(["sandbox", "start"], { env: sandbox.env })).stdout,
    /^the sandbox is at http:\/\/127\.0\.0\.1:\d+\n$/,
  );
  await gone(sandbox.daemon().pid);
  t.match((await tool(["sandbox", "status"], { env: sandbox.env })).stdout, /^the sandbox is not running; what was/);
});

t.test("reset asks, and removes all of it", slow(), async (t) => {
  const sandbox = testSandbox(t);
  const app = makeApp(join(t.testdir(), "app"), { name: "gone" });
  t.equal((await sandbox.tool(app, "deploy")).code, 0);
  const { pid } = sandbox.daemon();
  const result = await sandbox.tool(app, "sandbox", "reset");
  t.equal(result.code, 2);
  t.match(result.stderr, "there is no terminal to confirm it\n  write --yes to agree");
  t.ok(isRunning(pid));
  t.equal((await sandbox.tool(app, "sandbox", "reset", "--yes")).stdout, "the sandbox is empty\n");
  t.notOk(isRunning(pid));
  t.notOk(existsSync(sandbox.folder));
  t.equal((await sandbox.tool(app, "sandbox", "mail")).stdout, "no alert has sent anything yet\n");
});

t.test("a damaged lock leads to no other process", async (t) => {
  const sandbox = testSandbox(t);
  mkdirSync(sandbox.folder, { recursive: true });
  const lock = join(sandbox.folder, "lock");
  for (const text of [
    '{"pid":-1,"start":null}',
    '{"pid":0}',
    '{"pid":1}',
    '{"pid":1.5}',
    '{"pid":"2"}',
    "null",
    "[]",
    "{",
  ]) {
    writeFileSync(lock, text);
    t.equal(await livingOwnerOf(sandbox.folder), undefined, text);
  }
  // The owner lives and is no daemon.
  const other = spawn("sleep", ["60"]);
  t.teardown(() => other.kill("SIGKILL"));
  const boot = readFileSync("/proc/sys/kernel/random/boot_id", "utf8").trim();
  const stat = readFileSync(`/proc/${other.pid}/stat`, "utf8");
  const start = `${boot}/${stat.slice(stat.lastIndexOf(")") + 2).split(" ")[19]}`;
  writeFileSync(lock, JSON.stringify({ pid: other.pid, start }));
  t.equal(await livingOwnerOf(sandbox.folder), other.pid);
  t.equal((await tool(["sandbox", "stop"], { env: sandbox.env })).stdout, "the sandbox was not running\n");
  t.ok(isRunning(other.pid!));
});

t.test("commands name what to run with the flag that they were given", slow(), async (t) => {
  const sandbox = testSandbox(t, { TOOL_SANDBOX: "" });
  const app = makeApp(join(t.testdir(), "app"), { name: "hinted" });
  const url = await sandbox.tool(app, "url", "--sandbox");
  t.match(url.stderr, "\n  tool deploy --sandbox staging deploys it\n");
  const isNotThere = "hinted is not deployed in the sandbox\n  tool deploy --sandbox deploys it\n";
  t.match(await sandbox.tool(app, "logs", "--sandbox"), { code: 1, stdout: "", stderr: isNotThere });
  startLocally(app);
  t.match(await sandbox.tool(app, "logs", "--sandbox"), { code: 1, stdout: "", stderr: isNotThere });
  const piped = await shell("echo piped | tool logs --sandbox", { cwd: app, env: sandbox.env });
  t.match(piped, { code: 1, stdout: "", stderr: isNotThere }, "nor what is piped in");
  const local = await tool(["-C", app, "logs"], { env: { ...sandbox.env, TOOL_SANDBOX: "1" } });
  t.equal(local.code, 0, "by the variable it is all there is") || t.comment(local.stderr);
  t.match(local, { stdout: /"stage":"development"/, stderr: /^reading .tool\/development.ndjson/ });
  rmSync(join(app, "tool.json"));
  t.match(await sandbox.tool(app, "logs", "--sandbox"), { stdout: "", stderr: /tool.json/ });
  writeFileSync(join(app, "tool.json"), JSON.stringify({ name: "hinted", regions: ["eu-west-1"] }));
  t.equal((await sandbox.tool(app, "deploy", "--sandbox")).code, 0);
  writeFileSync(join(app, "tool.json"), JSON.stringify({ name: "hinted", regions: ["us-east-1"] }));
  t.equal((await sandbox.tool(app, "url", "--sandbox")).code, 0, "a region is no other app");
});

t.test("what keeps it from starting is said", slow(), async (t) => {
  const sandbox = testSandbox(t);
  const start = () => tool(["sandbox", "start"], { env: sandbox.env });
  t.equal((await start()).code, 0);
  await tool(["sandbox", "stop"], { env: sandbox.env });
  const journal = join(sandbox.folder, "state/journal");
  writeFileSync(journal, "no journal");
  const failed = await start();
  t.equal(failed.code, 1);
  t.match(failed.stderr, /^error: the sandbox cannot start: .*journal does not begin as a sandbox's state/);
  rmSync(journal);
  rmSync(join(sandbox.folder, "lock"), { force: true });
  mkdirSync(join(sandbox.folder, "lock"));
  t.match(
    (await start()).stderr,
    /^error: the sandbox cannot start: .*lock is not a file: move the folder away, a start makes the file$/m,
  );
});

t.test("one that does not answer is said, and stopped", slow(), async (t) => {
  const sandbox = testSandbox(t);
  t.equal((await tool(["sandbox", "start"], { env: sandbox.env })).code, 0);
  const { pid } = sandbox.daemon();
  process.kill(pid, "SIGSTOP");
  const failed = await tool(["sandbox", "start"], { env: sandbox.env });
  t.match(failed.stderr, /^error: the sandbox runs and does not answer\n {2}tool sandbox stop ends it; its log is /);
  t.equal((await tool(["sandbox", "stop"], { env: sandbox.env })).stdout, "the sandbox is stopped\n");
  t.notOk(isRunning(pid));
});

t.test("the daemon holds no file that a shell has open", { skip: process.platform !== "linux" }, async (t) => {
  const sandbox = testSandbox(t);
  const lock = join(sandbox.stateHome, "lock");
  const open = [3, 9, 16, 18, 200].map((descriptor) => `${descriptor}<>${lock}`).join(" ");
  const started = await shell(`exec ${open}; tool sandbox start`, { env: sandbox.env });
  t.equal(started.code, 0, started.stderr);
  const files = `/proc/${sandbox.daemon().pid}/fd`;
  const links = readdirSync(files).map((descriptor) => readlinkSync(join(files, descriptor)));
  t.ok(links.length > 3);
  t.notOk(links.includes(lock), links.join("\n"));
});

t.test("a daemon that cannot run says why", async (t) => {
  const sandbox = testSandbox(t);
  mkdirSync(join(sandbox.stateHome, "tool"), { recursive: true });
  writeFileSync(join(sandbox.stateHome, "tool/sandbox"), "a file");
  const failed = await tool(["sandbox", "start"], { env: sandbox.env });
  t.equal(failed.code, 1);
  t.match(failed.stderr, /^error: the sandbox's folder .* cannot be written: /);
  rmSync(join(sandbox.stateHome, "tool/sandbox"));
  t.same(readdirSync(join(sandbox.stateHome, "tool")), []);
});
