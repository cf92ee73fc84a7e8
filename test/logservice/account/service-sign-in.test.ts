// Signing in, over real HTTP and SMTP: in a window, on the command line, by an invite, by a printed link, by OpenID.
import t from "tap";
import { openOidc } from "../../../logservice/account/oidc.ts";
import { linkIdentity, userOf } from "../../../logservice/records/people.ts";
import type { Role } from "../../../logservice/records/tables.ts";
import { CLIENT, type Json, startOwnProvider } from "../../support/oidc-provider/own.ts";
import { type Browser, codeOf, type Page } from "../../support/sign-in/browser.ts";
import { startMailServer } from "../../support/sign-in/mail-server.ts";
import {
  accountPageOf,
  askToSignIn,
  linkPartOf,
  ORIGIN,
  printedLink,
  SESSION,
  type SignInService,
  signInCommand,
  signInWindow,
  startSignInService,
  UI_TITLE,
} from "../../support/sign-in/start.ts";
import { statementsOf } from "../../support/sign-in/statements.ts";
import { until } from "../../support/until.ts";

const ANA = "ana@example.com";
/** One for all tests, as its key takes a while to make. Each test says what its person is like. */
const provider = await startOwnProvider(t);

/** The first words of a page that matter. */
const titleOf = ({ text }: Page) => (/<h1>([^<]*)<\/h1>/.exec(text) ?? /<title>([^<]*)<\/title>/.exec(text))?.[1];

/** Where a page is, below the service. */
const placeOf = ({ url }: Page) => url.replace(ORIGIN, "");

async function roleOf(at: SignInService, email: string, team = "owner"): Promise<Role | undefined> {
  const user = await userOf(at.service.records.db, email);
  if (user === undefined) return undefined;
  const row = at.service.records.db.selectFrom("memberships").select("role").where("user_id", "=", user.id);
  return (await row.where("team_id", "=", team).executeTakeFirst())?.role;
}

t.test("in a window, confirmed on a phone, and out again", async (t) => {
  const at = await startSignInService(t);
  await at.service.person(ANA, "admin");
  const window = at.browser();
  const form = await window.open(`${ORIGIN}/`);
  t.same([placeOf(form), titleOf(form)], ["/sign-in", "Sign in"]);
  const waiting = await window.submit(form, { email: "Ana@Example.com" });
  t.same([waiting.status, titleOf(waiting)], [200, "Check your mail"]);
  t.match(waiting.text, /<meta http-equiv="refresh" content="2">/, "the window looks again by itself");
  const code = codeOf(waiting);
  t.equal(codeOf(await window.open(waiting.url)), code, "and shows the same code");

  const mail = await at.mail.mailTo("Ana@example.com");
  t.equal(mail.subject, "Sign in to logs.example.com");
  t.match(mail.text, "Firefox on Linux at the network address 127.0.0.1 asked to sign in");
  t.ok(mail.link.startsWith(`${ORIGIN}/sign-in/confirm/`), mail.link);
  t.notMatch(mail.text.replaceAll(mail.link, ""), /\d{6}/, "the code is not in the mail");
  t.notOk(mail.raw.includes(`${code.slice(0, 3)} ${code.slice(3)}`));

  const phone = at.browser();
  const confirm = await phone.open(mail.link);
  t.match(confirm.text, /Firefox on Linux<\/strong> at <strong>127\.0\.0\.1<\/strong>/);
  const wrong = await phone.submit(confirm, { code: otherThan(code) });
  t.same([wrong.status, titleOf(wrong)], [400, "Did you ask to sign in?"]);
  t.match(wrong.text, "4 tries left");
  t.equal(codeOf(await window.open(waiting.url)), code, "a wrong code changes nothing for the window");
  const done = await phone.submit(wrong, { code: ` ${code.slice(0, 3)} ${code.slice(3)} ` });
  t.same([done.status, titleOf(done)], [200, "Signed in"]);
  t.notOk(phone.jar(ORIGIN).has(SESSION), "the phone is not signed in");

  const first = await window.open(waiting.url);
  t.same([placeOf(first), titleOf(first)], ["/", UI_TITLE]);
  const account = await accountPageOf(window);
  t.same([placeOf(account), titleOf(account)], ["/account", "Your account"]);
  t.match(account.text, /Signed in as <strong>ana@example\.com/);
  t.match(account.text, '<span class="id">owner</span>\n<span class="role">admin, current');
  t.equal(placeOf(await window.open(`${ORIGIN}/sign-in?next=/reference`)), "/reference", "no second sign-in");
  const called = await window.call(`${ORIGIN}/get_account`, {});
  t.match(JSON.parse(called.text).account, { kind: "session", email: ANA, team_id: "owner", role: "admin" });

  const cookie = window.jar(ORIGIN).get(SESSION)!;
  t.equal(placeOf(await window.submit(account)), "/sign-in", "signs out");
  t.notOk(window.jar(ORIGIN).has(SESSION));
  window.jar(ORIGIN).set(SESSION, cookie);
  t.equal(placeOf(await window.open(`${ORIGIN}/`)), "/sign-in", "the session has ended at the service");
  t.equal((await window.call(`${ORIGIN}/get_account`, {})).status, 401);
  t.end();
});

