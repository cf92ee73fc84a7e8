// The effect of a faulty or hostile service on `tool team`: the real command with a service that answers anything.
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import t, { type Test } from "tap";
import { alignedTable } from "../../../cli/output/aligned-table.ts";
import { type AnswerShape, hasShape } from "../../../schema/rpc-answer-shape.ts";
import { type RpcFailure, rpcClient } from "../../../schema/rpc-client.ts";
import { type Running, spawnTool, tool } from "../../support/cli.ts";
import { until } from "../../support/until.ts";

const AT = "2031-01-01T00:00:00Z";
const TEAM = { id: "acme", name: "Acme", role: "owner", created_at: AT };
const MEMBER = { id: "usr_1", email: "ann@example.com", role: "owner", state: "member", since: AT };
const CI = {
  id: "tok_1",
  name: "ci",
  created_at: AT,
  created_by: "ann@example.com",
  last_used_at: null,
  expires_at: AT,
};
const ACCOUNT = { kind: "command", id: "tok_2", email: MEMBER.email, team_id: "acme", role: "owner", scopes: [] };

/** The answers of a service that works. */
const ANSWERS: Readonly<Record<string, object>> = {
  get_account: { account: { ...ACCOUNT, teams: [TEAM] } },
  get_members: { members: [MEMBER] },
  add_member: { id: "inv_1", role: "member", mailed: false, link: "http://localhost/accept/inv_1", expires_at: AT },
  add_member_link: { link: "http://localhost/sign-in/link/1", expires_at: AT },
  remove_member: { tokens: [] },
  get_ci_tokens: { tokens: [CI] },
  add_ci_token: { id: "tok_3", token: "lgs_ci", expires_at: AT },
  add_team: { id: "night" },
  start_sign_in: { secret: "s", code: "123456", expires_at: AT, interval: 1, mailed: true },
  poll_sign_in: { status: "confirmed", token: "lgs_new", email: MEMBER.email, team_id: "acme", teams: [TEAM] },
};

interface Broken {
  readonly url: string;
  readonly env: Readonly<Record<string, string>>;
  readonly path: string;
}

/** A service with these answers in place of those that work, and a machine that is signed in at it. */
async function startBroken(t: Test, own: Readonly<Record<string, unknown>>): Promise<Broken> {
  const url = await serve(t, (operation, response) => {
    const answer = Object.hasOwn(own, operation) ? own[operation] : ANSWERS[operation];
    response.writeHead(answer === undefined ? 204 : 200, { "content-type": "application/json" });
    response.end(answer === undefined ? undefined : JSON.stringify(answer));
  });
  return { url, ...signedInAt(t, url) };
}

