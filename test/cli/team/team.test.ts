// `tool team`: the real command with the real service in this process.
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer, request as httpRequest, type IncomingHttpHeaders, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import t, { type Test } from "tap";
import { linkOf } from "../../../logservice/account/links.ts";
import { type Outcome, type Running, spawnTool, tool } from "../../support/cli.ts";
import { startTestService, type TestService } from "../../support/service.ts";
import { slow } from "../../support/slow.ts";
import { typeInto } from "../../support/terminal.ts";
import { until } from "../../support/until.ts";

/** A machine of a person: its own file of who is signed in. */
interface Machine {
  readonly env: Readonly<Record<string, string>>;
  readonly path: string;
  run(words: string, env?: Readonly<Record<string, string>>): Promise<Outcome>;
  keep(...entries: readonly Entry[]): void;
  kept(): { readonly team?: string; readonly teams: Readonly<Record<string, Entry>> };
}

interface Entry {
  readonly team: string;
  readonly email: string;
  readonly url: string;
  readonly token: string;
}

function machineOf(t: Test): Machine {
  const folder = mkdtempSync(join(tmpdir(), "tool-team-"));
  t.teardown(() => rmSync(folder, { recursive: true, force: true, maxRetries: 5 }));
  const env = { XDG_CONFIG_HOME: folder };
  const path = join(folder, "tool/config.json");
  return {
    env,
    path,
    run: (words, more) => tool(words.split(" "), { env: { ...env, ...more } }),
    keep(...entries) {
      mkdirSync(join(folder, "tool"), { recursive: true, mode: 0o700 });
      const teams = Object.fromEntries(entries.map((entry) => [entry.team, entry]));
      writeFileSync(path, JSON.stringify({ team: entries[0]!.team, teams }), { mode: 0o600 });
    },
    kept: () => JSON.parse(readFileSync(path, "utf8")),
  };
}

/** A person who is signed in on a machine. */
async function signedIn(
  t: Test,
  service: TestService,
  { email = "ann@example.com", role = "owner" }: { email?: string; role?: "owner" | "admin" | "member" } = {},
): Promise<Machine & { readonly entry: Entry }> {
  const token = await service.person(email, role);
  const { json } = await service.call("get_account", {}, token);
  const entry = { team: json.account.team_id, email, url: service.running.url, token };
  const machine = machineOf(t);
  machine.keep(entry);
  return { ...machine, entry };
}

/** `tool team login`, once it shows its code. */
async function startLogin(t: Test, { env }: Machine, words: string): Promise<Running & { readonly code: string }> {
  const running = spawnTool(["team", "login", ...words.split(" ")], { env });
  t.teardown(() => running.kill("SIGKILL"));
  const code = await until("the code", () => {
    if (running.child.exitCode !== null) throw new Error(`ended early: ${running.stderr()}`);
    return /^ {4}(\d{3} \d{3})$/m.exec(running.stderr())?.[1];
  });
  return { ...running, code };
}

/** Does what the page of the mail's link does: `deny`, or sends the code. */
async function confirm(service: TestService, code: string, { deny = false } = {}) {
  const { id } = await service.records.db
    .selectFrom("sign_ins")
    .select("id")
    .where("code", "=", code.replace(" ", ""))
    .executeTakeFirstOrThrow();
  return service.call("confirm_sign_in", { link: linkOf(service.records.seal, "confirm", id), code, deny });
}

const NO_MAIL = (url: string) => `${url} sends no mails. Whoever runs it prints the link for you:
  tool service sign-in ann@example.com --data DIR
In a browser that is signed in already, the page is
  ${url}/account

Type this code on the page within 15 minutes:

`;