const otherThan = (code: string) => String((Number(code) + 1) % 1_000_000).padStart(6, "0");

t.test("in a window that wanted a page, and one that is denied", async (t) => {
  const at = await startSignInService(t);
  await at.service.person(ANA, "member");
  const window = at.browser();
  const waiting = await askToSignIn(window, ANA, "/sign-in?next=/reference%3Fa%3D1");
  const denied = at.browser();
  const other = await askToSignIn(denied, ANA);
  const [first, second] = [await at.mail.mailTo(ANA), await at.mail.mailTo(ANA, 2)];
  const phone = at.browser();
  const said = await phone.submit(await phone.open(second.link), { deny: "1" });
  t.equal(titleOf(said), "Denied");
  const over = await denied.open(other.url);
  t.same([over.status, titleOf(over)], [404, "This sign-in has ended"]);
  await phone.submit(await phone.open(first.link), { code: codeOf(waiting) });
  t.equal(placeOf(await window.open(waiting.url)), "/reference?a=1");
  t.end();
});

t.test("on the command line", async (t) => {
  const at = await startSignInService(t);
  await at.service.person(ANA, "owner");
  const started = await at.rpc("start_sign_in", { email: ANA, device: "laptop" });
  const { secret, code, ...rest } = started.json;
  t.match(rest, { interval: 2, mailed: true, expires_at: /^\d{4}-/ });
  t.match(code, /^\d{6}$/);
  const { text, link } = await at.mail.mailTo(ANA);
  t.match(text, "laptop at the network address");
  t.same((await at.rpc("poll_sign_in", { secret })).json, { status: "waiting" });

  const phone = at.browser();
  t.equal(titleOf(await phone.submit(await phone.open(link), { code })), "Signed in");
  const first = (await at.rpc("poll_sign_in", { secret })).json;
  t.match(first, { status: "confirmed", email: ANA, team_id: "owner", token: /^lgs_/ });
  t.same((await at.rpc("poll_sign_in", { secret })).json, first, "asked again, the same token");
  const { account } = (await at.rpc("get_account", {}, first.token)).json;
  t.match(account, { kind: "command", email: ANA, role: "owner" });
  const tokens = await at.service.records.db.selectFrom("tokens").selectAll().where("kind", "=", "command").execute();
  t.equal(tokens.length, 2, "one token, and the one that the test made");

  t.equal((await at.rpc("sign_out", {}, first.token)).status, 204);
  t.equal((await at.rpc("get_account", {}, first.token)).status, 401);
  t.same((await at.rpc("poll_sign_in", { secret })).json, { status: "ended" }, "a poll does not bring it back");
  t.end();
});