async function serve(t: Test, answer: (operation: string, response: ServerResponse) => void): Promise<string> {
  const server = createServer((request, response) => {
    request.resume().once("end", () => answer(request.url!.slice(1), response));
  });
  await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
  t.teardown(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

function signedInAt(t: Test, url: string): Omit<Broken, "url"> {
  const folder = mkdtempSync(join(tmpdir(), "tool-team-"));
  t.teardown(() => rmSync(folder, { recursive: true, force: true, maxRetries: 5 }));
  mkdirSync(join(folder, "tool"), { mode: 0o700 });
  const path = join(folder, "tool/config.json");
  const entry = { team: "acme", email: MEMBER.email, url, token: "lgs_secret" };
  writeFileSync(path, JSON.stringify({ team: "acme", teams: { acme: entry } }), { mode: 0o600 });
  return { path, env: { XDG_CONFIG_HOME: folder } };
}

const wordsOf = (command: string, url: string) => command.replace("URL", url).split(" ");
const LOGIN = "team login --email ann@example.com --url URL";

t.test("answers that cannot be understood are refused, and change nothing here", async (t) => {
  const { add_member, add_ci_token, poll_sign_in, start_sign_in } = ANSWERS;
  const rows: [command: string, operation: string, answer: unknown][] = [
    [LOGIN, "poll_sign_in", { ...poll_sign_in, team_id: "__proto__" }],
    [LOGIN, "poll_sign_in", { ...poll_sign_in, team_id: "\u00dc" }],
    [LOGIN, "poll_sign_in", { ...poll_sign_in, team_id: "../../x" }],
    [LOGIN, "poll_sign_in", { ...poll_sign_in, team_id: "a".repeat(41) }],
    [LOGIN, "poll_sign_in", { status: "confirmed", token: "lgs_new", email: MEMBER.email }],
    [LOGIN, "poll_sign_in", { ...poll_sign_in, token: "lgs_new\r\nX-Team: shop" }],
    [LOGIN, "poll_sign_in", { ...poll_sign_in, email: "ann\u001b[2J@example.com" }],
    [LOGIN, "poll_sign_in", { ...poll_sign_in, email: null }],
    [LOGIN, "poll_sign_in", { ...poll_sign_in, teams: null }],
    [LOGIN, "poll_sign_in", { ...poll_sign_in, teams: [{ ...TEAM, id: "$(id)" }] }],
    [LOGIN, "poll_sign_in", null],
    [LOGIN, "start_sign_in", { ...start_sign_in, code: "12\u001b[2J" }],
    [LOGIN, "start_sign_in", { ...start_sign_in, expires_at: {} }],
    [LOGIN, "start_sign_in", undefined],
    ["team members ls", "get_members", null],
    ["team members ls", "get_members", undefined],
    ["team members ls", "get_members", { members: [null] }],
    ["team members ls", "get_members", { members: [{ ...MEMBER, since: 1 }] }],
    ["team members add bob@example.com", "add_member", null],
    ["team members add bob@example.com", "add_member", { ...add_member, expires_at: 1 }],
    ["team members add bob@example.com", "add_member", { ...add_member, link: {} }],
    ["team members link bob@example.com", "add_member_link", { link: 1, expires_at: AT }],
    ["team members rm bob@example.com", "remove_member", null],
    ["team members rm bob@example.com", "remove_member", { tokens: [1] }],
    ["team ci", "add_ci_token", { ...add_ci_token, expires_at: 1 }],
    ["team ci", "add_ci_token", { ...add_ci_token, token: "lgs\u001b[2J" }],
    ["team ci ls", "get_ci_tokens", { tokens: [{ ...CI, last_used_at: 5 }] }],
    ["team ci ls", "get_ci_tokens", [null]],
    ["team add Night", "add_team", { id: {} }],
    ["team add Night", "add_team", { id: "\u001b[2Jnight" }],
  ];
  for (const [command, operation, answer] of rows) {
    const title = `${command}: ${JSON.stringify(answer)}`;
    const { url, env, path } = await startBroken(t, { [operation]: answer });
    const before = readFileSync(path, "utf8");
    const ran = await tool(wordsOf(command, url), { env });
    t.match(ran, { code: 1, stdout: "" }, title);
    const said = `error: the service at ${url} gave an answer that this version does not understand\n  `;
    t.ok(ran.stderr.includes(said), `${title}\n${ran.stderr}`);
    t.notMatch(ran.stderr, /\u001b|internal error|lgs/, title);
    t.equal(readFileSync(path, "utf8"), before, title);
  }
});

t.test("an answer without an end is given up", async (t) => {
  for (const status of [200, 500]) {
    let isClosed = false;
    const url = await serve(t, (_, response) => {
      response.writeHead(status, { "content-type": "application/json" });
      response.once("close", () => {
        isClosed = true;
      });
      const part = Buffer.alloc(1024 * 1024, " ");
      const send = () => {
        while (!isClosed && response.write(part));
        if (!isClosed) response.once("drain", send);
      };
      send();
    });
    const ran = await tool(["team", "members", "ls"], { env: signedInAt(t, url).env });
    const said = `error: ${url} does not answer as a log service: the answer has more than 32 MB\n  check the address;`;
    t.match(ran, { code: 1, stdout: "" });
    t.ok(ran.stderr.includes(said), `${status}: ${ran.stderr}`);
    await until("its end", () => isClosed);
  }
});

t.test("what is longer than an answer may be is not read", async (t) => {
  const rows: readonly (readonly [bytes: number, status: number, expected: object])[] = [
    [2048, 200, { answer: {} }],
    [2049, 200, { status: 200, type: "unknown", message: /^the answer has more than / }],
    [Number.POSITIVE_INFINITY, 200, { status: 200, type: "unknown", isCancelled: true }],
    [Number.POSITIVE_INFINITY, 502, { status: 502, type: "unknown", isCancelled: true }],
  ];
  for (const [bytes, status, expected] of rows) {
    let sent = 0;
    let isCancelled = false;
    const body = () =>
      new ReadableStream<Uint8Array>({
        pull(controller) {
          if (sent >= bytes) return controller.close();
          const part = Buffer.alloc(Math.min(512, bytes - sent), " ");
          if (sent === 0) part.write("{}");
          sent += part.length;
          controller.enqueue(part);
        },
        cancel() {
          isCancelled = true;
        },
      });
    const fetch = async () => new Response(body(), { status });
    const client = rpcClient({ url: "http://localhost", maxAnswerBytes: 2048, fetch });
    const ask = { call: () => client.call("get_projects", {}), ingest: () => client.ingest("shop", "{}") };
    for (const [name, run] of Object.entries(ask)) {
      sent = 0;
      isCancelled = false;
      const outcome = await run().then(
        (answer) => ({ answer }),
        ({ status, type, message }: RpcFailure) => ({ status, type, message, isCancelled }),
      );
      t.match(outcome, expected, `${name}: ${bytes} bytes, ${status}`);
      t.ok(sent <= 4096, `${sent} bytes`);
    }
  }
});

t.test("a person of no team, who may be invited already", async (t) => {
  const answer = { status: "confirmed", email: "bob@example.com", teams: [] };
  const { url, env } = await startBroken(t, { poll_sign_in: answer });
  const { code, stderr } = await tool(wordsOf(LOGIN, url), { env });
  t.equal(code, 1);
  const lines = [
    `error: bob@example.com is signed in, but in no team of ${url}`,
    "  if you are invited, accept it by the link of that mail, or name the team:",
    `  tool team login --email bob@example.com --team TEAM --url ${url}`,
    "  else somebody has to invite you: tool team members add bob@example.com",
    "  or add a team on the page that the link opened",
  ];
  t.strictSame(stderr.trimEnd().split("\n").slice(-5), lines);
});

t.test("what may have been done all the same is named", async (t) => {
  const rows: [command: string, operation: string, hint: RegExp][] = [
    ["team ci", "add_ci_token", /\n {2}a token may have been made: tool team ci ls lists it/],
    ["team members rm bob@example.com", "remove_member", /\n {2}it may be done all the same: tool team members ls/],
    ["team add Night", "add_team", /\n {2}the team may be there: tool team login --email ann@example.com --url http/],
  ];
  for (const [command, operation, hint] of rows) {
    const { env } = await startBroken(t, { [operation]: null });
    t.match((await tool(command.split(" "), { env })).stderr, hint, command);
  }
});

t.test("what a service says reaches the terminal as visible characters", async (t) => {
  const bad = "\u001b[2J\u0007\u202e\n!";
  const { add_member, add_ci_token, poll_sign_in } = ANSWERS;
  const rows: [command: string, operation: string, answer: object][] = [
    [LOGIN, "poll_sign_in", { ...poll_sign_in, teams: [{ ...TEAM, name: bad }] }],
    ["team", "get_account", { account: { ...ACCOUNT, kind: bad, role: bad, teams: [{ ...TEAM, name: bad }] } }],
    ["team members ls", "get_members", { members: [{ ...MEMBER, email: bad, role: bad, since: bad }] }],
    ["team members add bob@example.com", "add_member", { ...add_member, role: bad, link: bad, expires_at: bad }],
    ["team members link bob@example.com", "add_member_link", { link: bad, expires_at: bad }],
    ["team members rm bob@example.com", "remove_member", { tokens: [bad] }],
    ["team ci", "add_ci_token", { ...add_ci_token, id: bad, expires_at: bad }],
    ["team ci ls", "get_ci_tokens", { tokens: [{ ...CI, id: bad, name: bad, created_by: bad, expires_at: bad }] }],
  ];
  for (const [command, operation, answer] of rows) {
    const { url, env } = await startBroken(t, { [operation]: answer });
    const ran = await tool(wordsOf(command, url), { env });
    t.equal(ran.code, 0, `${command}: ${ran.stderr}`);
    t.match(ran.stdout + ran.stderr, "\u241b[2J", command);
    t.notMatch(ran.stdout + ran.stderr, /[\u001b\u0007\u202e]/, command);
  }
});

t.test("status of a team whose service answers nonsense, beside others", async (t) => {
  const { env } = await startBroken(t, { get_account: null });
  const ran = await tool(["team"], { env });
  t.match(ran, { code: 0, stdout: /acme +no answer/, stderr: /does not understand\n {2}check the address/ });
});

/**
 * Makes the garbage collector take at once what nobody holds, as it does sooner or later. At most half of the time: on a busy
 * machine nothing else would be done.
 */
const COLLECT = `require("v8").setFlagsFromString("--expose-gc");
const gc = require("vm").runInNewContext("gc");
let rest = 0;
setInterval(() => {
  const begin = performance.now();
  if (begin < rest) return;
  gc();
  process.send?.("collected");
  rest = 2 * performance.now() - begin;
}, 50).unref();`;

t.test("a body that stalls after its headers", async (t) => {
  let requests = 0;
  const url = await serve(t, (_, response) => {
    requests++;
    response.writeHead(200, { "content-type": "application/json" });
    response.write('{"account":');
  });
  const { env } = signedInAt(t, url);
  const collect = join(t.testdir({ "collect.cjs": COLLECT }), "collect.cjs");
  const options = { env: { ...env, NODE_OPTIONS: `--require=${collect}` } };

  const status = spawnTool(["team"], options);
  t.teardown(() => status.kill("SIGKILL"));
  // The limit is of time, and the command has to start before: as long as it collects, it runs.
  const collections = (running: Running) => () => running.messages.length;
  await until("the limit", () => status.child.exitCode !== null, collections(status));
  t.match(await status.ended, { code: 0, stdout: /acme +no answer/, stderr: /does not answer: it takes too long/ });

  const before = requests;
  const list = spawnTool(["team", "members", "ls"], options);
  t.teardown(() => list.kill("SIGKILL"));
  await until("its request", () => requests > before, collections(list));
  const collected = list.messages.length;
  await until(
    "the garbage to be collected again and again",
    () => list.messages.length >= collected + 10,
    collections(list),
  );
  list.kill("SIGINT");
  await until("the interruption", () => list.child.exitCode !== null);
  t.match(await list.ended, { code: 130, stderr: "interrupted\n" });
});

t.test("shapes of answers", (t) => {
  const text: AnswerShape = { type: "string" };
  const named: AnswerShape = { type: "object", properties: { name: text, note: text }, required: ["name"] };
  const rows: [value: unknown, shape: AnswerShape, expected: boolean][] = [
    ["", text, true],
    [1, text, false],
    [null, text, false],
    [undefined, text, false],
    [null, { type: ["string", "null"] }, true],
    [1, { type: ["string", "null"] }, false],
    [1, { type: "integer" }, true],
    [1.5, { type: "integer" }, false],
    [1, { type: "number" }, true],
    [false, { type: "boolean" }, true],
    [{ name: "a" }, named, true],
    [{ name: "a", note: null }, named, false],
    [{ name: "a", more: null }, named, true],
    [{ note: "a" }, named, false],
    [[], named, false],
    [null, named, false],
    [Object.create({ name: "a" }), named, false],
    [["a"], { type: "array", items: text }, true],
    [["a", 1], { type: "array", items: text }, false],
    [{}, { type: "array", items: text }, false],
  ];
  for (const [value, shape, expected] of rows) {
    t.equal(hasShape(value, shape), expected, `${JSON.stringify(value)} as ${JSON.stringify(shape)}`);
  }
  t.end();
});

t.test("a long name leaves room for the other columns of a table", (t) => {
  const long = "the build that a person has named after all that it does, in a hurry";
  const table = (columns: number, isTerminal = true) =>
    alignedTable(["ID", "NAME", "ENDS"], [["tok_1", long, "2031-01-01"]], { color: false, isTerminal, columns }).split(
      "\n",
    );
  t.same(table(40), ["ID     NAME                   ENDS", "tok_1  the build that a per…  2031-01-01"]);
  t.match(table(20)[1], /^tok_1 {2}the build t…/, "it says something");
  t.equal(table(40, false)[1], `tok_1  ${long}  2031-01-01`, "whole where nothing is cut");
  t.equal(table(200)[1], `tok_1  ${long}  2031-01-01`);
  t.end();
});
