// The service, and the command, are killed in the middle of what people do with accounts. After the next start the story goes
// on from there: nothing is lost, and nothing half-done is visible.
import { readdirSync, watch } from "node:fs";
import { dirname } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import t, { type Test } from "tap";
import { openRecords } from "../../logservice/records/open.ts";
import { tool } from "../support/cli.ts";
import { initService } from "../support/init-service.ts";
import { callFrom, openAccount, type Person, typeCode } from "../support/person.ts";
import { requires } from "../support/require.ts";
import { ANN, BOB, beginStory, type Story } from "../support/story.ts";
import { until } from "../support/until.ts";

t.test("killed while people sign in, join and leave", { skip: requires("chromium") }, async (t) => {
  const story = await beginStory(t);
  await begin(t, story);
  const steps: Readonly<Record<string, (t: Test, story: Story) => Promise<void>>> = {
    "after the answer to whoever asks to sign in": afterAsking,
    "while the mail is on its way": whileMailing,
    "between the code and the next poll": beforePoll,
    "while the window waits": whileWindowWaits,
    "while an invite is accepted": whileAccepting,
    "while a member is removed": whileRemoving,
    "the command while it waits": waitingCommand,
    "the command while it writes its file": writingCommand,
  };
  for (const [name, step] of Object.entries(steps)) await t.test(name, (t) => step(t, story));
});

/** Two owners of the first team; ann also has a second one. */
async function begin(t: Test, { data, service, ann, bob }: Story): Promise<void> {
  const made = await initService(data, ANN, service.url);
  t.equal(made.code, 0, made.stderr);
  const added = await tool(["service", "owner", "add", BOB, "--data", data, "--public-url", service.url]);
  t.equal(added.code, 0, added.stderr);
  await service.start();
  for (const [{ page, email }, output] of [
    [ann, made.stdout + made.stderr],
    [bob, added.stdout],
  ] as const) {
    await page.goto(/http\S+\/sign-in\/link\/\S+/.exec(output)![0]);
    await page.getByRole("button", { name: `Sign in as ${email}` }).click();
    await openAccount(page, service.url);
  }
  t.equal((await callFrom(ann.page, "add_team", { id: "night", name: "Night" }, "owner")).status, 200);
}

async function signedIn(t: Test, login: { ended: Promise<{ code: number | null; stdout: string; stderr: string }> }) {
  const ended = await login.ended;
  t.match(ended, { code: 0, stdout: `signed in to owner as ${ANN}\n` }, ended.stderr);
}

async function afterAsking(t: Test, { service, mailbox, ann }: Story): Promise<void> {
  const login = await ann.beginLogin(`--team owner --url ${service.url}`);
  await service.kill();
  await until("a remark", () => login.stderr().includes("; trying again\n"));
  await service.start();
  await typeCode(ann, (await mailbox.next(ANN)).link, login.code);
  await signedIn(t, login);
  t.match(login.stderr(), / does not answer: .+; trying again\n/, "it says why it waits");
  t.match(await ann.run("team"), { code: 0, stdout: /\n\* {2}owner {2}owner/ });
}

async function whileMailing(t: Test, { service, mailbox, ann }: Story): Promise<void> {
  const before = mailbox.mails.length;
  mailbox.hold();
  const login = await ann.beginLogin(`--team owner --url ${service.url}`);
  const { id, link } = await mailbox.next(ANN);
  await service.kill();
  mailbox.release();
  await service.start();
  await until("the mail again", () => mailbox.mails.length === before + 2);
  t.match(mailbox.mails[before + 1], { id, link }, "as mail servers know it, with the same link");
  await typeCode(ann, link, login.code);
  await signedIn(t, login);
  await service.crash();
  await sleep(500);
  t.equal(mailbox.mails.length, before + 2, "what was sent is not sent again");
}