t.test("on the command line, confirmed by its operation", async (t) => {
  const at = await startSignInService(t);
  await at.service.person(ANA, "owner");
  const { token } = await signInCommand(at, ANA);
  t.match((await at.rpc("get_account", {}, token)).json.account, { email: ANA });
  t.end();
});

t.test("--team with an invite accepts it, and another team's id gives nothing", async (t) => {
  const at = await startSignInService(t);
  const owner = await at.service.person("owner@example.com", "owner");
  await at.service.person("other@example.com", "owner", "other");
  await at.rpc("add_member", { email: ANA, role: "admin" }, owner);
  await at.mail.mailTo(ANA);
  for (const [number, team_id] of [
    [2, "other"],
    [3, "owner"],
  ] as const) {
    const { secret, code } = (await at.rpc("start_sign_in", { email: ANA, team_id })).json;
    const { link } = await at.mail.mailTo(ANA, number);
    t.same((await at.rpc("confirm_sign_in", { link: linkPartOf(link), code })).json, { email: ANA });
    const polled = (await at.rpc("poll_sign_in", { secret })).json;
    if (team_id === "owner")
      t.match(polled, { team_id: "owner", token: String, teams: [{ id: "owner", role: "admin" }] });
    else t.same(polled, { status: "confirmed", email: ANA, teams: [] });
  }
  t.equal(await roleOf(at, ANA), "admin");
  t.end();
});

t.test("an invite that is mailed", async (t) => {
  const at = await startSignInService(t);
  const owner = await at.service.person("owner@example.com", "owner");
  const invited = await at.rpc("add_member", { email: ANA, role: "member" }, owner);
  t.match(invited.json, { mailed: true });
  t.notOk("link" in invited.json, "whoever invites cannot come in as the other");
  const { link, subject } = await at.mail.mailTo(ANA);
  t.equal(subject, 'An invitation to the team "First team" on logs.example.com');
  const window = at.browser();
  const page = await window.open(link);
  t.match(page.text, /<strong>owner@example\.com<\/strong> invites <strong>ana@example\.com/);
  const waiting = await window.submit(page);
  t.equal(titleOf(waiting), "Check your mail", "the link of an invite does not sign in");
  const mail = await at.mail.mailTo(ANA, 2);
  const phone = at.browser();
  await phone.submit(await phone.open(mail.link), { code: codeOf(waiting) });
  const back = await window.open(waiting.url);
  t.equal(titleOf(back), "Join a team");
  t.equal(await roleOf(at, ANA), undefined, "signed in, and not yet a member");
  t.equal(titleOf(await window.submit(back)), UI_TITLE);
  t.equal(await roleOf(at, ANA), "member");
  t.equal((await window.open(link)).status, 404, "the invite was used");
  t.end();
});

t.test("an invite that is handed over", async (t) => {
  const at = await startSignInService(t, { account: { mailer: undefined } });
  const owner = await at.service.person("owner@example.com", "owner");
  const { mailed, link } = (await at.rpc("add_member", { email: ANA, role: "admin" }, owner)).json;
  t.equal(mailed, false);
  const window = at.browser();
  await window.submit(await window.open(link));
  t.match((await accountPageOf(window)).text, /Signed in as <strong>ana@example\.com/);
  t.equal(await roleOf(at, ANA), "admin");
  const other = at.browser();
  t.equal((await other.open(link)).status, 404, "once");
  t.end();
});