t.test("signing in, and what a token of it can do", async (t) => {
  const service = await startTestService(t);
  await service.person("ann@example.com", "owner");
  const machine = machineOf(t);
  const { url } = service.running;
  const login = await startLogin(t, machine, `--email Ann@Example.com --url ${url}`);
  const { device } = await service.records.db.selectFrom("sign_ins").selectAll().executeTakeFirstOrThrow();
  t.match(device, /^tool \d+\.\d+\.\d+ on ./);
  t.notOk(existsSync(machine.path), "nothing is written yet");
  t.equal((await confirm(service, login.code)).status, 200);
  const ended = await login.ended;
  t.same([ended.code, ended.stdout], [0, "signed in to First team as ann@example.com\n"]);
  t.equal(ended.stderr, `${NO_MAIL(url).replace("ann@example.com", "Ann@Example.com")}    ${login.code}\n\n`);
  t.match(machine.kept(), { team: "owner", teams: { owner: { team: "owner", email: "ann@example.com", url } } });
  const { token } = machine.kept().teams.owner!;
  t.equal((await service.call("get_account", {}, token)).json.account.kind, "command");

  const status = await machine.run("team");
  t.same(status, {
    code: 0,
    signal: null,
    stdout: `   TEAM   ROLE   EMAIL            SERVICE\n*  owner  owner  ann@example.com  ${url}\n`,
    stderr: "",
  });
  await service.call("add_project", { project: { id: "app", name: "app" } });
  const logs = await machine.run(`logs --service ${url} --project app --count`);
  t.match(logs, { code: 0, stdout: "0\n" });

  const again = await startLogin(t, machine, `--email ann@example.com --team owner --url ${url}`);
  await confirm(service, again.code);
  t.equal((await again.ended).code, 0);
  t.equal((await service.call("get_account", {}, token)).status, 401, "the token that was replaced has ended");

  const out = await machine.run("team logout");
  t.same([out.code, out.stdout, out.stderr], [0, "signed out of owner\n", ""]);
  t.same(machine.kept(), { teams: {} });
  t.match(await machine.run("team"), { code: 0, stdout: "nobody is signed in\n" });
});

t.test("a sign-in that does not succeed", slow(), async (t) => {
  const service = await startTestService(t);
  await service.person("ann@example.com", "owner");
  const { url } = service.running;
  const machine = machineOf(t);

  const denied = await startLogin(t, machine, `--email ann@example.com --url ${url}`);
  await confirm(service, denied.code, { deny: true });
  const again = `run it again: tool team login --email ann@example.com --url ${url}`;
  t.match(await denied.ended, {
    code: 1,
    stdout: "",
    stderr: new RegExp(`\nerror: the sign-in was denied, or has expired\n {2}${again}\n$`),
  });

  const stranger = await startLogin(t, machine, `--email eve@example.com --url ${url}`);
  stranger.kill("SIGINT");
  t.match(await stranger.ended, { code: 130, stderr: /\ninterrupted: nobody was signed in\n$/ });

  const elsewhere = await startLogin(t, machine, `--email ann@example.com --team acme --url ${url}`);
  await confirm(service, elsewhere.code);
  t.match(await elsewhere.ended, {
    code: 1,
    stderr:
      /\nerror: ann@example.com is not in the team "acme", but in owner\n {2}tool team login .* --team owner --url /,
  });
  t.notOk(existsSync(machine.path), "nothing was written");

  // A file that cannot be changed is found before a mail is sent.
  mkdirSync(join(machine.path, ".."), { recursive: true });
  writeFileSync(machine.path, "{");
  const before = (await service.records.db.selectFrom("sign_ins").select("id").execute()).length;
  t.match(await machine.run(`team login --email ann@example.com --url ${url}`), {
    code: 1,
    stderr: /is not valid JSON/,
  });
  t.equal((await service.records.db.selectFrom("sign_ins").select("id").execute()).length, before);
});

/** An address that forwards to whatever service is there now. */
async function openForwarder(t: Test): Promise<{ readonly url: string; port: number | undefined }> {
  const forwarder = { url: "", port: undefined as number | undefined };
  forwarder.url = await serve(t, (request, response) => {
    if (forwarder.port === undefined) {
      request.socket.destroy();
      return;
    }
    const { method, url: path, headers } = request;
    const options = { host: "127.0.0.1", port: forwarder.port, method, path, headers };
    const sent = httpRequest(options, (answer) => {
      response.writeHead(answer.statusCode!, answer.headers);
      answer.pipe(response);
    });
    sent.once("error", () => request.socket.destroy());
    request.pipe(sent);
  });
  return forwarder;
}

