// The work of two people, two teams and a CI with a log service, with everything real: the command, the service in a
// process of its own, a mail server, and Chromium. Each step begins with what the one before it left.
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import t, { type Test } from "tap";
import { newToken, tokenHash } from "../../logservice/access/token.ts";
import { openEventsStore } from "../../logservice/events/open.ts";
import { openDatabase } from "../../logservice/records/sqlite.ts";
import { listening, type Outcome, type Running, root, spawnTool, tool } from "../support/cli.ts";
import { initService } from "../support/init-service.ts";
import { callFrom, loginCode, openAccount, type Person, picture, transcript, typeCode } from "../support/person.ts";
import { processesWith } from "../support/processes.ts";
import { requires } from "../support/require.ts";
import { testSandbox } from "../support/sandbox.ts";
import { ANN, BOB, beginStory, type Story, signInWindow } from "../support/story.ts";
import { openTerminal } from "../support/terminal.ts";
import { until, within } from "../support/until.ts";

const BOTH = ["light", "dark"] as const;

t.test("two people, two teams and a CI", { skip: requires("chromium") }, async (t) => {
  const story = await beginStory(t);
  const steps: Readonly<Record<string, (t: Test, story: Story) => Promise<void>>> = {
    "the first owner comes in by the link that init prints": firstOwner,
    "ann signs in on a terminal, adds a team and switches": terminalOfAnn,
    "bob is invited, accepts in the browser, and signs in on his terminal": invitedBob,
    "both teams have a project api, and neither sees the other's events": twoProjects,
    "CI writes the log of an app, and nothing that it runs gets its token": ofCi,
    "the last owner stays": lastOwner,
    "who is removed is out at once": removedBob,
    "a token that another process removes takes along what is open with it": removedElsewhere,
  };
  for (const [name, step] of Object.entries(steps)) await t.test(name, (t) => step(t, story));
});

async function firstOwner(t: Test, { data, service, ann }: Story): Promise<void> {
  const made = await initService(data, ANN, service.url);
  t.equal(made.code, 0, made.stderr);
  const link = new RegExp(`${service.url}/sign-in/link/\\S+`).exec(made.stdout + made.stderr)?.[0] ?? "";
  t.ok(link, made.stdout + made.stderr);
  await service.start();
  t.notMatch(service.said(), /prints its link|sends no mail/, "mails are sent");

  const { page } = ann;
  await page.goto(service.url);
  t.equal(page.url(), `${service.url}/sign-in`, "nobody is signed in");
  t.same(await picture(page, "sign-in", BOTH), []);
  await page.goto(link);
  t.match(await page.textContent("main"), `This link signs this browser in as ${ANN}. It works once.`);
  t.same(await picture(page, "first-link", BOTH), []);
  await page.getByRole("button", { name: `Sign in as ${ANN}` }).click();
  await openAccount(page, service.url);
  t.match(await page.textContent("main"), /Signed in as ann@example\.com\.[\s\S]*owner\s+owner\s+owner/);
  t.same(await picture(page, "account", BOTH), []);

  const again = await ann.context.newPage();
  await again.goto(link);
  t.match(await again.textContent("main"), "This link has expired or was already used: ask for a new one.");
  t.same(await picture(again, "used-link"), []);
  await again.close();
}