async function beforePoll(t: Test, { service, mailbox, ann }: Story): Promise<void> {
  const login = await ann.beginLogin(`--team owner --url ${service.url}`);
  const { link } = await mailbox.next(ANN);
  login.kill("SIGSTOP");
  await typeCode(ann, link, login.code);
  await service.crash();
  login.kill("SIGCONT");
  await signedIn(t, login);
  t.match(await ann.run("team"), { code: 0, stdout: /\n\* {2}owner {2}owner/ }, "the token works");
}

async function whileWindowWaits(t: Test, story: Story): Promise<void> {
  const { service, mailbox, bob } = story;
  const { page } = bob;
  await page.getByRole("button", { name: "Sign out" }).click();
  await page.waitForURL(`${service.url}/sign-in`);
  await page.getByLabel("Email address").fill(BOB);
  await page.getByRole("button", { name: "Continue" }).click();
  await page.getByRole("heading", { name: "Check your mail" }).waitFor();
  const code = (await page.locator(".half").allInnerTexts()).join(" ");
  await service.crash();
  await typeCode(bob, (await mailbox.next(BOB)).link, code);
  await service.crash();
  await openAccount(page, service.url);
  t.match(await page.textContent("main"), `Signed in as ${BOB}.`);
  await service.crash();
  await page.reload();
  t.match(await page.textContent("main"), `Signed in as ${BOB}.`, "the session goes on");
}

/** Pauses in ms between a request and the end of the service: before, in and after the transaction of a change. */
const PAUSES_MS = [0, 1, 2, 4, 8, 20, 60];

/** How a person is in the team night, as ann sees it; undefined if not at all. Never more than once. */
async function stateOf(t: Test, { ann }: Story, email: string): Promise<string | undefined> {
  const { members } = JSON.parse((await callFrom(ann.page, "get_members", {}, "night")).text);
  const matches = members.filter((one: { email: string }) => one.email === email);
  t.ok(matches.length <= 1, "once at most");
  return matches[0]?.state;
}

async function whileAccepting(t: Test, story: Story): Promise<void> {
  const { service, mailbox, ann, bob } = story;
  for (const pauseMs of PAUSES_MS) {
    const invited = await callFrom(ann.page, "add_member", { email: BOB, role: "admin" }, "night");
    t.equal(invited.status, 200, invited.text);
    const { link } = await mailbox.next(BOB);
    await bob.page.goto(link);
    const sent = bob.page.waitForRequest((request) => request.method() === "POST");
    const joining = bob.page.getByRole("button", { name: "Join Night" }).click({ noWaitAfter: true });
    await sent;
    await sleep(pauseMs);
    await service.kill();
    await joining;
    await service.start();
    const state = await stateOf(t, story, BOB);
    const again = await bob.page.goto(link);
    if (state === "member") t.equal(again?.status(), 404, `${pauseMs} ms: he is in, and the invite is used`);
    else {
      t.same([state, again?.status()], ["invited", 200], `${pauseMs} ms: the invite is still open`);
      await bob.page.getByRole("button", { name: "Join Night" }).click();
      await openAccount(bob.page, service.url);
    }
    t.equal(await stateOf(t, story, BOB), "member");
    await bob.page.goto(`${service.url}/account`);
    t.match(await bob.page.textContent("main"), /Night\s+night\s+admin/);
    t.equal((await callFrom(ann.page, "remove_member", { email: BOB }, "night")).status, 200);
  }
}