t.test("a terminal, where no mails are sent, by the account page", async (t) => {
  const at = await startSignInService(t, { account: { mailer: undefined } });
  const owner = await at.service.person("owner@example.com", "owner");
  const other = await at.service.person("other@example.com", "owner", "other");
  const window = at.browser();
  const { link } = (await at.rpc("add_member", { email: ANA }, owner)).json;
  await window.submit(await window.open(link));
  const account = await accountPageOf(window);
  t.match(
    account.text,
    /<code>tool team login <span>--email ana@example\.com<\/span> <span>--url https:\/\/logs\.example\.com/,
  );
  const form = account.forms.find(({ action }) => action === "/account/confirm")!;
  const begin = async (more: object = {}) => (await at.rpc("start_sign_in", { email: ANA, ...more })).json;
  const poll = async ({ secret }: { secret: string }) => (await at.rpc("poll_sign_in", { secret })).json;

  const terminal = await begin();
  const stranger = (await at.rpc("start_sign_in", { email: "owner@example.com" })).json;
  const asking = await askToSignIn(at.browser(), ANA);
  for (const code of ["", "12345", stranger.code, codeOf(asking)]) {
    const refused = await window.submit(account, { code }, { form });
    t.equal(refused.status, 400, "an own terminal only, no window");
    t.match(refused.text, /role="alert"[^>]*>Nothing that waits to sign in as you shows this code/);
  }
  t.equal((await poll(terminal)).status, "waiting");
  const { code } = terminal;
  const forged = await window.submit(account, { code, form: "x" }, { form });
  t.equal(forged.status, 403);
  const signedIn = await window.submit(account, { code: `${code.slice(0, 3)} ${code.slice(3)}` }, { form });
  t.equal(titleOf(signedIn), "Signed in");
  const { token } = await poll(terminal);
  const roleIn = async () => (await at.rpc("get_account", {}, token)).json.account?.role;
  t.equal(await roleIn(), "member");

  // An invite into another team needs its own link: whoever invited this person may have kept the one that let it in.
  await at.rpc("add_member", { email: ANA, role: "admin" }, other);
  const elsewhere = await begin({ team_id: "other" });
  await window.submit(account, { code: elsewhere.code }, { form });
  t.same((await poll(elsewhere)).token, undefined);
  t.equal((await at.rpc("get_members", {}, other)).json.members.length, 2, "invited still");

  t.equal((await at.rpc("update_member", { email: ANA, role: "admin" }, owner)).status, 200);
  t.equal(await roleIn(), undefined, "a token of such a session ends when its person becomes more");
  t.equal((await window.open(`${ORIGIN}/`)).url, `${ORIGIN}/sign-in`);

  const mailed = await startSignInService(t);
  await mailed.service.person(ANA, "member");
  const { window: own } = await signInWindow(mailed, ANA);
  const page = await accountPageOf(own);
  t.ok(page.forms.some(({ action }) => action === "/sign-out"));
  t.notOk(page.forms.some(({ action }) => action === "/account/confirm"));
  const hidden = {
    form: mailed.service.records.seal.sign(`${own.jar(ORIGIN).get("__Host-tool_form")} /account/confirm`, "form"),
  };
  t.equal((await own.post(`${ORIGIN}/account/confirm`, { ...hidden, code: "123456" })).status, 403);
  t.end();
});

t.test("the first owner, by a link that the machine printed", async (t) => {
  const at = await startSignInService(t, { account: { mailer: undefined } });
  await at.service.person(ANA, "owner");
  const link = await printedLink(at, ANA);
  const window = at.browser();
  const page = await window.open(link);
  t.match(page.text, /Sign in as ana@example\.com/);
  t.notOk(window.jar(ORIGIN).has(SESSION), "looking signs nobody in");
  const first = await window.submit(page);
  t.same([placeOf(first), titleOf(first)], ["/", UI_TITLE]);
  t.match((await accountPageOf(window)).text, /Signed in as <strong>ana@example\.com/);
  const again = await at.browser().open(link);
  t.same([again.status, titleOf(again)], [404, "This link has expired"]);
  t.end();
});

const SIGN_UPS = [
  ["closed", { kind: "closed" }, "eve@example.com", false],
  ["a domain", { kind: "domain", domain: "example.com" }, "eve@example.com", true],
  ["another domain", { kind: "domain", domain: "example.com" }, "eve@example.com.evil.com", false],
  ["a part of the domain", { kind: "domain", domain: "example.com" }, "eve@notexample.com", false],
  ["a domain below it", { kind: "domain", domain: "example.com" }, "eve@a.example.com", false],
  ["open", { kind: "open" }, "eve@anywhere.org", true],
] as const;