async function terminalOfAnn(t: Test, { service, mailbox, ann }: Story): Promise<void> {
  const { url } = service;
  const options = { env: ann.env, cwd: ann.env.HOME! };
  const login = openTerminal(t, ["team", "login", "--email", ANN, "--url", url], options);
  const code = await until("the code", () => loginCode(login.text()));
  const mail = await mailbox.next(ANN);
  t.match(mail.subject, /sign in/i);
  t.notMatch(mail.text + mail.subject, new RegExp(code.replace(" ", " ?")), "the code is not in the mail");

  const page = await ann.context.newPage();
  await page.goto(mail.link);
  t.match(
    await page.textContent("main"),
    /tool \d+\.\d+\.\d+ on \S+ at 127\.0\.0\.1 asked to sign in as ann@example\.com/,
  );
  t.same(await picture(page, "confirm", BOTH), []);
  await page.getByLabel("The code that it shows").fill(code === "000 000" ? "111 111" : "000 000");
  await page.getByRole("button", { name: "Sign in that device" }).click();
  await page.getByRole("alert").waitFor();
  t.match(await page.textContent("main"), /This is another code[\s\S]*4 tries left/);
  t.same(await picture(page, "another-code", BOTH), []);
  await page.close();
  t.match(await typeCode(ann, mail.link, code), `The window or terminal that asked is now signed in as ${ANN}.`);
  const signedIn = await login.ended;
  t.match(signedIn, { code: 0, text: /signed in to owner as ann@example\.com\r\n$/ });
  t.match(ann.kept(), { team: "owner", teams: { owner: { email: ANN, url } } });
  transcript("login", signedIn.text);

  const status = await ann.run("team status");
  const rows = `   TEAM   ROLE   EMAIL            SERVICE\n*  owner  owner  ${ANN}  ${url}\n`;
  t.same([status.code, status.stdout, status.stderr], [0, rows, ""]);

  const added = openTerminal(t, ["team", "add", "Night Shift", "--id", "night"], options);
  const second = await until("the code of the second sign-in", () => loginCode(added.text()));
  await typeCode(ann, (await mailbox.next(ANN)).link, second);
  const end = await added.ended;
  t.match(end, { code: 0, text: /added the team night[\s\S]*commands act for night now\r\n$/ });
  transcript("team-add", end.text);
  t.match(await ann.run("team"), {
    code: 0,
    stdout: `   TEAM   ROLE   EMAIL            SERVICE\n   owner  owner  ${ANN}  ${url}\n*  night  owner  ${ANN}  ${url}\n`,
  });
  t.match(await ann.run("team switch owner"), {
    code: 0,
    stdout: `commands act for owner now, as ${ANN} at ${url}\n`,
  });
  t.equal(ann.kept().team, "owner");
  const denied = await ann.beginLogin(`--url ${url}`);
  const window = await ann.context.newPage();
  await window.goto((await mailbox.next(ANN)).link);
  await window.getByRole("button", { name: "This was not me" }).click();
  await window.getByRole("heading", { name: "Denied" }).waitFor();
  t.same(await picture(window, "denied"), []);
  await window.close();
  t.match(await denied.ended, {
    code: 1,
    stdout: "",
    stderr: /\nerror: the sign-in was denied, or has expired\n {2}run/,
  });

  await ann.page.reload();
  t.match(await ann.page.textContent("main"), /Night Shift\s+night\s+owner\s+owner\s+owner\s+owner/);
  t.same(await picture(ann.page, "two-teams", BOTH), []);
}

async function invitedBob(t: Test, { service, mailbox, ann, bob }: Story): Promise<void> {
  const { url } = service;
  const invited = await ann.run(`team members add ${BOB} --role admin`);
  t.match(invited, {
    code: 0,
    stdout: "",
    stderr:
      /^invited bob@example\.com to owner as admin, until 20\d\d-\d\d-\d\d\na mail with the link is on its way\nthey accept on the page of the link, and then sign in on their terminal:\n {2}tool team login --email bob@example\.com --url http\S+\n$/,
  });
  const invite = await mailbox.next(BOB);
  t.match(invite.subject, "owner");
  t.match(invite.text, ANN);

  const other = await ann.context.newPage();
  await other.goto(invite.link);
  t.match(await other.textContent("main"), `You are signed in as ${ANN}, and the invitation is for another address.`);
  t.equal(await other.getByRole("button", { name: "Join" }).count(), 0);
  t.same(await picture(other, "invite-of-another", BOTH), []);

  // He asks to sign in in one window, and types its code in another one.
  const { page } = bob;
  await page.goto(invite.link);
  t.match(await page.textContent("main"), `${ANN} invites ${BOB} to the team owner as admin.`);
  t.same(await picture(page, "invite", BOTH), []);
  await page.getByRole("button", { name: `Sign in as ${BOB} to join` }).click();
  await page.getByRole("heading", { name: "Check your mail" }).waitFor();
  t.same(await picture(page, "wait", BOTH), []);
  const code = (await page.locator(".half").allInnerTexts()).join(" ");
  await typeCode(bob, (await mailbox.next(BOB)).link, code);
  await page.waitForURL(invite.link);
  t.notMatch(await page.textContent("main"), "Sign in as", "the window goes on by itself");
  t.same(await picture(page, "invite-signed-in"), []);
  await page.getByRole("button", { name: "Join owner" }).click();
  await openAccount(page, url);
  t.match(await page.textContent("main"), /Signed in as bob@example\.com\.[\s\S]*owner\s+owner\s+admin, current/);
  t.same(await picture(page, "joined"), []);

  await other.reload();
  t.match(await other.textContent("main"), "This invite has ended, was used or was replaced by a newer one");
  t.same(await picture(other, "used-invite"), []);
  await other.close();

  const login = await bob.beginLogin(`--team owner --url ${url}`);
  await typeCode(bob, (await mailbox.next(BOB)).link, login.code);
  t.match(await login.ended, { code: 0, stdout: `signed in to owner as ${BOB}\n` });
  t.match(bob.kept(), { team: "owner", teams: { owner: { team: "owner", email: BOB, url } } });
  t.match((await bob.run("team members ls")).stdout.replace(/ {2,}/g, "|"), `${ANN}|owner|since `);

  const night = await bob.beginLogin(`--team night --url ${url}`);
  await typeCode(bob, (await mailbox.next(BOB)).link, night.code);
  t.match(await night.ended, {
    code: 1,
    stderr: /\nerror: bob@example\.com is not in the team "night", but in owner\n {2}tool team login .* --team owner/,
  });
}