async function serve(t: Test, listener: RequestListener): Promise<string> {
  const server = createServer(listener);
  await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
  t.teardown(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

t.test("waits through a restart of the service", slow(), async (t) => {
  const forwarder = await openForwarder(t);
  const account = { publicUrl: forwarder.url };
  const first = await startTestService(t, { account });
  await first.person("ann@example.com", "owner");
  forwarder.port = first.running.port;
  const machine = machineOf(t);
  const login = await startLogin(t, machine, `--email ann@example.com --url ${forwarder.url}`);
  forwarder.port = undefined;
  await first.stop();
  await until("a remark", () => login.stderr().includes("; trying again\n"));
  const second = await startTestService(t, { account, directory: first.directory });
  forwarder.port = second.running.port;
  await confirm(second, login.code);
  t.match(await login.ended, { code: 0, stdout: "signed in to First team as ann@example.com\n" });
  t.match(machine.kept().teams.owner, { url: forwarder.url });
  t.equal(login.stderr().match(/trying again/g)!.length, 1, "said once");
});

t.test("addresses where no log service answers", slow(), async (t) => {
  const seen: IncomingHttpHeaders[] = [];
  const elsewhere = await serve(t, (request, response) => {
    seen.push(request.headers);
    response.end();
  });
  const rows: [title: string, listener: RequestListener, stderr: RegExp][] = [
    [
      "a redirect",
      (_, response) => response.writeHead(307, { location: elsewhere }).end(),
      /^error: http\S+ does not answer: it redirects, and a token is sent to no other address\n/,
    ],
    ["a page", (_, response) => response.end("<html>"), /^error: http\S+ answers, but not as a log service\n/],
    [
      "other JSON",
      (_, response) => response.end('{"code":"123456"}'),
      /^error: the service at http\S+ gave an answer that this version does not understand\n {2}check the address; /,
    ],
    ["nothing", (request) => request.socket.destroy(), /^error: http\S+ does not answer: other side closed\n/],
    [
      "a proxy",
      (_, response) => response.writeHead(502).end("bad"),
      /^error: http\S+ does not answer as a log service: the answer was 502 Bad Gateway\n/,
    ],
    [
      "another API",
      (_, response) => response.writeHead(404, { "content-type": "application/json" }).end('{"error":"no"}'),
      /^error: http\S+ does not answer as a log service: the answer was 404 Not Found\n/,
    ],
    [
      "escape sequences",
      (_, response) =>
        response
          .writeHead(400, { "content-type": "application/json" })
          .end(JSON.stringify({ type: "invalid", message: "\u001b[2Jsent" })),
      /^error: \u241b\[2Jsent\n/,
    ],
  ];
  for (const [title, listener, stderr] of rows) {
    const url = await serve(t, listener);
    const machine = machineOf(t);
    const login = await machine.run(`team login --email ann@example.com --url ${url}`);
    t.match(login, { code: 1, stdout: "", stderr }, `login, ${title}`);
    machine.keep({ team: "acme", email: "ann@example.com", url, token: "lgs_secret" });
    const list = await machine.run("team members ls --verbose");
    t.match(list, { code: 1, stderr }, `members, ${title}`);
    t.notMatch(list.stderr, "lgs_secret", title);
  }
  t.same(seen, [], "nothing was sent on");
});

t.test("status asks each service", slow(), async (t) => {
  const service = await startTestService(t);
  const { entry, keep, kept, run } = await signedIn(t, service);
  let requests = 0;
  const silent = await serve(t, () => {
    requests++;
  });
  keep(entry, { ...entry, team: "gone", token: "lgs_gone" }, { ...entry, team: "away", url: silent });
  // A command that waits for an answer as long as any does, on a machine of its own.
  const patient = machineOf(t);
  patient.keep({ ...entry, url: silent });
  const waiting = spawnTool(["team", "members", "ls"], { env: patient.env });
  t.teardown(() => waiting.kill("SIGKILL"));
  await until("its request", () => requests > 0);
  const text = await run("team");
  t.equal(waiting.child.exitCode, null, "does not wait long");
  const rows = text.stdout.split("\n").map((line) => line.replace(/ {2,}/g, "|"));
  t.same(rows, [
    "|TEAM|ROLE|EMAIL|SERVICE",
    `*|owner|owner|ann@example.com|${entry.url}`,
    `|gone|signed out|ann@example.com|${entry.url}`,
    `|away|no answer|ann@example.com|${silent}`,
    "",
  ]);
  t.equal(
    text.stderr,
    `${entry.url} does not know this token any more: it has ended, or you were removed from the team\n` +
      `  tool team login --email ann@example.com --team gone --url ${entry.url}\n` +
      "  if you were removed, ask an admin of the team for an invite\n" +
      `${silent} does not answer: it takes too long\n  check that it runs: curl -i ${silent}/_health\n`,
  );
  const { teams, ...rest } = JSON.parse((await run("team status --format json")).stdout);
  t.same(rest, { source: "file", current: "owner" });
  t.same(
    teams.map(({ key, role, state }: { key: string; role: string; state: string }) => [key, role, state]),
    [
      ["owner", "owner", "ok"],
      ["gone", null, "refused"],
      ["away", null, "unknown"],
    ],
  );

  t.match(await run("team switch awey"), {
    code: 1,
    stderr: /^error: nobody is signed in to "awey"\n {2}did you mean away\?/,
  });
  t.match(await run("team switch"), { code: 2, stderr: /write tool team switch owner, or gone, or away/ });
  t.match(await run("team switch away"), { code: 0, stdout: /^commands act for away now/ });
  const out = await run("team logout");
  t.match(out, {
    code: 0,
    stdout: "signed out of away\n",
    stderr: /did not confirm it: .*\n.*90 days without use\nno team is/,
  });
  t.same(Object.keys(kept().teams), ["owner", "gone"]);
  t.match(await run("team members ls"), {
    code: 1,
    stderr: /^error: no team is chosen\n {2}.*tool team switch owner\n$/,
  });
  t.match(await run("team logout --team gone --format json"), {
    code: 0,
    stdout: JSON.stringify({ team: "gone", ended: true, current: "owner" }, null, 2),
  });
});

t.test("members", async (t) => {
  const service = await startTestService(t);
  const ann = await signedIn(t, service);
  const ben = await signedIn(t, service, { email: "ben@example.com", role: "member" });
  const today = new Date().toISOString().slice(0, 10);

  const invited = await ann.run("team members add eve@example.com --role admin");
  t.equal(invited.code, 0);
  t.match(invited.stdout, new RegExp(`^${service.running.url}/accept/inv_\\S+\n$`), "the link alone");
  t.match(invited.stderr, /^invited eve@example\.com to owner as admin, until 20/);
  t.ok(invited.stderr.includes(`\n  tool team login --email eve@example.com --url ${service.running.url}\n`));
  const again = await ann.run("team members add eve@example.com");
  t.match(again.stderr, /^invited eve@example\.com to owner as admin, /, "the role stays");
  const list = await ann.run("team members ls");
  t.match(list.stdout.replace(/ {2,}/g, "|"), `EMAIL|ROLE|STATE\nann@example.com|owner|since ${today}\n`);
  t.match(list.stdout, /\neve@example\.com +admin +invited until 20/);
  t.match(JSON.parse((await ann.run("team members ls --format json")).stdout).members[2], {
    email: "eve@example.com",
    state: "invited",
    expiresAt: /^20/,
  });

  const rows: [who: Machine, words: string, code: number, said: RegExp][] = [
    [
      ann,
      "team members add ben@example.com",
      1,
      /^error: ben@example.com is a member already\n {2}to change the role: tool team members role ben@example.com admin\n$/,
    ],
    [ann, "team members role ben@example.com admin", 0, /^ben@example\.com is an admin of owner now\n$/],
    [
      ben,
      "team members role ann@example.com member",
      1,
      /^error: your role is admin: only an owner may do this\n {2}ask somebody with a higher role in the team: tool team members ls lists them\n$/,
    ],
    [ann, "team members role ben@example.com member", 0, /^ben@example\.com is a member of owner now\n$/],
    [
      ben,
      "team members add kim@example.com",
      1,
      /^error: .* lacks team:write: ask an owner or admin\n {2}tool team members ls lists them\n$/,
    ],
    [ann, "team members link ben@example.com", 0, /^http\S+\/sign-in\/link\/\S+\n$/],
    [
      ann,
      "team members role kim@example.com admin",
      1,
      /^error: "kim@example.com" is neither .*\n {2}to invite them, .*: tool team members add kim@example.com --role admin\n/,
    ],
    [
      ann,
      "team members role eve@example.com owner",
      1,
      /^error: eve@example.com was invited, and has not accepted yet\n {2}to invite them, also again with this role: tool team members add eve@example.com --role owner\n/,
    ],
    [
      ann,
      "team members link eve@example.com",
      1,
      /^error: eve@example.com was invited, and has not .*\n {2}for the link of an invite: tool team members add eve@example.com\n/,
    ],
    [
      ann,
      "team members rm ann@example.com",
      1,
      /^error: ann@example.com is the last owner of the team: make somebody else an owner first\n {2}tool team members role <address> owner\n$/,
    ],
    [ann, "team members add dan", 2, /^error: "dan" is not an email address\n {2}write it as name@example.com\n$/],
    [ann, "team members role dan admin", 2, /^error: "dan" is not an email address\n/],
    [
      ann,
      "team members add dan@-.com",
      1,
      /^error: email: is not an email address\n {2}write it as name@example.com\n$/,
    ],
    [ann, "team members rm eve@example.com", 0, /^removed eve@example\.com from owner\n$/],
    [ben, "team members rm ben@example.com", 0, /^removed ben@example\.com from owner\n$/],
  ];
  for (const [who, words, code, said] of rows) {
    const ran = await who.run(words);
    t.equal(ran.code, code, words);
    t.match(code === 0 ? ran.stdout : ran.stderr, said, words);
  }
  t.same(ben.kept(), { teams: {} }, "who removed themselves is signed out");

  // The tokens that a removed person leaves.
  const kim = await signedIn(t, service, { email: "kim@example.com", role: "admin" });
  t.equal((await kim.run("team ci")).code, 0);
  const removed = await ann.run("team members rm kim@example.com");
  t.match(removed.stderr, /^tokens that kim@example\.com made still work: tok_\w+\n/);
  t.match(await kim.run("team members ls"), {
    code: 1,
    stderr:
      /does not know this token any more: it has ended, or you were removed from the team\n {2}tool team login --email kim.*\n {2}if you were removed, ask an admin of the team for an invite\n$/,
  });
});

t.test("tokens of CI, and TOOL_CONFIG", async (t) => {
  const service = await startTestService(t);
  const { run, entry, kept } = await signedIn(t, service);
  const before = kept();
  const made = await run("team ci --name github");
  t.equal(made.code, 0);
  t.match(made.stdout, /^[A-Za-z0-9+/]+=*\n$/, "the value alone");
  t.match(
    made.stderr,
    /^the CI token (tok_\w+) \(github\) of owner reads projects and writes events until 20[\d-]+\n {2}tool team ci rm \1 revokes it\n/,
  );
  t.notMatch(made.stderr, "lgs_");
  const config = JSON.parse(Buffer.from(made.stdout, "base64").toString());
  const { token } = config.teams.owner;
  t.same(config, { team: "owner", teams: { owner: { ...entry, token } } });
  t.not(token, entry.token);
  t.same(kept(), before);

  const ci = { TOOL_CONFIG: made.stdout };
  t.match(await run("team", ci), {
    code: 0,
    stdout: /\n\* {2}owner {2}CI +ann@example\.com/,
    stderr: /^this is from TOOL_CONFIG/,
  });
  await service.call("add_project", { project: { id: "app", name: "app" } });
  const events = await service.call(
    "add_events",
    { project_id: "app", events: [{ level: "info", message: "one" }] },
    token,
  );
  t.equal(events.status, 204, "it may write events");
  const refused: [words: string, stderr: RegExp][] = [
    [
      "team members ls",
      /^error: .+\n {2}TOOL_CONFIG may hold a token of CI: unset it and sign in: tool team login --email <address>\n$/,
    ],
    ["team ci", /^error: .+\n {2}TOOL_CONFIG may hold a token of CI/],
    [
      "team login --email ann@example.com",
      /^error: TOOL_CONFIG is set, and wins over .*\n {2}unset TOOL_CONFIG, then run this again/,
    ],
    ["team switch owner", /^error: TOOL_CONFIG is set/],
    ["team logout", /^error: TOOL_CONFIG is set/],
    [`logs --service ${service.running.url} --project app`, /^reading.*\nerror: .*lacks the scope events:read/],
  ];
  for (const [words, stderr] of refused) t.match(await run(words, ci), { code: 1, stdout: "", stderr }, words);

  const listed = await run("team ci ls");
  const [, id] = /\n(tok_\w+) +github +/.exec(listed.stdout)!;
  t.match(await run(`team ci rm ${id}`), { code: 0, stdout: "revoked\n" });
  t.match(await run("team", ci), {
    code: 0,
    stdout: /signed out/,
    stderr: /set TOOL_CONFIG to what tool team ci prints/,
  });
  t.match(await run("team ci ls"), { code: 0, stdout: "", stderr: /^there are no CI tokens\n/ });
  const madeTokens = () =>
    service.records.db.selectFrom("audit").select("id").where("operation", "=", "add_ci_token").execute();
  const earlier = await madeTokens();
  t.match(await run("team ci --copy"), { code: 1, stdout: "", stderr: /^error: there is no clipboard/ });
  t.same(await madeTokens(), earlier, "it is looked for before a token is made");
  t.match(await run("team ci ls --format json"), { code: 0, stdout: '{\n  "tokens": []\n}\n' }, "none was made");
});

t.test("a removal asks on a terminal what becomes of the person's tokens", async (t) => {
  const service = await startTestService(t);
  const { env } = await signedIn(t, service);
  const tokensLeft = async () => (await service.call("get_tokens")).json.tokens.length;
  const question = "End them, too? Programs that use them are refused at once (y/n): ";
  const leaving = async (email: string) => {
    const one = await signedIn(t, service, { email, role: "admin" });
    t.equal((await one.run("team ci --name build")).code, 0);
    for (const scopes of [["events:read"], ["tokens:write"]]) {
      const token = { description: `of ${scopes}`, scopes };
      t.equal((await service.call("add_token", { token }, one.entry.token)).status, 200);
    }
  };
  const remove = (email: string, answers: readonly string[]) =>
    typeInto(
      t,
      ["team", "members", "rm", email],
      answers.map((answer) => [question, answer] as const),
      { env },
    );
  await leaving("kim@example.com");
  const kept = await remove("kim@example.com", ["perhaps", "n"]);
  t.match(
    kept.text,
    /made these tokens, which go on working unless they are ended:\r\n {2}tok_\w+ {2}API {2}of events:read\r\n {2}tok_\w+ {2}CI {2}build\r\n/,
  );
  t.match(
    kept.text,
    /removed kim@example\.com from owner\r\ntokens that kim@example\.com made still work: tok_\w+, tok_\w+/,
  );
  const before = await tokensLeft();
  await leaving("eve@example.com");
  const ended = await remove("eve@example.com", ["y"]);
  t.match(ended, { code: 0, text: /removed eve@example\.com from owner\r\n$/ });
  t.equal(await tokensLeft(), before);
  await signedIn(t, service, { email: "bob@example.com" });
  t.match(await remove("bob@example.com", []), { code: 0, text: /^removed bob@example\.com from owner\r\n$/ });
});

t.test("on a terminal", async (t) => {
  const service = await startTestService(t);
  const { env, entry, kept, run } = await signedIn(t, service);
  const typed = await typeInto(t, ["team", "switch"], [["Team: ", "owner"]], { env });
  t.match(typed, { code: 0, text: /^\* owner {2}ann@example\.com at http/ });

  // The question proposes who is signed in; the code is read off the screen.
  const login = typeInto(t, ["team", "login"], [["Email address (ann@example.com): ", ""]], { env });
  const row = await until("the sign-in", () =>
    service.records.db.selectFrom("sign_ins").selectAll().where("kind", "=", "command").executeTakeFirst(),
  );
  await confirm(service, row.code);
  const { code, text } = await login;
  t.equal(code, 0, text);
  t.match(text, `    ${row.code.slice(0, 3)} ${row.code.slice(3)}`);
  t.match(text, /waiting for the code to be typed there \(\d+s\)/);
  for (const line of text.split(/[\r\n]+/)) t.ok(line.length <= 80, line);
  t.not(kept().teams.owner!.token, entry.token);

  const added = typeInto(t, ["team", "add", "Night shift"], [], { env });
  const signIn = await until("the sign-in to the new team", () =>
    service.records.db.selectFrom("sign_ins").selectAll().where("team_id", "=", "night-shift").executeTakeFirst(),
  );
  await confirm(service, signIn.code);
  t.match(await added, {
    code: 0,
    text: /^added the team night-shift\r\nA token acts for one team\. Sign in to this one:/,
  });
  t.equal(kept().team, "night-shift");
  t.match(await run("team add Night --id owner"), {
    code: 1,
    stderr: /^error: .*taken.*\n {2}choose another id: tool team add Night --id <id>/,
  });
  const wrong: [argv: readonly string[], code: number, stderr: string | RegExp][] = [
    [["add", ""], 2, "error: the team has no name\n  write tool team add 'Night shift', with at most 100 characters\n"],
    [["add", "n".repeat(101)], 2, /^error: the name of the team is too long\n {2}write tool team add/],
    [
      ["add", "Night", "--id", "A B"],
      2,
      `error: "A B" is not a team's id\n  an id has up to 40 characters of a-z, 0-9 and -, and does not begin with -\n`,
    ],
    [["add", "\u591c"], 1, /^error: id: is required: .*\n {2}choose another id: tool team add '\u591c' --id <id>/],
  ];
  for (const [argv, code, stderr] of wrong) {
    t.match(await tool(["team", ...argv], { env }), { code, stdout: "", stderr }, argv.join(" "));
  }
});