for (const [name, signUp, email, isLetIn] of SIGN_UPS) {
  t.test(`sign-up, ${name}: ${email}`, async (t) => {
    const at = await startSignInService(t, { account: { signUp } });
    await at.service.person(ANA, "owner");
    const { secret } = (await at.rpc("start_sign_in", { email })).json;
    // Mails are sent in the order of the requests.
    await at.rpc("start_sign_in", { email: ANA });
    await at.mail.mailTo(ANA);
    await until("the end of the queue", () => noneWaits(at));
    t.equal(at.mail.mails.filter(({ to }) => to === email).length, isLetIn ? 1 : 0);
    t.same((await at.rpc("poll_sign_in", { secret })).json, { status: "waiting" }, "whoever asks does not learn it");
    if (isLetIn) {
      const { window } = await signInWindow(at, email);
      t.match((await accountPageOf(window)).text, "You belong to no team yet");
    }
    t.end();
  });
}

async function noneWaits({ service }: SignInService): Promise<boolean> {
  const rows = await service.records.db.selectFrom("sign_ins").selectAll().where("mailed_at", "is", null).execute();
  return rows.length === 0;
}

t.test("whoever was removed from the last team is a stranger again", async (t) => {
  const at = await startWithProvider(t, ["example.com"], { email: ANA });
  const owner = await at.service.person("owner@example.com", "owner");
  await at.service.person(ANA, "member");
  t.equal(titleOf(await signInAtProvider(at.browser())), "Your account");
  t.equal((await at.rpc("remove_member", { email: ANA }, owner)).status, 200);
  await at.rpc("start_sign_in", { email: ANA });
  await at.rpc("start_sign_in", { email: "owner@example.com" });
  await at.mail.mailTo("owner@example.com");
  await until("the end of the queue", () => noneWaits(at));
  t.equal(at.mail.mails.filter(({ to }) => to === ANA).length, 0);
  t.equal((await signInAtProvider(at.browser())).status, 403, "by OpenID, too");
  await at.rpc("add_member", { email: ANA }, owner);
  t.equal(titleOf(await signInAtProvider(at.browser())), "Your account", "until the next invite");
  t.end();
});

t.test("known, invited and unknown addresses get the same answer from the same statements", async (t) => {
  const at = await startSignInService(t);
  const owner = await at.service.person("owner@example.com", "owner");
  await at.service.person(ANA, "member");
  await at.rpc("add_member", { email: "invited@example.com" }, owner);
  await at.mail.mailTo("invited@example.com");
  const statements = statementsOf(at.service.records);
  const shapes: unknown[] = [];
  for (const email of [ANA, "invited@example.com", "unknown@example.com"]) {
    await until("the end of the queue", () => noneWaits(at));
    statements.length = 0;
    const { status, headers, json } = await at.rpc("start_sign_in", { email });
    const window = at.browser();
    const page = await askToSignIn(window, email);
    await until("the end of the queue", () => noneWaits(at));
    const names = Object.keys(headers).sort();
    shapes.push({
      status,
      names,
      json: { ...json, secret: json.secret.length, code: json.code.length, expires_at: "" },
      page: [page.status, titleOf(page), page.text.length - email.length, Object.keys(page.headers).sort()],
      cookies: window.setCookies.map((line) => line.replace(/=[^;]*/, "")),
      // How many requests the queue has taken together depends on time, and so does the look at what other processes accepted.
      statements: [...new Set(statements.filter((sql) => !sql.includes('"accepted_losses"')))].sort(),
    });
  }
  t.same(shapes[1], shapes[0], "invited");
  t.same(shapes[2], shapes[0], "unknown");
  t.equal(at.mail.mails.filter(({ to }) => to === "unknown@example.com").length, 0);
  t.end();
});