const SERVER = `const { createServer } = require("node:http");
createServer((request, response) => {
  console.log(JSON.stringify({ level: "info", message: "order " + request.url }));
  response.end(request.url === "/env" ? JSON.stringify(process.env) : "ok");
}).listen(process.env.PORT);
`;

/** A folder with a small app, whose answers to /env show its variables. */
function appIn({ folder }: Story, name: string, more: object = {}): string {
  const app = join(folder, name);
  mkdirSync(app, { recursive: true });
  writeFileSync(join(app, "app.js"), SERVER);
  writeFileSync(join(app, "tool.json"), JSON.stringify({ name, ...more }));
  return app;
}

/** Runs an app whose log goes to the service, until it is stopped. */
async function startApp(t: Test, { service }: Story, app: string, env: Readonly<Record<string, string>>) {
  const running = spawnTool(["start", "--address", "127.0.0.1:0", "--logs-url", service.url], { cwd: app, env });
  const stop = async (): Promise<Outcome> => {
    running.kill("SIGINT");
    const timer = setTimeout(() => running.kill("SIGKILL"), 10_000);
    const outcome = await running.ended;
    clearTimeout(timer);
    return outcome;
  };
  t.teardown(stop);
  return { running: running as Running, url: await listening(running), stop };
}

const logsOf = ({ service }: Story, who: Person, words: string) =>
  who.run(`logs --service ${service.url} --project api ${words}`);

async function twoProjects(t: Test, story: Story): Promise<void> {
  const { service, ann, bob } = story;
  const app = appIn(story, "api");
  for (const team of ["owner", "night"]) {
    t.equal((await ann.run(`team switch ${team}`)).code, 0);
    const { url, stop } = await startApp(t, story, app, ann.env);
    t.equal(await (await fetch(`${url}/of-${team}`)).text(), "ok");
    await until("the line", async () =>
      (await logsOf(story, ann, `message=*of-${team}`)).stdout.includes(`order /of-${team}`),
    );
    t.match(await stop(), { code: 130, stderr: /^(?!.*log service (?:does not|refused))/s });
    const sent = await fetch(`${service.url}/ingest/api`, {
      method: "POST",
      headers: { authorization: `Bearer ${ann.kept().teams[team]!.token}`, "content-type": "text/plain" },
      body: `{"level":"warn","message":"ingested by ${team}"}\n`,
    });
    t.equal(sent.status, 200, await sent.text());
  }
  for (const [own, other] of [
    ["night", "owner"],
    ["owner", "night"],
  ]) {
    t.equal((await ann.run(`team switch ${own}`)).code, 0);
    const { stdout } = await logsOf(story, ann, "-S 1h");
    t.match(stdout, `order /of-${own}`);
    t.match(stdout, `ingested by ${own}`);
    t.notMatch(stdout, new RegExp(`of-${other}|by ${other}`), `${own} sees nothing of ${other}`);
  }
  const ofBob = await logsOf(story, bob, "-S 1h");
  t.match(ofBob.stdout, "ingested by owner");
  t.notMatch(ofBob.stdout, "night");
  const search = { project_id: "api", start: "2020-01-01T00:00:00Z", stop: "2100-01-01T00:00:00Z" };
  t.match(await callFrom(ann.page, "search", search, "night"), { status: 200, text: "ingested by night" });
  t.match(await callFrom(ann.page, "search", search), { status: 400, text: "X-Team: is required" });
  t.match(await callFrom(bob.page, "search", search), { status: 200, text: "ingested by owner" });
  const refused = await callFrom(bob.page, "search", search, "night");
  t.match(refused, { status: 403 });
  t.equal(
    refused.text,
    (await callFrom(bob.page, "search", search, "nowhere")).text.replace("nowhere", "night"),
    "a team of others is like one that is not there",
  );
}