async function whileRemoving(t: Test, story: Story): Promise<void> {
  const { service, ann, bob } = story;
  await service.kill();
  await endBudgets(story);
  await service.start();
  await ann.page.goto(`${service.url}/account`);
  await bob.page.goto(`${service.url}/account`);
  for (const pauseMs of PAUSES_MS) {
    await joinNight(t, story);
    const token = JSON.parse((await callFrom(bob.page, "add_ci_token", { name: "build" }, "night")).text).token;
    const sent = ann.page.waitForRequest(/remove_member/);
    const removing = callFrom(ann.page, "remove_member", { email: BOB, tokens: true }, "night").catch(() => undefined);
    await sent;
    await sleep(pauseMs);
    await service.kill();
    const answer = await removing;
    await service.start();
    const state = await stateOf(t, story, BOB);
    if (answer !== undefined) t.same([answer.status, state], [200, undefined], "what was acknowledged is done");
    const works = (await callWith(service.url, token)) === 200;
    t.equal(works, state === "member", `${pauseMs} ms: ${state ?? "removed"}, and so is his token`);
    if (state !== undefined) {
      const second = await callFrom(ann.page, "remove_member", { email: BOB, tokens: true }, "night");
      t.equal(second.status, 200, second.text);
    }
    t.equal(await callWith(service.url, token), 401);
    t.equal(await stateOf(t, story, BOB), undefined);
    t.equal((await callFrom(bob.page, "get_account", {}, "owner")).status, 200, "his other team stays");
  }
}

/** As an hour does: an address gets only so many invites, also over starts. */
async function endBudgets({ data }: Story): Promise<void> {
  const records = await openRecords(data);
  await records.db.deleteFrom("budgets").execute();
  await records.close();
}

async function joinNight(t: Test, { service, mailbox, ann, bob }: Story): Promise<void> {
  t.equal((await callFrom(ann.page, "add_member", { email: BOB, role: "admin" }, "night")).status, 200);
  await bob.page.goto((await mailbox.next(BOB)).link);
  await bob.page.getByRole("button", { name: "Join Night" }).click();
  await openAccount(bob.page, service.url);
}

async function callWith(url: string, token: string): Promise<number> {
  const headers = { "content-type": "application/json", authorization: `Bearer ${token}` };
  return (await fetch(`${url}/get_account`, { method: "POST", headers, body: "{}" })).status;
}

async function waitingCommand(t: Test, { service, mailbox, ann }: Story): Promise<void> {
  const before = ann.kept();
  const killed = await ann.beginLogin(`--team night --url ${service.url}`);
  const { link } = await mailbox.next(ANN);
  killed.kill("SIGKILL");
  await killed.ended;
  t.same(ann.kept(), before, "the file is as it was");
  await typeCode(ann, link, killed.code);
  const login = await ann.beginLogin(`--team night --url ${service.url}`);
  await typeCode(ann, (await mailbox.next(ANN)).link, login.code);
  t.match(await login.ended, { code: 0, stdout: `signed in to Night as ${ANN}\n` });
  t.same([ann.kept().team, Object.keys(ann.kept().teams)], ["night", ["owner", "night"]]);
}

async function writingCommand(t: Test, { ann }: Story): Promise<void> {
  const { teams } = ann.kept();
  const folder = dirname(ann.path);
  let whileThere = 0;
  for (let round = 0; round < 8; round++) {
    const wanted = round % 2 === 0 ? "owner" : "night";
    if (await killWhileWriting(ann, `team switch ${wanted}`, folder)) whileThere++;
    const kept = ann.kept();
    t.same(kept.teams, teams, "nothing is lost");
    t.ok(kept.team === "owner" || kept.team === "night");
    const next = await ann.run(`team switch ${wanted}`);
    t.match(next, { code: 0, stderr: "" }, "the next try works");
    t.equal(ann.kept().team, wanted);
    t.same(readdirSync(folder), ["config.json"], "and leaves nothing else");
  }
  t.ok(whileThere > 0, "the command was killed in the middle");
}

/** Kills a command as soon as it begins to change the folder. Returns whether it was killed before its end. */
async function killWhileWriting(who: Person, words: string, folder: string): Promise<boolean> {
  const running = who.spawn(words);
  const watcher = watch(folder, () => running.kill("SIGKILL"));
  const { signal } = await running.ended;
  watcher.close();
  return signal === "SIGKILL";
}