t.test("mails that were not sent when the service ended are sent after the next start", async (t) => {
  const away = await startMailServer(t);
  await away.stop();
  const before = await startSignInService(t, { mail: away });
  const owner = await before.service.person(ANA, "owner");
  const { secret, code } = (await before.rpc("start_sign_in", { email: ANA })).json;
  await before.rpc("add_member", { email: "new@example.com" }, owner);
  await until("a failure", () => before.service.logged.length > 0);
  await before.service.stop();
  const [failure] = before.service.logged;
  t.match(
    failure,
    /^a mail could not be sent; trying again: MailFailure: the SMTP server 127\.0\.0\.1:\d+ could not take the message/,
  );

  const at = await startSignInService(t, { directory: before.service.directory });
  const { link } = await at.mail.mailTo(ANA);
  await at.mail.mailTo("new@example.com");
  await at.rpc("confirm_sign_in", { link: linkPartOf(link), code });
  t.match((await at.rpc("poll_sign_in", { secret })).json, { status: "confirmed" });
  for (const logged of [before, at].flatMap(({ service }) => service.logged))
    for (const text of [linkPartOf(link), code, secret]) t.notOk(logged.includes(text), "the log has no secret");
  await at.service.stop();

  const third = await startSignInService(t, { directory: before.service.directory });
  await third.rpc("start_sign_in", { email: ANA });
  await third.mail.mailTo(ANA);
  t.same(
    third.mail.mails.map(({ to }) => to),
    [ANA],
    "nothing is sent twice",
  );
  t.end();
});

t.test("mails are sent although the records could not be read for a moment", async (t) => {
  const at = await startSignInService(t);
  await at.service.person(ANA, "owner");
  const statements = statementsOf(at.service.records, (sql, before) => {
    const isFirst = !before.some((one) => one.includes('"mailed_at" is null'));
    if (isFirst && sql.includes('"mailed_at" is null')) throw Object.assign(new Error("busy"), { code: "SQLITE_BUSY" });
  });
  await at.rpc("start_sign_in", { email: ANA });
  await at.mail.mailTo(ANA);
  t.match(at.service.logged, [/^mails could not be sent; trying again: Error: busy/]);
  t.ok(statements.length > 0);
  t.end();
});

t.test("a mail that the server refuses for now is sent later, and does not stop others", async (t) => {
  let isRefusing = true;
  const refuse = (to: string) => (isRefusing && to === ANA ? "try later" : undefined);
  const at = await startSignInService(t, { mail: await startMailServer(t, { refuse }) });
  await at.service.person(ANA, "owner");
  await at.service.person("bo@example.com", "member");
  await at.rpc("start_sign_in", { email: ANA });
  await until("a failure", () => at.service.logged.length > 0);
  t.match(at.service.logged[0], "refused the recipient: 451 try later");
  await at.rpc("start_sign_in", { email: "bo@example.com" });
  await at.mail.mailTo("bo@example.com");
  t.equal(at.mail.mails.length, 1);
  isRefusing = false;
  await at.mail.mailTo(ANA);
  t.end();
});

t.test("a recipient whose server does not answer holds up no other mail", async (t) => {
  const refuse = (to: string) => (to.startsWith("slow") ? new Promise<undefined>(() => {}) : undefined);
  const at = await startSignInService(t, { mail: await startMailServer(t, { refuse }) });
  const slow = [1, 2, 3].map((number) => `slow${number}@example.com`);
  for (const email of [ANA, ...slow]) await at.service.person(email, "member");
  for (const email of slow) await at.rpc("start_sign_in", { email });
  await until("the mails are on their way", () => at.mail.connections() === slow.length);
  await at.rpc("start_sign_in", { email: ANA });
  await at.mail.mailTo(ANA);
  t.same(at.service.logged, [], "before the others fail");
  t.end();
});

/** A service with a provider of OpenID, whose person has these claims. */
async function startWithProvider(t: Test, domains: readonly string[] = [], claims: Json = {}) {
  provider.fault = { claims: (defaults) => ({ ...defaults, ...claims }) };
  const oidc = (redirectUrl: string) => ({
    oidc: openOidc({ issuer: provider.issuer, ...CLIENT, redirectUrl }),
    name: "Example",
    domains,
  });
  return startSignInService(t, { account: { oidc } });
}