/** The variables that tell what may be done with the service, if they are there. */
const secretsIn = (env: string) => env.match(/TOOL_CONFIG|TOOL_LOGS_TOKEN|lgs_/g) ?? [];

async function ofCi(t: Test, story: Story): Promise<void> {
  const { service, ann, folder } = story;
  const made = await ann.run("team ci --name github");
  t.match(made, {
    code: 0,
    stdout: /^[A-Za-z0-9+/]+=*\n$/,
    stderr: /^the CI token tok_\w+ \(github\) of owner [\s\S]*keep this as the secret TOOL_CONFIG of CI:\n$/,
  });
  const home = join(folder, "ci");
  mkdirSync(home);
  const env = { HOME: home, TOOL_CONFIG: made.stdout.trim() };
  t.match(await tool(["team"], { env }), { code: 0, stdout: /\n\* {2}owner {2}CI +ann@example\.com/ });

  const { url, stop } = await startApp(t, story, join(folder, "api"), env);
  t.same(secretsIn(await (await fetch(`${url}/env`)).text()), [], "the app does not get the token");
  await (await fetch(`${url}/by-ci`)).text();
  await until("the line of CI", async () =>
    (await logsOf(story, ann, "message=*by-ci")).stdout.includes("order /by-ci"),
  );
  t.equal((await stop()).code, 130);

  const fresh = await startApp(t, story, appIn(story, "fresh"), env);
  await (await fetch(`${fresh.url}/lost`)).text();
  await until("what CI may not do", () => fresh.running.stderr().includes("trying again"));
  t.match(
    (await fresh.stop()).stderr,
    /the log service does not accept entries: .*scope projects:write \(there is no project fresh yet: an admin of the team can add it,/,
  );
  t.match(await tool(["logs", "--service", service.url, "--project", "api"], { env }), {
    code: 1,
    stdout: "",
    stderr: /lacks the scope events:read/,
  });

  const deployed = appIn(story, "deployed", { hooks: { prebuild: "env > ../hook.env", build: "true" } });
  const sandbox = testSandbox(t, { ...env, TOOL_LOGS_TOKEN: "lgs_another" });
  const deploy = await sandbox.tool(deployed, "deploy", "--sandbox");
  t.equal(deploy.code, 0, deploy.stderr);
  const ofHook = readFileSync(join(folder, "hook.env"), "utf8");
  t.match(ofHook, /^PATH=/m);
  t.same(secretsIn(ofHook), [], "hooks do not get the token");
  const ofFunction = (await sandbox.ask("deployed", "staging", "/env")).body;
  t.match(ofFunction, '"PORT"');
  t.same(secretsIn(ofFunction), [], "a function does not get the token");
  t.same(
    processesWith("TOOL_CONFIG=").filter((pid) => pid === sandbox.daemon().pid),
    [],
    "nor does the sandbox",
  );
  t.notMatch(readFileSync(join(deployed, "tool.json"), "utf8") + deploy.stdout + deploy.stderr, /lgs_/);
}

async function lastOwner(t: Test, { ann, bob }: Story): Promise<void> {
  const hint = "  tool team members role <address> owner\n";
  const refused = {
    code: 1,
    stdout: "",
    stderr: `error: ${ANN} is the last owner of the team: make somebody else an owner first\n${hint}`,
  };
  t.match(await ann.run(`team members rm ${ANN}`), refused);
  t.match(await ann.run(`team members role ${ANN} admin`), refused);
  t.match(await bob.run(`team members rm ${ANN}`), {
    code: 1,
    stderr: "error: your role is admin: only an owner may do this\n",
  });
  t.match(await callFrom(ann.page, "update_member", { email: ANN, role: "member" }, "owner"), { status: 409 });
  t.match((await ann.run("team members ls")).stdout, /ann@example\.com +owner /, "nothing has changed");

  // The hint is what to do.
  t.match(await ann.run(`team members role ${BOB} owner`), { code: 0, stdout: `${BOB} is an owner of owner now\n` });
  t.match(await ann.run(`team members role ${ANN} admin`), { code: 0, stdout: `${ANN} is an admin of owner now\n` });
  t.match(await bob.run(`team members rm ${BOB}`), { code: 1, stderr: `error: ${BOB} is the last owner of the team` });
  t.match(await bob.run(`team members role ${ANN} owner`), { code: 0 });
  t.match(await ann.run(`team members role ${BOB} admin`), { code: 0 });
}

/** Takes longer than the test. */
const SLOW_SQL = { project_id: "api", query: "select count(*) from range(1000000) a, range(1000000) b" };

interface Ended<T> {
  readonly value: T;
}

const asEnded = async <T>(waited: Promise<T>): Promise<Ended<T>> => ({ value: await waited });

/** Opens for a person a terminal that follows, and in the browser and by the token a long query, and a tail there. */
async function openAll(t: Test, { service, ann }: Story, who: Person) {
  const { page } = who;
  await page.goto(service.url);
  const { token } = who.kept().teams.owner!;
  const follow = who.spawn(`logs -f --service ${service.url} --project api`);
  const tail = page.evaluate(async () => {
    const response = await fetch("/tail?project_id=api");
    return { status: response.status, text: await response.text() };
  });
  const query = fetch(`${service.url}/query`, {
    method: "POST",
    headers: { "content-type": "application/json", authorization: `Bearer ${token}` },
    body: JSON.stringify(SLOW_SQL),
  }).then(async (response) => ({ status: response.status, text: await response.text() }));
  const open = {
    "tool logs -f": asEnded(follow.ended),
    "the tail in the browser": asEnded(tail),
    "the query in the browser": asEnded(callFrom(page, "query", SLOW_SQL)),
    "the query with the token": asEnded(query),
  };
  let ended: string | undefined;
  for (const [what, one] of Object.entries(open)) void one.then(() => (ended ??= what));
  await until("the stream", () => follow.stderr().includes("reading the project api"));
  const ownerToken = ann.kept().teams.owner!.token;
  await until("both tails", async () => {
    const headers = { authorization: `Bearer ${ownerToken}` };
    const metrics = await (await fetch(`${service.url}/metrics`, { headers })).text();
    return metrics.includes("logservice_tails 2\n");
  });
  t.equal(ended, undefined, "all are open");
  return open;
}

/** Checks that each ends; service-members.test.ts counts how soon, by a clock that it turns. */
async function endedIn(t: Test, open: Readonly<Record<string, Promise<Ended<unknown>>>>) {
  for (const [what, one] of Object.entries(open)) {
    await within(`the end of ${what}`, one);
    t.pass(`${what} ended`);
  }
}

const sendAs = async ({ service }: Story, token: string) => {
  const headers = { authorization: `Bearer ${token}`, "content-type": "text/plain" };
  return (await fetch(`${service.url}/ingest/api`, { method: "POST", headers, body: "by a build\n" })).status;
};

const tokenOfCi = (toolConfig: string): string =>
  JSON.parse(Buffer.from(toolConfig, "base64").toString()).teams.owner.token;

async function removedBob(t: Test, story: Story): Promise<void> {
  const { ann, bob, service } = story;
  const made = await bob.run("team ci --name bobs");
  t.equal(made.code, 0, made.stderr);
  const [id] = /tok_\w+/.exec(made.stderr)!;
  const ofBuild = tokenOfCi(made.stdout);
  const open = await openAll(t, story, bob);
  const removed = await ann.run(`team members rm ${BOB}`);
  await endedIn(t, open);
  t.same(removed, {
    code: 0,
    signal: null,
    stdout: `removed ${BOB} from owner\n`,
    stderr:
      `tokens that ${BOB} made still work: ${id}\n` +
      "  tool team ci rm <id> ends one of CI, the page Tokens of the web UI any; with --tokens all would have ended\n",
  });
  t.match((await open["the tail in the browser"]).value, {
    status: 200,
    text: /event: error\ndata: \{"type":"unauthorized","message":"you were removed from this team"\}\n\n$/,
  });
  t.match((await open["the query in the browser"]).value, { status: 401, text: "you were removed from this team" });
  t.match((await open["the query with the token"]).value, { status: 401, text: "you were removed from this team" });
  const followed = (await open["tool logs -f"]).value;
  t.equal(followed.code, 1);
  t.match(
    followed.stderr,
    /: you were removed from this team\n {2}tool team login --email bob@example\.com --team owner --url \S+\n$/,
  );
  transcript("removed-follow", followed.stderr);

  await bob.page.reload();
  t.equal(bob.page.url().split("?")[0], `${service.url}/sign-in`, "his session is over");
  t.match(await bob.run("team"), { code: 0, stdout: /\n\* {2}owner {2}signed out {2}bob@example\.com/ });
  t.equal(await sendAs(story, ofBuild), 200, "his token of CI still works");
  t.match(await ann.run(`team ci rm ${id}`), { code: 0, stdout: "revoked\n" });
  t.equal(await sendAs(story, ofBuild), 401);
}

async function removedElsewhere(t: Test, story: Story): Promise<void> {
  const { ann, bob, data, mailbox, service } = story;
  // Who proves the address and names the team accepts the invite by that.
  t.equal((await ann.run(`team members add ${BOB} --role admin`)).code, 0);
  await mailbox.next(BOB);
  const login = await bob.beginLogin(`--team owner --url ${service.url}`);
  await typeCode(bob, (await mailbox.next(BOB)).link, login.code);
  t.match(await login.ended, { code: 0, stdout: `signed in to owner as ${BOB}\n` });
  const window = await signInWindow(story, bob);
  t.match(await window.textContent("main"), /owner\s+owner\s+admin, current/);

  const { "tool logs -f": follow, "the query with the token": query, ...others } = await openAll(t, story, bob);
  const { token } = bob.kept().teams.owner!;
  const removed = await tool(["service", "token", "rm", token, "--data", data]);
  t.match(removed, { code: 0, stderr: "" }, removed.stderr);
  await endedIn(t, { follow, query });
  t.match((await query).value, { status: 401, text: "this token or session has ended" });
  t.match((await follow).value, { code: 1, stderr: /\n {2}tool team login --email bob@/ });
  t.notOk(
    await Promise.race([...Object.values(others), new Promise((done) => setTimeout(done, 1_200, false))]),
    "his session goes on",
  );

  const made = await callFrom(bob.page, "add_ci_token", { name: "second" });
  const ofBuild = JSON.parse(made.text).token as string;
  t.equal(await sendAs(story, ofBuild), 200);
  const out = await ann.run(`team members rm ${BOB} --tokens`);
  await endedIn(t, others);
  t.match(out, { code: 0, stdout: `removed ${BOB} from owner\n`, stderr: "" });
  t.equal(await sendAs(story, ofBuild), 401, "its token went with him");
  t.match((await ann.run("team members ls --format json")).stdout, /^(?!.*bob@)/s);
}

t.test("a data directory of before there were accounts", { skip: requires("chromium") }, async (t) => {
  const story = await beginStory(t);
  const { service, ann, data } = story;
  const token = newToken();
  mkdirSync(data, { mode: 0o700 });
  const records = await openDatabase(join(data, "records.sqlite"));
  records.exec(readFileSync(join(root, "test/fixtures/records-2026-01.sql"), "utf8"));
  records.prepare("update tokens set hash = ?").run([tokenHash(token)]);
  records.close();
  const events = await openEventsStore({ directory: join(data, "events") });
  await events.append("shop", [{ timestamp: new Date().toISOString(), level: "info", message: "kept", fields: {} }]);
  await events.close();

  await service.start();
  const ofShop = ["logs", "--service", service.url, "--project", "shop"];
  const before = await tool(ofShop, { env: { TOOL_LOGS_TOKEN: token } });
  t.match(before, { code: 0, stdout: /"message":"kept"/ }, before.stderr);
  t.equal(await sendAs(story, token), 200, "to the project api");

  // While the service runs.
  const added = await tool(["service", "owner", "add", ANN, "--data", data]);
  t.match(added, { code: 0, stderr: `${ANN} is an owner of the team owner.\n` }, added.stderr);
  t.match(added.stdout, new RegExp(`^${service.url}/sign-in/link/\\S+\\n$`), "on stdout nothing but the link");
  await ann.page.goto(added.stdout.trim());
  await ann.page.getByRole("button", { name: `Sign in as ${ANN}` }).click();
  await openAccount(ann.page, service.url);
  const { text } = await callFrom(ann.page, "get_projects", {});
  t.match(JSON.parse(text).projects, [{ id: "shop" }, { id: "api" }]);
  const login = await ann.beginLogin(`--url ${service.url}`);
  await typeCode(ann, (await story.mailbox.next(ANN)).link, login.code);
  t.equal((await login.ended).code, 0);
  t.match(await ann.run(ofShop.join(" ")), { code: 0, stdout: /"message":"kept"/ });
  t.match((await tool(ofShop, { env: { TOOL_LOGS_TOKEN: token } })).stdout, /"message":"kept"/, "the token goes on");
});
