// The log service from the command line, as people run it: the real command, the real store, loopback.

import { generateKeyPairSync } from "node:crypto";
import { chmodSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from "node:fs";
import { mkdir, writeFile } from "node:fs/promises";
import { request as httpsRequest } from "node:https";
import { connect, createServer as createNetServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import t, { type Test } from "tap";
import { openRecords } from "../../logservice/records/open.ts";
import { addTeam, listTeams } from "../../logservice/records/teams.ts";
import { anyPort } from "../../runtime/port.ts";
import { rpcClient } from "../../schema/rpc-client.ts";
import { isRunning, listening, type Running, root, spawnTool, tool } from "../support/cli.ts";
import { SCOPES, sendTo } from "../support/service.ts";
import { slow } from "../support/slow.ts";
import { typeInto } from "../support/terminal.ts";
import { until } from "../support/until.ts";

const CERT = join(root, "test/fixtures/localhost.cert.pem");

function folderOf(t: Test): string {
  const folder = mkdtempSync(join(tmpdir(), "tool-service-"));
  t.teardown(() => rmSync(folder, { recursive: true, force: true, maxRetries: 5 }));
  return folder;
}

async function initIn(folder: string): Promise<string> {
  const { stdout } = await tool(["service", "init", "--data", "data", "--format", "json"], { cwd: folder });
  return JSON.parse(stdout).token;
}

interface Served {
  readonly running: Running;
  readonly url: string;
}

async function serveIn(t: Test, folder: string, more: readonly string[] = [], port = 0): Promise<Served> {
  const address = `127.0.0.1:${port}`;
  const running = spawnTool(["service", "start", "--data", "data", "--address", address, ...more], { cwd: folder });
  t.teardown(async () => {
    running.kill("SIGKILL");
    await running.ended;
  });
  return { running, url: await listening(running) };
}

t.test("init makes the directory and one token", async (t) => {
  const folder = folderOf(t);
  const first = await tool(["service", "init", "--data", "data"], { cwd: folder });
  t.equal(first.code, 0);
  t.match(first.stdout, /^lgs_[0-9A-Za-z]{38}\n$/, "on stdout nothing but the token");
  t.equal(first.stderr, `${folder}/data is ready. The owner's token may do everything, and is shown only once:\n`);
  t.equal(statSync(join(folder, "data")).mode & 0o777, 0o700);
  const second = await tool(["service", "init", "--data", "data"], { cwd: folder });
  t.same([second.code, second.stdout], [1, ""]);
  t.match(second.stderr, /is already the data directory of a log service/);
  const json = await tool(["service", "init", "--data", "other", "--format", "json"], { cwd: folder });
  t.match(JSON.parse(json.stdout), { token: /^lgs_/ });
});

t.test("the first team has the name that was given, typed, or that of nobody", async (t) => {
  const folder = folderOf(t);
  const teamIn = async (data: string) => {
    const records = await openRecords(join(folder, data));
    const teams = (await listTeams(records.db)).map(({ id, name }) => `${id}: ${name}`).join();
    await records.close();
    return teams;
  };
  const init = (data: string, ...flags: string[]) => ["service", "init", "--data", data, ...flags];
  const rows: [data: string, flags: string[], team: string][] = [
    ["plain", [], "default: default"],
    ["named", ["--team", "Night Shift"], "night-shift: Night Shift"],
    ["with an owner", ["--team", " Acme ", "--owner", "ann@example.com"], "acme: Acme"],
  ];
  for (const [data, flags, team] of rows) {
    t.equal((await tool(init(data, ...flags), { cwd: folder })).code, 0);
    t.equal(await teamIn(data), team, data);
  }
  const question = "Name of the first team (default): ";
  for (const [data, answer, team] of [
    ["typed", "Acme", "acme: Acme"],
    ["enter", "", "default: default"],
  ] as const) {
    t.match(await typeInto(t, init(data), [[question, answer]], { cwd: folder }), { code: 0, text: /lgs_\w{38}/ });
    t.equal(await teamIn(data), team, data);
  }
  const again = await typeInto(t, init("typed"), [], { cwd: folder });
  t.match(again, { code: 1, text: /^error: .* is already the data directory of a log service/ }, "nothing is asked");
  const wrong = await tool(init("wrong", "--team", "日本"), { cwd: folder });
  t.equal(wrong.code, 1);
  t.equal(
    wrong.stderr,
    'error: the name of a team needs a letter of a to z or a digit: "日本"\n' +
      "  write it as Acme, or Night Shift: its id is made from the name\n",
  );
  t.match(await tool(init("wrong", "--team", "x".repeat(101)), { cwd: folder }), { stderr: /at most 100 characters/ });
  t.notOk(existsSync(join(folder, "wrong")), "and nothing is made");
});

t.test("flags of records in PostgreSQL that cannot be meant", async (t) => {
  const folder = folderOf(t);
  await writeFile(join(folder, "empty"), "\n");
  const ofAddress = (words: string, flag = "--records") => `error: ${flag}: ${words}\n`;
  const needed = "add --records postgres://user@host/database";
  const address = "postgres://tool@127.0.0.1/logs";
  const rows: readonly (readonly [flags: readonly string[], stderr: string, env?: Record<string, string>])[] = [
    [["--records", "logs"], ofAddress("it is no address such as postgres://user@host/database")],
    [
      ["--records", "postgres://tool:secret@127.0.0.1/logs"],
      ofAddress(
        "the address has a password, which others can see: give it by --records-password FILE, or in TOOL_RECORDS_PASSWORD",
      ),
    ],
    [[], ofAddress("it is no address such as postgres://user@host/database", "TOOL_RECORDS"), { TOOL_RECORDS: "x" }],
    [["--key-file", "k"], `error: --key-file is for records in PostgreSQL, whose address is missing\n  ${needed}\n`],
    [
      ["--records-password", "p"],
      `error: --records-password is for records in PostgreSQL, whose address is missing\n  ${needed}\n`,
    ],
    [
      ["--records", address, "--records-password", "p"],
      "error: --records-password: p cannot be read (ENOENT)\n  name a file that has the password\n",
    ],
    [
      ["--records", address, "--records-password", "empty"],
      "error: --records-password: empty is empty\n  name a file that has the password\n",
    ],
  ];
  for (const [flags, stderr, env = {}] of rows) {
    const ran = await tool(["service", "token", "ls", "--data", "data", ...flags], { cwd: folder, env });
    t.same([ran.code, ran.stdout, ran.stderr], [2, "", stderr], flags.join(" "));
  }
  t.notOk(existsSync(join(folder, "data")), "nothing is made");
});

t.test("a second signal ends the service at once, though a request is under way", async (t) => {
  const folder = folderOf(t);
  const token = await initIn(folder);
  const { running, url } = await serveIn(t, folder);
  const port = Number(new URL(url).port);
  const socket = connect(port, "127.0.0.1").on("error", () => {});
  t.teardown(() => void socket.destroy());
  let answer = "";
  socket.on("data", (chunk) => {
    answer += chunk;
  });
  const head = ["POST /add_events HTTP/1.1", "Host: localhost", `Authorization: Bearer ${token}`];
  socket.write([...head, "Content-Length: 100", "Expect: 100-continue", "\r\n"].join("\r\n"));
  await until("the request, whose body does not come", () => answer.startsWith("HTTP/1.1 100 "));
  running.kill("SIGTERM");
  const refuses = () =>
    new Promise<boolean>((resolve) => {
      const other = connect(port, "127.0.0.1", () => {
        other.destroy();
        resolve(false);
      }).on("error", () => resolve(true));
    });
  await until("the stop, which waits for the request", refuses);
  running.kill("SIGTERM");
  t.match(await running.ended, { code: 130, signal: null }, "a stop that is waited for ends with 0");
});

for (const [umask, options] of [
  [0o000, {}],
  [0o022, slow()],
] as const) {
  t.test(`what the service makes is for its owner only, with the umask ${umask.toString(8)}`, options, async (t) => {
    const before = process.umask(umask);
    t.teardown(() => process.umask(before));
    const folder = folderOf(t);
    const data = join(folder, "data");
    await mkdir(data, { mode: 0o755 });
    const token = await initIn(folder);
    t.same(openTo(data), [], "after init");
    const first = await serveIn(t, folder);
    await fill(first.url, token);
    t.same(openTo(data), [], "while it runs");
    await tool(["service", "backup", "copy", "--data", "data"], { cwd: folder });
    t.same(openTo(join(folder, "copy")), [], "a backup");
    first.running.kill("SIGTERM");
    await first.running.ended;
    t.same(openTo(data), [], "after the end");
    await tool(["service", "token", "ls", "--data", "data"], { cwd: folder });
    await tool(["service", "check", "--data", "data", "--repair"], { cwd: folder });
    t.same(openTo(data), [], "after other commands");

    // As an older version left it.
    for (const path of pathsBelow(data)) chmodSync(path, statSync(path).isDirectory() ? 0o755 : 0o644);
    await writeFile(join(data, "notes.txt"), "not the service's", { mode: 0o644 });
    t.not(openTo(data).length, 0);
    await tool(["service", "backup", "second", "--data", "data"], { cwd: folder });
    t.same(openTo(join(folder, "second")), [], "a backup of such a directory");
    await tool(["service", "restore", "second", "--data", "third"], { cwd: folder });
    t.same(openTo(join(folder, "third")), [], "and what is restored from it");
    await serveIn(t, folder);
    t.same(openTo(data), [join(data, "notes.txt")], "a start tightens the rest");
    t.equal(statSync(data).mode & 0o777, 0o755, "the directory itself was made by somebody else");
  });
}

/** A project with events in the journal and in a segment. */
async function fill(url: string, token: string): Promise<void> {
  const client = rpcClient({ url, token });
  await client.call("add_project", { project: { name: "app" } });
  for (const message of ["one", "two"]) {
    await client.call("add_events", { project_id: "app", events: [{ level: "info", message }] });
  }
  // Makes files of the journal for SQL.
  await client.call("query", { project_id: "app", query: "select count(*) as n from events" });
}

function pathsBelow(folder: string): string[] {
  return readdirSync(folder, { recursive: true, encoding: "utf8" }).map((name) => join(folder, name));
}

/** The files and folders below a folder that others than their owner may use. */
function openTo(folder: string): string[] {
  return pathsBelow(folder).filter((path) => ((statSync(path, { throwIfNoEntry: false })?.mode ?? 0) & 0o077) !== 0);
}

t.test("words that cannot be meant", async (t) => {
  const folder = folderOf(t);
  await initIn(folder);
  await writeFile(join(folder, "no.pem"), "nothing");
  const { privateKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
  await writeFile(join(folder, "other.pem"), privateKey.export({ type: "pkcs8", format: "pem" }));
  const rows: [argv: string[], code: number, stderr: RegExp][] = [
    [
      ["service", "start"],
      2,
      /^error: --data is missing\n {2}write --data and the data directory of the log service\n$/,
    ],
    [
      ["service", "start", "--data", "absent"],
      1,
      /absent is not a data directory of a log service\n {2}tool service init --data absent creates one\n$/,
    ],
    [
      ["service", "start", "--data", "data", "--address", "0.0.0.0:0"],
      2,
      /^error: 0\.0\.0\.0:0 can be reached by other machines, and plain HTTP would show them every token\n/,
    ],
    [
      ["service", "start", "--data", "data", "--public-url", "https://192.0.2.1", "--smtp", "smtp://localhost"],
      1,
      /^error: mails from 192\.0\.2\.1 need a sender, as no address ends in a number\n {2}add --mail-from logs@/,
    ],
    [["service", "start", "--data", "data", "--hsts", "1 year"], 2, /^error: --hsts 1 year is not a time: /],
    [["service", "start", "--data", "data", "--address", "nowhere"], 2, /^error: "nowhere" is not an address\n/],
    [
      ["service", "start", "--data", "data", "--tls-cert", "no.pem"],
      2,
      /^error: TLS needs a certificate and its key\n/,
    ],
    [
      ["service", "start", "--data", "data", "--tls-cert", "no.pem", "--tls-key", "absent.pem"],
      2,
      /^error: cannot read absent\.pem: ENOENT\n/,
    ],
    [
      ["service", "start", "--data", "data", "--tls-cert", "no.pem", "--tls-key", "no.pem"],
      2,
      /^error: no\.pem holds no certificate \(PEM\)\n {2}give --tls-cert the certificate's file\n$/,
    ],
    [
      ["service", "start", "--data", "data", "--tls-cert", CERT, "--tls-key", CERT],
      2,
      /^error: \S+cert\.pem holds no private key \(PEM\)\n {2}give --tls-key the file of the certificate's key\n$/,
    ],
    [
      ["service", "start", "--data", "data", "--tls-cert", CERT, "--tls-key", "other.pem"],
      2,
      /^error: \S+cert\.pem and other\.pem are not a certificate and its key: /,
    ],
    [
      ["service", "token", "make", "--data", "data"],
      2,
      /^error: tool service token has no action "make"\n {2}write add, ls or rm\n$/,
    ],
    [["service", "token", "add", "--data", "data"], 2, /^error: a token needs scopes\n/],
    [
      ["service", "token", "add", "--data", "data", "--scope", "events:eat"],
      2,
      /^error: there is no scope "events:eat"\n/,
    ],
    [
      ["service", "token", "add", "--data", "data", "--scope", "all,events:eat"],
      2,
      /^error: there is no scope "events:eat"\n/,
    ],
    [
      ["service", "token", "add", "--data", "data", "--scope", "all", "--expires", "soon"],
      2,
      /^error: --expires soon is not a time: "soon" is not a duration\n/,
    ],
    [
      ["service", "token", "add", "--data", "data", "--scope", "all", "--expires", "0d"],
      2,
      /^error: --expires 0d is now\n {2}write --expires 30d\n/,
    ],
    [["service", "token", "rm", "--data", "data"], 2, /^error: tool service token rm needs an id\n/],
    [["service", "token", "rm", "tok_absent", "--data", "data"], 1, /^error: there is no such token\n/],
    [["service", "restore", "data", "--data", "data"], 1, /data already exists\n/],
    [["service", "backup", "data", "--data", "data"], 1, /data already exists\n/],
    [["service", "backup", "copy", "--data", "absent"], 1, /absent is not a data directory of a log service\n/],
    [["logs", "--project", "x"], 2, /^error: --project names a project of a log service\n/],
    [["logs", "--service", "localhost:5000"], 2, /^error: "localhost:5000" is not an address of a log service\n/],
    [
      ["logs", "--service", "http://localhost:1", "--project", "x"],
      2,
      /^error: the log service needs a token\n {2}sign in: tool team login --email <address> --url .*\n {2}or set TOOL_LOGS_TOKEN; /,
    ],
  ];
  for (const [argv, code, stderr] of rows) {
    const outcome = await tool(argv, { cwd: folder });
    t.equal(outcome.code, code, argv.join(" "));
    t.match(outcome.stderr, stderr);
    t.equal(outcome.stdout, "");
  }
  // The next thing that is wrong: the address is taken, as the image of a container has it.
  for (const [value, stderr] of [
    ["1", /^error: --hsts 1 year/],
    ["0", /^error: 0\.0\.0\.0:0 can be reached/],
  ] as const) {
    const argv = ["service", "start", "--data", "data", "--address", "0.0.0.0:0", "--hsts", "1 year"];
    t.match(await tool(argv, { cwd: folder, env: { TOOL_PLAIN_HTTP: value } }), { code: 2, stderr }, value);
  }
});

t.test("tokens of the terminal, beside a service that runs", async (t) => {
  const folder = folderOf(t);
  await initIn(folder);
  const { url } = await serveIn(t, folder);
  const added = await tool(
    ["service", "token", "add", "--data", "data", "--scope", "projects:read", "--description", "board"],
    { cwd: folder },
  );
  t.equal(added.code, 0, added.stderr);
  const client = rpcClient({ url, token: added.stdout.trim() });
  t.same(await client.call("get_projects", {}), { projects: [] });
  await t.rejects(client.call("get_tokens", {}), {
    name: "RpcFailure",
    message: "this token lacks the scope tokens:read",
  });
  const list = JSON.parse(
    (await tool(["service", "token", "ls", "--data", "data", "--format", "json"], { cwd: folder })).stdout,
  );
  t.match(list, [
    { description: "owner", scopes: [...SCOPES] },
    { description: "board", scopes: ["projects:read"] },
  ]);
  const text = await tool(["service", "token", "ls", "--data", "data"], { cwd: folder });
  t.match(
    text.stdout,
    /^ID +SCOPES +USED +ENDS +DESCRIPTION\ntok_\w+ +all +\S+ +never +owner\ntok_\w+ +projects:read +\S+ +never +board\n$/,
  );
  t.equal((await tool(["service", "token", "rm", list[1].id, "--data", "data"], { cwd: folder })).code, 0);
  await t.rejects(client.call("get_projects", {}), {
    name: "RpcFailure",
    message: "this token is not known: it may have been removed",
  });
});

t.test("tokens of several teams, with the team of each", async (t) => {
  const folder = folderOf(t);
  await initIn(folder);
  const { db, close } = await openRecords(join(folder, "data"));
  await addTeam(db, { id: "shop", name: "Shop" }, new Date().toISOString());
  await close();
  const add = ["service", "token", "add", "--data", "data", "--scope", "events:read", "--team", "shop"];
  t.equal((await tool(add, { cwd: folder })).code, 0);
  const { stdout } = await tool(["service", "token", "ls", "--data", "data"], { cwd: folder });
  t.match(
    stdout,
    /^ID +TEAM +SCOPES +USED +ENDS +DESCRIPTION\ntok_\w+ +default +all +never +never +owner\ntok_\w+ +shop +events:read +never +never\n$/,
  );
});

t.test("what the commands of the machine say about signing in", async (t) => {
  const folder = folderOf(t);
  const init = ["service", "init", "--owner", "ann@example.com"];
  const made = await tool([...init, "--data", "my data"], { cwd: folder });
  t.match(made, { code: 0, stdout: /^lgs_\w+\nhttp:\/\/127\.0\.0\.1:5000\/sign-in\/link\/\S+\n$/ });
  const elsewhere =
    "The link leads to http://127.0.0.1:5000. If people reach the service elsewhere, --public-url (or TOOL_PUBLIC_URL)\n" +
    "says where; this makes another link:\n" +
    "  tool service sign-in ann@example.com --data 'my data' --public-url https://logs.example.com\n";
  t.ok(made.stderr.endsWith(elsewhere), made.stderr);
  const named = await tool([...init, "--data", "data", "--public-url", "https://logs.example.com"], { cwd: folder });
  t.match(named, { code: 0, stdout: /\nhttps:\/\/logs\.example\.com\/sign-in\/link\/\S+\n$/ });
  t.notMatch(named.stderr, "The link leads to");

  const here = await serveIn(t, folder);
  await until("the address", () => here.running.stdout() !== "");
  t.equal(here.running.stdout(), `The log service and its web UI are at ${here.url}\n`);
  const noMail = "no mail server is set (--smtp): this prints the links for signing in:\n";
  t.equal(here.running.stderr(), `${noMail}  tool service sign-in <email> --data data\n`);
  here.running.kill("SIGTERM");
  await here.running.ended;

  // Nobody listens on port 1.
  const flags = ["--public-url", "https://logs.example.com", "--smtp", "smtp://127.0.0.1:1"];
  const { url, running } = await serveIn(t, folder, flags);
  await until("the address", () => running.stdout() !== "");
  t.equal(running.stdout(), `The log service and its web UI are at https://logs.example.com, and listen on ${url}\n`);
  const port = Number(new URL(url).port);
  const headers = { host: "logs.example.com", "content-type": "application/json" };
  const started = await sendTo(port, { path: "/start_sign_in", headers, body: '{"email":"ann@example.com"}' });
  t.equal(started.status, 200, started.text);
  await until("the failure", () => running.stderr().includes("could not be sent"));
  t.match(
    running.stderr(),
    /^error: a mail could not be sent; trying again: the SMTP server 127\.0\.0\.1:1 could not take the message: .*\n$/,
  );
});

t.test("what was acknowledged is there after kill -9, and a second process is refused", async (t) => {
  const folder = folderOf(t);
  const token = await initIn(folder);
  const first = await serveIn(t, folder);
  const before = rpcClient({ url: first.url, token });
  const { id: project_id } = await before.call("add_project", { project: { name: "app" } });
  let acknowledged = 0;
  const writing = (async () => {
    for (;;) {
      const event = { level: "info" as const, message: "m", id: `e${acknowledged}` };
      await before.call("add_events", { project_id, events: [event] });
      acknowledged++;
    }
  })().catch(() => {});
  await until("some events", () => acknowledged >= 20);
  const other = await tool(["service", "start", "--data", "data", "--address", "127.0.0.1:0"], { cwd: folder });
  t.same([other.code, other.stdout], [1, ""]);
  t.match(other.stderr, new RegExp(`is in use by process ${first.running.pid}`));
  first.running.kill("SIGKILL");
  await first.running.ended;
  await writing;

  const second = await serveIn(t, folder);
  const after = rpcClient({ url: second.url, token });
  const input = { project_id, start: "2020-01-01T00:00:00Z", stop: "2100-01-01T00:00:00Z", limit: 10_000 };
  const ids = (await after.call("search", input)).events.map(({ id }) => id);
  t.equal(new Set(ids).size, ids.length, "none twice");
  for (let i = 0; i < acknowledged; i++) if (!ids.includes(`e${i}`)) t.fail(`e${i} is lost`);
  t.ok(ids.length >= acknowledged);
  second.running.kill("SIGTERM");
  t.equal((await second.running.ended).code, 0);

  const backup = await tool(["service", "backup", "copy", "--data", "data"], { cwd: folder });
  t.same([backup.code, backup.stdout], [0, ""], backup.stderr);
  t.match(backup.stderr, /^\S+\/copy holds a copy of \S+\/data: \d+ event files?, [\d.]+ [kM]?B\n$/);
  rmSync(join(folder, "data"), { recursive: true });
  const back = await tool(["service", "restore", "copy", "--data", "data"], { cwd: folder });
  t.equal(back.code, 0, back.stderr);
  t.match(back.stderr, "everybody is signed out; members, roles and tokens are as they were then");
  t.equal(statSync(join(folder, "data")).mode & 0o777, 0o700);
  const third = await serveIn(t, folder);
  const restored = rpcClient({ url: third.url, token });
  t.equal(
    (await restored.call("get_project_stats", { project_id })).events_total,
    ids.length,
    "with token, project and events",
  );
});

t.test("of several that take over what a killed one left, one gets it", async (t) => {
  const folder = folderOf(t);
  await initIn(folder);
  const killed = await serveIn(t, folder);
  killed.running.kill("SIGKILL");
  await killed.running.ended;
  const lock = join(folder, "data/events/lock");
  t.equal(JSON.parse(readFileSync(lock, "utf8")).pid, killed.running.pid, "its lock is there still");
  // Its number is another process's by now: this one's.
  await writeFile(lock, JSON.stringify({ ...JSON.parse(readFileSync(lock, "utf8")), pid: process.pid }));
  const started = Array.from({ length: 3 }, () =>
    spawnTool(["service", "start", "--data", "data", "--address", "127.0.0.1:0"], { cwd: folder }),
  );
  t.teardown(async () => {
    for (const { kill } of started) kill("SIGKILL");
    await Promise.all(started.map(({ ended }) => ended));
  });
  const isSettled = ({ child, messages }: Running) => child.exitCode !== null || messages.length > 0;
  await until("all of them", () => started.every(isSettled));
  const winners = started.filter(({ messages }) => messages.length > 0);
  t.equal(winners.length, 1);
  const [winner] = winners;
  for (const other of started.filter((one) => one !== winner)) {
    const { code, stderr } = await other.ended;
    t.equal(code, 1);
    t.match(stderr, new RegExp(`is in use by process ${winner!.pid}: stop that one`));
  }
  const over = await tool(["service", "restore", "data", "--data", "data"], { cwd: folder });
  t.match(
    over,
    { code: 1, stderr: /data is the data directory of a service that is running/ },
    "nor is it overwritten",
  );
  winner!.kill("SIGTERM");
  t.equal((await winner!.ended).code, 0);
  const { running } = await serveIn(t, folder);
  running.kill("SIGTERM");
  t.equal((await running.ended).code, 0, "and the next one has it");
});

t.test("TLS", async (t) => {
  const folder = folderOf(t);
  const token = await initIn(folder);
  const fixture = (name: string) => join(root, "test/fixtures", name);
  const { url } = await serveIn(t, folder, [
    "--tls-cert",
    fixture("localhost.cert.pem"),
    "--tls-key",
    fixture("localhost.key.pem"),
  ]);
  t.match(url, /^https:\/\/127\.0\.0\.1:\d+$/);
  const status = await new Promise((resolve, reject) => {
    const options = {
      ca: readFileSync(fixture("localhost.cert.pem")),
      headers: { authorization: `Bearer ${token}` },
      method: "POST",
    };
    httpsRequest(`${url}/get_projects`, options, (response) => {
      response.resume();
      resolve(response.statusCode);
    })
      .once("error", reject)
      .end();
  });
  t.equal(status, 200);
});

t.test("an app's log goes to the service, and is searched and followed there", async (t) => {
  const folder = folderOf(t);
  const token = await initIn(folder);
  const port = await anyPort();
  const { url, running: service } = await serveIn(t, folder, [], port);
  const app = join(folder, "app");
  await mkdir(app);
  await writeFile(join(app, "tool.json"), JSON.stringify({ name: "my-shop", proxy: { command: "node server.mjs" } }));
  await writeFile(
    join(app, "server.mjs"),
    `import { createServer } from "node:http";
     createServer((request, response) => {
       response.statusCode = request.url === "/fail" ? 500 : 200;
       response.end(request.url === "/env" ? JSON.stringify(process.env) : "ok");
     }).listen(process.env.PORT);`,
  );
  const env = { TOOL_LOGS_TOKEN: token, TOOL_LOGS_TOKENS: "mine" };
  const started = spawnTool(["start", "--address", "127.0.0.1:0", "--logs-url", url], { cwd: app, env });
  t.teardown(async () => {
    started.kill("SIGKILL");
    await started.ended;
  });
  const appUrl = await listening(started);
  const appEnv = await (await fetch(`${appUrl}/env`)).text();
  t.notMatch(appEnv, token, "the app does not get the token");
  t.match(JSON.parse(appEnv), { TOOL_LOGS_TOKENS: "mine" }, "and gets all else");
  const logs = (...argv: string[]) => tool(["logs", "--service", url, ...argv], { cwd: app, env });
  const linesFor = async (query: string) => (await logs(query)).stdout.trim().split("\n").filter(Boolean);

  t.equal((await fetch(`${appUrl}/fail`)).status, 500);
  const [line] = await until("the entry in the service", async () => {
    const lines = await linesFor("status >= 500");
    return lines.length > 0 ? lines : undefined;
  });
  t.match(JSON.parse(line!), { level: "error", message: "response", fields: { path: "/fail", status: 500 } });

  const following = spawnTool(["logs", "--service", url, "-f", "path = /followed and message = response"], {
    cwd: app,
    env,
  });
  t.teardown(async () => {
    following.kill("SIGKILL");
    await following.ended;
  });
  await until("the stream", () => following.stderr().includes("reading the project my_shop"));
  await until("an entry as it comes", async () => {
    await (await fetch(`${appUrl}/followed`)).text();
    return following.stdout().includes("/followed");
  });
  t.ok(isRunning(following.pid));

  const all = Number((await logs("--count", "path = /followed and message = response")).stdout);
  t.ok(all > 0);
  const counted = await logs("path = /followed and message = response | count by level, path");
  t.match(JSON.parse(counted.stdout), { level: "info", path: "/followed" }, "the service answers stages");
  t.ok(JSON.parse(counted.stdout).count >= all);
  const newest = (await logs("-n", "2")).stdout
    .trim()
    .split("\n")
    .map((text) => JSON.parse(text).timestamp);
  const every = (await logs()).stdout
    .trim()
    .split("\n")
    .map((text) => JSON.parse(text).timestamp);
  t.same(newest, every.slice(-2), "a limit takes the newest, oldest first");
  t.same(every, [...every].sort(), "all are in the order of time");
  t.match((await logs("--project", "nobody")).stderr, /there is no project "nobody"/);

  // While the service is away entries wait, and are not lost.
  service.kill("SIGKILL");
  await service.ended;
  t.equal((await fetch(`${appUrl}/while-away`)).status, 200, "the app goes on");
  let tries = 0;
  const away = createNetServer((socket) => {
    socket.on("error", () => {});
    socket.once("data", (head) => {
      if (head.toString().startsWith("GET /tail")) tries++;
      socket.destroy();
    });
  });
  await new Promise<void>((resolve) => away.listen(port, "127.0.0.1", resolve));
  await until("some tries to open the stream again, which fail", () => tries >= 2);
  await new Promise((resolve) => away.close(resolve));
  await serveIn(t, folder, [], port);
  await until("what waited", async () => (await linesFor("path = /while-away and message = response")).length === 1);
  const before = following.stdout().split("\n").length;
  await until("the stream, opened again", async () => {
    await (await fetch(`${appUrl}/followed`)).text();
    return following.stdout().split("\n").length > before;
  });
  following.kill("SIGINT");
  const followed = await following.ended;
  t.equal(followed.code, 130);
  t.equal(followed.stderr.split("trying again").length, 2, "the trouble is said once");
  started.kill("SIGTERM");
  t.equal((await started.ended).code, 0);
});

t.test("what keeps alerts from being told is said at the start", async (t) => {
  const folder = folderOf(t);
  const token = await initIn(folder);
  const provider = '{"url": "https://sms.example.com", "from": "a", "json": {"to": "{to}", "text": "{text}"}}';
  await writeFile(join(folder, "provider.json"), provider);
  const first = await serveIn(t, folder, ["--sms", "provider.json"]);
  t.notMatch(first.running.stderr(), "alerts", "nobody wants them yet");
  const client = rpcClient({ url: first.url, token });
  const { id: project_id } = await client.call("add_project", { project: { name: "shop" } });
  const sms = { project_id, type: "sms" as const, name: "phone", sms_numbers: ["+15550100"] };
  await client.call("add_notification", { notification: sms });
  first.running.kill("SIGTERM");
  await first.running.ended;

  const second = await serveIn(t, folder);
  await until("the warning", () => second.running.stderr() !== "");
  t.equal(second.running.stderr(), "warn: alerts cannot be told by sms: no --sms\n");
  second.running.kill("SIGTERM");
  await second.running.ended;
  const open = await serveIn(t, folder, ["--sign-up", "open"]);
  const unconfirmed =
    "warn: 1 number of a notification is not confirmed and told no alerts, since everybody may sign up: the page of each notification sends codes\n";
  await until("the other warning", () => open.running.stderr().includes(unconfirmed));
  open.running.kill("SIGTERM");
  await open.running.ended;
  const start = ["service", "start", "--data", "data", "--address", "127.0.0.1:0"];
  const rows: [more: string[], message: RegExp][] = [
    [["--sms", "absent.json"], /^error: --sms: absent\.json cannot be read \(ENOENT\)\n {2}name a file/],
    [
      ["--pagerduty-url", "pager"],
      /^error: "pager" is not a URL\n {2}write --pagerduty-url https:\/\/events\.pagerduty\.com/,
    ],
  ];
  for (const [more, message] of rows) t.match((await tool([...start, ...more], { cwd: folder })).stderr, message);
  await writeFile(join(folder, "sms.json"), '{"url": "https://sms.example.com", "json": {"to": "{to}"}}');
  const wrong = await tool([...start, "--sms", "sms.json"], { cwd: folder });
  t.match(wrong, {
    code: 1,
    stderr: /^error: the settings of the provider of text messages: json must be a template that has \{text\}/,
  });
});