type Test = Parameters<typeof startSignInService>[0];

/** A person goes to the provider and comes back. */
async function signInAtProvider(window: Browser, path = "/sign-in?next=/account"): Promise<Page> {
  const page = await window.open(`${ORIGIN}${path}`);
  const form = page.forms.find(({ action }) => action === "/sign-in/oidc")!;
  const leaving = await window.submit(page, {}, { form });
  const url = /<a href="([^"]+)">Go on now/.exec(leaving.text)?.[1]?.replaceAll("&amp;", "&");
  if (leaving.status !== 200 || url === undefined) throw new Error(leaving.text);
  return window.open(provider.callback(url).href, { headers: { "sec-fetch-site": "cross-site" } });
}

const PERSON = "person@example.com";

t.test("OpenID: an invited person comes in, again and again", async (t) => {
  const at = await startWithProvider(t);
  const owner = await at.service.person("owner@example.com", "owner");
  await at.rpc("add_member", { email: PERSON }, owner);
  const { link } = await at.mail.mailTo(PERSON);
  const window = at.browser();
  const page = await signInAtProvider(window, `/sign-in?next=${new URL(link).pathname}`);
  t.equal(titleOf(page), "Join a team");
  t.equal(titleOf(await window.submit(page)), UI_TITLE);
  t.equal(await roleOf(at, PERSON), "member");
  provider.fault = { claims: (claims) => ({ ...claims, email: "changed@example.com", email_verified: false }) };
  const again = await signInAtProvider(at.browser());
  t.match(again.text, /Signed in as <strong>person@example\.com/, "by issuer and subject, whatever the address is now");
  t.end();
});

t.test("OpenID: a known person confirms it by mail once", async (t) => {
  const at = await startWithProvider(t);
  await at.service.person(PERSON, "member");
  const window = at.browser();
  const waiting = await signInAtProvider(window);
  t.equal(titleOf(waiting), "Check your mail");
  t.notOk(window.jar(ORIGIN).has(SESSION));
  const { link } = await at.mail.mailTo(PERSON);
  const phone = at.browser();
  await phone.submit(await phone.open(link), { code: codeOf(waiting) });
  t.match((await window.open(waiting.url)).text, /Signed in as <strong>person@example\.com/);
  const again = await signInAtProvider(at.browser());
  t.equal(titleOf(again), "Your account");
  t.equal(at.mail.mails.length, 1);
  t.end();
});

t.test("OpenID: a domain whose addresses the provider gives out", async (t) => {
  const at = await startWithProvider(t, ["example.com"], { email: "Person@EXAMPLE.com" });
  await at.service.person(PERSON, "member");
  t.match((await signInAtProvider(at.browser())).text, /Signed in as <strong>person@example\.com/);
  t.equal(at.mail.mails.length, 0);
  t.end();
});

t.test("OpenID: the same address at another issuer, and the same subject, are not the same person", async (t) => {
  const at = await startWithProvider(t, [], { email: "bo@example.com" });
  await at.service.person(PERSON, "owner");
  await at.service.person("bo@example.com", "member");
  const { db } = at.service.records;
  const [person, bo] = [await userOf(db, PERSON), await userOf(db, "bo@example.com")];
  const now = new Date().toISOString();
  await linkIdentity(db, person!.id, { issuer: "https://login.example.org", subject: "subject" }, now);
  await linkIdentity(db, bo!.id, { issuer: "https://login.example.org", subject: "bo" }, now);
  t.equal(titleOf(await signInAtProvider(at.browser())), "Check your mail");
  t.end();
});

