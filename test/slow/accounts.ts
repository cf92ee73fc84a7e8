// What two people, two teams and a CI do with a log service, with everything real: the command, the service in a process of
// its own, a mail server, and Chromium. Each step begins with what the one before it left.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Browser, chromium } from "playwright-core";
import t, { type Test } from "tap";
import { tool, until } from "../support/cli.ts";
import { type Mailbox, startMailbox } from "../support/mailbox.ts";
import { type Person, personAt, picture, shownCode, transcript, typeCode } from "../support/person.ts";
import { requires } from "../support/require.ts";
import { type ServiceProcess, serviceProcess } from "../support/service-process.ts";
import { openTerminal } from "../support/terminal.ts";

const ANN = "ann@example.com";
const BOB = "bob@example.com";
const BOTH = ["light", "dark"] as const;

interface Story {
  readonly folder: string;
  readonly data: string;
  readonly browser: Browser;
  readonly mailbox: Mailbox;
  readonly service: ServiceProcess;
  readonly ann: Person;
  readonly bob: Person;
}

t.test("two people, two teams and a CI", { skip: requires("chromium"), timeout: 240_000 }, async (t) => {
  const story = await begin(t);
  const steps: Readonly<Record<string, (t: Test, story: Story) => Promise<void>>> = {
    "the first owner comes in by the link that init prints": firstOwner,
    "ann signs in on a terminal, adds a team and switches": terminalOfAnn,
    "bob is invited, accepts in the browser, and signs in on his terminal": invitedBob,
  };
  for (const [name, step] of Object.entries(steps)) await t.test(name, (t) => step(t, story));
});

async function begin(t: Test): Promise<Story> {
  const folder = mkdtempSync(join(tmpdir(), "tool-accounts-"));
  t.teardown(() => rmSync(folder, { recursive: true, force: true, maxRetries: 5 }));
  const data = join(folder, "data");
  const browser = await chromium.launch({
    executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium",
    args: ["--no-sandbox", "--disable-gpu", "--disable-quic", "--disable-background-networking", "--disable-sync"],
  });
  t.teardown(() => browser.close());
  const mailbox = await startMailbox(t);
  const service = await serviceProcess(t, { data, smtp: mailbox.url });
  const [ann, bob] = [await personAt(t, browser, ANN), await personAt(t, browser, BOB)];
  return { folder, data, browser, mailbox, service, ann, bob };
}

async function firstOwner(t: Test, { data, service, ann }: Story): Promise<void> {
  const made = await tool(["service", "init", "--data", data, "--owner", ANN, "--public-url", service.url]);
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
  await page.waitForURL(`${service.url}/`);
  t.match(await page.textContent("main"), /Signed in as ann@example\.com\.[\s\S]*First team\s+owner\s+owner/);
  t.same(await picture(page, "account", BOTH), []);

  const again = await ann.context.newPage();
  await again.goto(link);
  t.match(await again.textContent("main"), "This link has ended or was used: ask for a new one.");
  t.same(await picture(again, "used-link"), []);
  await again.close();
}

async function terminalOfAnn(t: Test, { service, mailbox, ann }: Story): Promise<void> {
  const { url } = service;
  const options = { env: ann.env, cwd: ann.env.HOME! };
  const login = openTerminal(t, ["team", "login", "--email", ANN, "--url", url], options);
  const code = await until("the code", () => shownCode(login.text()));
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
  t.match(signedIn, { code: 0, text: /signed in to First team as ann@example\.com\r\n$/ });
  t.match(ann.kept(), { team: "owner", teams: { owner: { email: ANN, url } } });
  transcript("login", signedIn.text);

  const status = await ann.run("team status");
  const rows = `   TEAM   ROLE   EMAIL            SERVICE\n*  owner  owner  ${ANN}  ${url}\n`;
  t.same([status.code, status.stdout, status.stderr], [0, rows, ""]);

  const added = openTerminal(t, ["team", "add", "Night Shift", "--id", "night"], options);
  const second = await until("the code of the second sign-in", () => shownCode(added.text()));
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
  await ann.page.reload();
  t.match(await ann.page.textContent("main"), /First team\s+owner\s+owner\s+Night Shift\s+night\s+owner/);
  t.same(await picture(ann.page, "two-teams", BOTH), []);
}

async function invitedBob(t: Test, { service, mailbox, ann, bob }: Story): Promise<void> {
  const { url } = service;
  const invited = await ann.run(`team members add ${BOB} --role admin`);
  t.match(invited, {
    code: 0,
    stdout: "",
    stderr:
      /^invited bob@example\.com to owner as admin, until 20\d\d-\d\d-\d\d\na mail with the link is on its way\n$/,
  });
  const invite = await mailbox.next(BOB);
  t.match(invite.subject, "First team");
  t.match(invite.text, ANN);

  // He asks to sign in in one window, and types its code in another one.
  const { page } = bob;
  await page.goto(invite.link);
  t.match(await page.textContent("main"), `${ANN} invites ${BOB} to the team First team as admin.`);
  t.same(await picture(page, "invite", BOTH), []);
  await page.getByRole("button", { name: `Sign in as ${BOB} to join` }).click();
  await page.getByRole("heading", { name: "Check your mail" }).waitFor();
  t.same(await picture(page, "wait", BOTH), []);
  const code = (await page.locator(".half").allInnerTexts()).join(" ");
  await typeCode(bob, (await mailbox.next(BOB)).link, code);
  await page.waitForURL(invite.link, { timeout: 20_000 });
  t.notMatch(await page.textContent("main"), "Sign in as", "the window goes on by itself");
  t.same(await picture(page, "invite-signed-in"), []);
  await page.getByRole("button", { name: "Join First team" }).click();
  await page.waitForURL(`${url}/`);
  t.match(await page.textContent("main"), /Signed in as bob@example\.com\.[\s\S]*First team\s+owner\s+admin, current/);
  t.same(await picture(page, "joined"), []);

  // An invite of another address.
  const other = await ann.context.newPage();
  const used = await other.goto(invite.link);
  t.equal(used?.status(), 404);
  t.same(await picture(other, "used-invite"), []);
  await other.close();

  const login = await bob.beginLogin(`--team owner --url ${url}`);
  await typeCode(bob, (await mailbox.next(BOB)).link, login.code);
  t.match(await login.ended, { code: 0, stdout: `signed in to First team as ${BOB}\n` });
  t.match(bob.kept(), { team: "owner", teams: { owner: { team: "owner", email: BOB, url } } });
  t.match((await bob.run("team members ls")).stdout.replace(/ {2,}/g, "|"), `${ANN}|owner|since `);

  const night = await bob.beginLogin(`--team night --url ${url}`);
  await typeCode(bob, (await mailbox.next(BOB)).link, night.code);
  t.match(await night.ended, {
    code: 1,
    stderr: /\nerror: bob@example\.com is not in the team "night", but in owner\n {2}tool team login .* --team owner/,
  });
}