const REFUSED: readonly (readonly [name: string, claims: Json, status: number, text: RegExp])[] = [
  [
    "one that nobody invited",
    {},
    403,
    /Your address person@example\.com is not invited here: ask an admin of your team\./,
  ],
  ["an address that is not verified", { email_verified: false }, 403, /has not verified your email address/],
  ["no address", { email: undefined }, 403, /gave no email address|has not verified/],
  ["what is no address", { email: "person@127.0.0.1" }, 403, /gave no email address/],
];

for (const [name, claims, status, text] of REFUSED) {
  t.test(`OpenID: ${name} is refused`, async (t) => {
    const at = await startWithProvider(t, ["example.com"], claims);
    if (name !== REFUSED[0]![0]) await at.service.person(PERSON, "member");
    if (name === "no address") provider.fault = { ...provider.fault, userinfo: ({ sub }) => ({ sub }) };
    const window = at.browser();
    const page = await signInAtProvider(window);
    t.equal(page.status, status);
    t.match(page.text, text);
    t.notOk(window.jar(ORIGIN).has(SESSION));
    t.equal(at.mail.mails.length, 0);
    t.end();
  });
}

t.test("OpenID: a callback in another browser, and one that comes twice", async (t) => {
  const at = await startWithProvider(t, ["example.com"]);
  await at.service.person(PERSON, "member");
  let callback = "";
  const window = at.browser();
  const page = await window.open(`${ORIGIN}/sign-in`);
  const leaving = await window.submit(page, {}, { form: page.forms[1]! });
  callback = provider.callback(/<a href="([^"]+)">Go on/.exec(leaving.text)![1]!.replaceAll("&amp;", "&")).href;
  const other = at.browser();
  const refused = await other.open(callback);
  t.equal(refused.status, 400);
  t.match(refused.text, "was begun in another browser, or too long ago");
  t.notOk(other.jar(ORIGIN).has(SESSION));
  t.equal(titleOf(await window.open(callback)), UI_TITLE);
  t.equal((await window.open(callback)).status, 400, "once");
  t.end();
});

t.test("the audit has wrong codes in one line, joining by the address, and signing out", async (t) => {
  const at = await startSignInService(t);
  const owner = await at.service.person("owner@example.com", "owner");
  await at.rpc("add_member", { email: ANA, role: "admin" }, owner);
  await at.mail.mailTo(ANA);
  const { code, secret } = (await at.rpc("start_sign_in", { email: ANA, team_id: "owner" })).json;
  const link = linkPartOf((await at.mail.mailTo(ANA, 2)).link);
  for (const wrong of ["1", "22", "333"]) await at.rpc("confirm_sign_in", { link, code: wrong });
  t.equal((await at.rpc("confirm_sign_in", { link, code })).status, 200);
  const { token } = (await at.rpc("poll_sign_in", { secret })).json;
  // From here on she is of the team, whose audit has what happens.
  const second = (await at.rpc("start_sign_in", { email: ANA })).json;
  const other = linkPartOf((await at.mail.mailTo(ANA, 3)).link);
  for (const wrong of ["1", "22"]) await at.rpc("confirm_sign_in", { link: other, code: wrong });
  t.equal((await at.rpc("confirm_sign_in", { link: other, code: second.code })).status, 200);
  t.equal((await at.rpc("sign_out", {}, token)).status, 204);
  const { window } = await signInWindow(at, ANA);
  await window.submit(await accountPageOf(window));
  const rows = await at.service.records.db
    .selectFrom("audit")
    .select(["team_id", "actor", "operation", "result", "detail"])
    .where("actor", "=", ANA)
    .orderBy("at")
    .orderBy("id")
    .execute();
  t.same(rows.map(({ team_id, operation, result, detail }) => [team_id, operation, result, detail].join(" ")).sort(), [
    " confirm_sign_in unauthorized 3 wrong codes",
    "owner accept_invite done admin",
    "owner confirm_sign_in done ",
    "owner confirm_sign_in done ",
    "owner confirm_sign_in done ",
    "owner confirm_sign_in unauthorized 2 wrong codes",
    "owner sign_out done ",
    "owner sign_out done ",
  ]);
  t.end();
});
