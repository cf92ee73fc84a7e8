// Signing in under attack: guessed codes, links that others open, replays, races, floods, absurd input; and when it ends.
import { randomBytes } from "node:crypto";
import t from "tap";
import { readNetworks } from "../../../logservice/access/client-address.ts";
import { type Browser, codeOf } from "../../support/sign-in/browser.ts";
import { snapshotOf } from "../../support/sign-in/snapshot.ts";
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
} from "../../support/sign-in/start.ts";
import { statementsOf } from "../../support/sign-in/statements.ts";
import { until } from "../../support/until.ts";

const ANA = "ana@example.com";
const OWNER = "owner@example.com";

const [MINUTE_MS, HOUR_MS] = [60_000, 3_600_000];
const DAY_MS = 24 * HOUR_MS;

const sessionsOf = ({ service }: SignInService) => service.records.db.selectFrom("sessions").selectAll().execute();
const commandTokensOf = ({ service }: SignInService) =>
  service.records.db.selectFrom("tokens").selectAll().where("kind", "=", "command").execute();

/** How often each value is there. */
function tally(values: readonly (string | number)[]): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const value of values) counts[value] = (counts[value] ?? 0) + 1;
  return counts;
}

const together = <T>(times: number, ask: (number: number) => Promise<T>): Promise<T[]> =>
  Promise.all(Array.from({ length: times }, (_, number) => ask(number)));

t.test("programs that open links change nothing", async (t) => {
  const at = await startSignInService(t);
  const owner = await at.service.person(OWNER, "owner");
  await at.service.person(ANA, "member");
  const window = at.browser();
  const waiting = await askToSignIn(window, ANA);
  await at.rpc("add_member", { email: "new@example.com" }, owner);
  const links = [
    (await at.mail.mailTo(ANA)).link,
    (await at.mail.mailTo("new@example.com")).link,
    await printedLink(at, ANA),
  ];
  const before = await snapshotOf(at.service.records);
  const scanner = at.browser({ userAgent: "LinkScanner/1.0" });
  for (const link of links) {
    for (const method of ["GET", "HEAD", "GET", "OPTIONS", "PUT"]) {
      const { status } = await scanner.open(link, { method });
      t.equal(status, method === "GET" || method === "HEAD" ? 200 : 405, `${method} ${link}`);
    }
    t.equal((await scanner.open(`${link}/`, {})).status, 200);
    t.equal((await scanner.open(`${link}?utm_source=mail`)).status, 200);
  }
  t.same(await snapshotOf(at.service.records), before);
  const phone = at.browser();
  t.equal(
    (await phone.submit(await phone.open(links[0]!), { code: codeOf(waiting) })).status,
    200,
    "and it still works",
  );
  t.end();
});

t.test("the click of the person whom an attacker wants to be", async (t) => {
  const at = await startSignInService(t);
  await at.service.person(ANA, "member");
  const attacker = at.browser();
  const waiting = await askToSignIn(attacker, ANA);
  const { link } = await at.mail.mailTo(ANA);
  const ana = at.browser();
  const page = await ana.open(link);
  t.equal((await ana.submit(page)).status, 400, "without a code");
  t.equal((await ana.submit(page, { code: "" })).status, 400);
  t.equal((await at.rpc("confirm_sign_in", { link: linkPartOf(link) })).status, 400);
  t.equal((await attacker.open(waiting.url)).status, 200);
  t.notOk(attacker.jar(ORIGIN).has(SESSION));
  t.same(await sessionsOf(at), []);
  t.end();
});

t.test("codes are guessed: five tries, over the page and the operation together", async (t) => {
  const at = await startSignInService(t);
  await at.service.person(ANA, "member");
  const { secret, code } = (await at.rpc("start_sign_in", { email: ANA })).json;
  const { link } = await at.mail.mailTo(ANA);
  const guesser = at.browser();
  const page = await guesser.open(link);
  const guesses: string[] = [];
  for (let guess = 0; guesses.length < 370; guess++) {
    const text = String(guess).padStart(6, "0");
    if (text !== code) guesses.push(text);
  }
  const statuses: (string | number)[] = [];
  for (let first = 0; first < guesses.length; first += 37) {
    const some = guesses.slice(first, first + 37);
    const answers = await Promise.all(
      some.map((guess, number) =>
        number % 2 === 0
          ? guesser
              .submit(page, { code: guess })
              .then(({ text }) => /another code|last try|has expired/.exec(text)?.[0] ?? text)
          : at
              .rpc("confirm_sign_in", { link: linkPartOf(link), code: guess })
              .then(({ json }) => /another one|last try|has expired/.exec(json.message)?.[0] ?? json),
      ),
    );
    statuses.push(...answers);
  }
  const { "has expired": ended = 0, ...tries } = tally(statuses);
  t.ok(ended >= 365, `${statuses.length - ended} guesses were looked at`, { tries });
  const left = await at.service.records.db.selectFrom("sign_ins").select(["tries_left", "status"]).execute();
  t.same(left, [{ tries_left: 0, status: "waiting" }]);
  t.equal((await at.rpc("confirm_sign_in", { link: linkPartOf(link), code })).status, 404, "the right one is too late");
  t.equal((await guesser.submit(page, { code })).status, 404);
  t.same((await at.rpc("poll_sign_in", { secret })).json, { status: "ended" });
  t.equal((await commandTokensOf(at)).length, 1, "only the token that the test made");
  t.end();
});

t.test("the last try may be the right one, in any writing of its digits", async (t) => {
  const at = await startSignInService(t);
  await at.service.person(ANA, "member");
  const { code } = (await at.rpc("start_sign_in", { email: ANA })).json;
  const link = linkPartOf((await at.mail.mailTo(ANA)).link);
  const wrong = ["1", `${code}0`, `${code},${code}`, code.replace(/^\d/, "o")];
  for (const guess of wrong) t.equal((await at.rpc("confirm_sign_in", { link, code: guess })).status, 400, guess);
  t.equal((await at.rpc("confirm_sign_in", { link, code: `\t${code.slice(0, 3)} ${code.slice(3)}` })).status, 200);
  t.end();
});

t.test("links are made up or used for another purpose", async (t) => {
  const at = await startSignInService(t);
  const owner = await at.service.person(OWNER, "owner");
  await at.service.person(ANA, "member");
  const { code } = (await at.rpc("start_sign_in", { email: ANA })).json;
  const mailed = linkPartOf((await at.mail.mailTo(ANA)).link);
  await at.rpc("add_member", { email: "new@example.com" }, owner);
  const invite = linkPartOf((await at.mail.mailTo("new@example.com")).link);
  const printed = linkPartOf(await printedLink(at, ANA));
  const [id, signature] = mailed.split(".");
  const made = [
    ...[invite, printed, id!, `${id}.`, `.${signature}`, `${id}.${signature!.slice(0, -1)}`, `${mailed}x`],
    ...[mailed.toUpperCase(), `${id}.${randomBytes(32).toString("base64url")}`, "%00", "%zz", "%", "..", "a%2fb"],
    ...["%F0%28%8C%28", "__proto__", "constructor", "x".repeat(8000), `${mailed}%0d%0aSet-Cookie:a=b`],
  ];
  const browser = at.browser();
  for (const link of made) {
    const { status } = await browser.open(`${ORIGIN}/sign-in/confirm/${link}`);
    t.ok(status === 404 || (link === ".." && status === 200), `${link.slice(0, 50)}: ${status}`);
    const called = await at.rpc("confirm_sign_in", { link, code });
    t.ok([400, 404].includes(called.status), `${link.slice(0, 50)}: ${called.text}`);
  }
  for (const link of [mailed, invite, "%zz"])
    t.equal((await browser.open(`${ORIGIN}/sign-in/link/${link}`)).status, 404, "no printed link");
  for (const link of [mailed, printed, "%zz"])
    t.equal((await browser.open(`${ORIGIN}/accept/${link}`)).status, 404, "no invite");
  t.same(await sessionsOf(at), []);
  t.same(at.service.logged, [], "no failure of the service");
  t.end();
});

t.test("what was used is of no use again", async (t) => {
  const at = await startSignInService(t);
  await at.service.person(ANA, "member");
  await at.service.person(OWNER, "owner");
  const window = at.browser();
  const waiting = await askToSignIn(window, ANA);
  const cookie = window.jar(ORIGIN).get("__Host-tool_window")!;
  const other = await askToSignIn(at.browser(), OWNER);
  const code = codeOf(waiting);
  const { link } = await at.mail.mailTo(ANA);
  const phone = at.browser();
  const page = await phone.open(link);
  await phone.submit(page, { code });
  await window.open(waiting.url);
  const account = await accountPageOf(window);
  t.equal((await phone.open(link)).status, 404, "the link");
  t.equal((await phone.submit(page, { code })).status, 404, "the form with its code");
  t.equal((await phone.submit(page, { deny: "1" })).status, 404, "and its other button");
  const owners = await at.mail.mailTo(OWNER);
  const same = code === codeOf(other);
  t.equal((await phone.submit(await phone.open(owners.link), { code })).status, same ? 200 : 400, "the code elsewhere");
  const thief = at.browser();
  thief.jar(ORIGIN).set("__Host-tool_window", cookie);
  t.equal((await thief.open(waiting.url)).status, 404, "the cookie of the window that waited");
  t.notOk(thief.jar(ORIGIN).has(SESSION));
  const form = account.forms[0]!;
  await window.submit(account);
  t.equal((await window.submit(account, {}, { form })).status, 403, "the form of the session that has ended");
  t.equal((await sessionsOf(at)).length, 0);
  t.end();
});

t.test("one that is confirmed ends the others of its address", async (t) => {
  const at = await startSignInService(t);
  await at.service.person(ANA, "member");
  const started = [];
  for (let number = 0; number < 3; number++) started.push((await at.rpc("start_sign_in", { email: ANA })).json);
  await at.mail.mailTo(ANA, 3);
  const links = at.mail.mails.map(({ link }) => link);
  const phone = at.browser();
  const { code } = started[1];
  // Mails are sent at once, in any order.
  for (const link of links) {
    const page = await phone.open(link);
    if (page.status === 200) await phone.submit(page, { code });
  }
  const polled = [];
  for (const { secret } of started) polled.push((await at.rpc("poll_sign_in", { secret })).json.status);
  t.same(polled, ["ended", "confirmed", "ended"]);
  t.end();
});

t.test("too late", async (t) => {
  let nowMs = Date.now();
  const at = await startSignInService(t, { nowMs: () => nowMs });
  const owner = await at.service.person(OWNER, "owner");
  await at.service.person(ANA, "member");
  const window = at.browser();
  const waiting = await askToSignIn(window, ANA);
  const { secret, code } = (await at.rpc("start_sign_in", { email: ANA })).json;
  await at.rpc("add_member", { email: "new@example.com" }, owner);
  const invite = (await at.mail.mailTo("new@example.com")).link;
  await at.mail.mailTo(ANA, 2);
  const links = at.mail.mails.filter(({ to }) => to === ANA).map(({ link }) => link);
  const printed = await printedLink(at, ANA);
  const phone = at.browser();
  const forms = [];
  for (const link of links) forms.push(await phone.open(link));
  const oldPage = await phone.open(printed);

  nowMs += 15 * MINUTE_MS;
  for (const form of forms) t.equal((await phone.submit(form, { code })).status, 404);
  t.same((await at.rpc("poll_sign_in", { secret })).json, { status: "ended" });
  t.equal((await window.open(waiting.url)).status, 404);
  nowMs += 46 * MINUTE_MS;
  t.equal((await phone.submit(oldPage)).status, 404, "the printed link");
  t.equal((await phone.open(invite)).status, 200);
  nowMs += 7 * DAY_MS;
  t.equal((await phone.open(invite)).status, 404, "the invite");

  const late = (await at.rpc("start_sign_in", { email: ANA })).json;
  const { link } = await at.mail.mailTo(ANA, 3);
  nowMs += 14 * MINUTE_MS;
  t.equal((await at.rpc("confirm_sign_in", { link: linkPartOf(link), code: late.code })).status, 200);
  nowMs += 2 * MINUTE_MS;
  t.same(
    (await at.rpc("poll_sign_in", { secret: late.secret })).json,
    { status: "ended" },
    "confirmed, but not fetched",
  );
  t.same(await sessionsOf(at), []);
  t.end();
});

t.test("at the same time: one session for a window, one token for a command, one use of a link", async (t) => {
  const at = await startSignInService(t, { account: { mailer: undefined } });
  const mailed = await startSignInService(t, { directory: at.service.directory });
  const owner = await at.service.person(OWNER, "owner");
  await at.service.person(ANA, "member");

  const window = mailed.browser();
  const waiting = await askToSignIn(window, ANA);
  const form = await (async (phone: Browser) => phone.open((await mailed.mail.mailTo(ANA)).link))(mailed.browser());
  const phone = mailed.browser();
  const own = await phone.open(form.url);
  const confirmed = await together(5, () => phone.submit(own, { code: codeOf(waiting) }));
  t.same(tally(confirmed.map(({ status }) => status)), { 200: 1, 404: 4 }, "confirmed once");
  await together(8, () => window.open(waiting.url, { isFollowing: false }));
  t.equal((await sessionsOf(at)).length, 1, "one session");
  t.equal(window.setCookies.filter((line) => line.startsWith(`${SESSION}=`) && !/Max-Age=0/.test(line)).length, 1);

  const { secret, code } = (await mailed.rpc("start_sign_in", { email: ANA })).json;
  const link = linkPartOf((await mailed.mail.mailTo(ANA, 2)).link);
  await mailed.rpc("confirm_sign_in", { link, code });
  const polled = await together(8, () => mailed.rpc("poll_sign_in", { secret }));
  t.equal(new Set(polled.map(({ json }) => json.token)).size, 1, "the same token");
  t.equal((await commandTokensOf(at)).length, 3, "one, and the two that the test made");

  const before = (await sessionsOf(at)).length;
  const joining = (await at.rpc("add_member", { email: "joins@example.com" }, owner)).json.link;
  const browser = at.browser();
  const page = await browser.open(joining);
  const joined = await together(8, () => browser.submit(page, {}, { isFollowing: false }));
  t.same(tally(joined.map(({ status }) => status)), { 303: 1, 404: 7 }, "an invite that was handed over");
  t.equal((await sessionsOf(at)).length, before + 1);

  const printer = at.browser();
  const printed = await printer.open(await printedLink(at, ANA));
  const entered = await together(8, () => printer.submit(printed, {}, { isFollowing: false }));
  t.same(tally(entered.map(({ status }) => status)), { 303: 1, 404: 7 }, "a link that was printed");
  t.equal((await sessionsOf(at)).length, before + 2);

  await at.service.person("new@example.com", "member");
  const { window: bo } = await signInWindow(mailed, "new@example.com");
  t.equal((await mailed.rpc("remove_member", { email: "new@example.com" }, owner)).status, 200);
  await mailed.rpc("add_member", { email: "new@example.com" }, owner);
  const invite = linkPartOf((await mailed.mail.mailTo("new@example.com", 2)).link);
  const { window: again } = await signInWindow(mailed, "new@example.com");
  const accepted = await together(8, () => again.call(`${ORIGIN}/accept_invite`, { invite }));
  t.same(tally(accepted.map(({ status }) => status)), { 200: 1, 404: 7 }, "an invite that was mailed");
  t.equal((await bo.call(`${ORIGIN}/get_account`, {})).status, 401, "the session from before the removal");
  t.same(
    [at, mailed].flatMap(({ service }) => service.logged),
    [],
    "no failure of the service",
  );
  t.end();
});

t.test("a session that was there before is never the new one", async (t) => {
  const at = await startSignInService(t);
  await at.service.person(ANA, "member");
  await at.service.person(OWNER, "owner");
  const attacker = (await signInWindow(at, OWNER)).window;
  const planted = attacker.jar(ORIGIN).get(SESSION)!;
  for (const [name, value] of [
    ["made up", "A".repeat(43)],
    ["of the attacker", planted],
  ] as const) {
    const victim = at.browser();
    victim.jar(ORIGIN).set("__Host-tool_form", "chosen");
    const page = await victim.open(`${ORIGIN}/sign-in`);
    victim.jar(ORIGIN).set(SESSION, value);
    const waiting = await victim.submit(page, { email: ANA });
    const { link } = await at.mail.mailTo(ANA, name === "made up" ? 1 : 2);
    const phone = at.browser();
    await phone.submit(await phone.open(link), { code: codeOf(waiting) });
    await victim.open(waiting.url);
    t.match((await accountPageOf(victim)).text, /Signed in as <strong>ana@/, name);
    t.not(victim.jar(ORIGIN).get(SESSION), value);
    t.not(victim.jar(ORIGIN).get("__Host-tool_form"), "chosen", "the form's cookie is new, too");
  }
  t.equal((await attacker.call(`${ORIGIN}/get_account`, {})).status, 401, "the one that was planted has ended");
  t.end();
});

t.test("a link that is enough for one team does not open others", async (t) => {
  const at = await startSignInService(t, { account: { mailer: undefined } });
  const mallory = await at.service.person("mallory@example.com", "owner", "hers");
  const owner = await at.service.person(OWNER, "owner");
  const hers = (await at.rpc("add_member", { email: ANA }, mallory)).json.link;
  const ours = (await at.rpc("add_member", { email: ANA, role: "owner" }, owner)).json.link;
  const ana = at.browser();
  await ana.submit(await ana.open(ours));
  t.match((await accountPageOf(ana)).text, '<span class="id">owner</span>');
  const attacker = at.browser();
  const page = await attacker.submit(await attacker.open(hers));
  t.notOk(attacker.jar(ORIGIN).has(SESSION), "the invite of a stranger who has a team by now");
  t.match(page.text, /print one on the machine/);
  await ana.submit(await ana.open(hers));
  t.match((await accountPageOf(ana)).text, '<span class="id">hers</span>', "the person accepts it herself");

  await at.service.person("bo@example.com", "member", "hers");
  const { link } = (await at.rpc("add_member_link", { email: "bo@example.com" }, mallory)).json;
  const early = await attacker.open(link);
  await at.service.person("bo@example.com", "owner");
  t.equal((await attacker.submit(early)).status, 404, "a link for a member who is in another team by now");
  t.notOk(attacker.jar(ORIGIN).has(SESSION));
  t.end();
});

/** A service that believes the proxy on loopback, and a browser of a network. */
async function startWithProxy(t: Parameters<typeof startSignInService>[0]) {
  const at = await startSignInService(t, { account: { trusted: readNetworks(["127.0.0.1/32"]) } });
  return { at, from: (address: string) => at.browser({ proxied: { "x-forwarded-for": address } }) };
}

t.test("somebody else's attempts do not lock a person out, and do not fill the mailbox", async (t) => {
  const { at, from } = await startWithProxy(t);
  await at.service.person(ANA, "member");
  const HOME = "203.0.113.5";
  await signInWindow(at, ANA, from(HOME));
  const ana = from(HOME);
  const waiting = await askToSignIn(ana, ANA);
  const statuses: number[] = [];
  for (let network = 0; network < 12; network++)
    for (let again = 0; again < 3; again++)
      statuses.push((await askToSignIn(from(`198.51.100.${network}`), ANA)).status);
  const { 200: taken = 0, 429: refused = 0 } = tally(statuses);
  t.same([taken, refused], [18, 18], "twenty mails with those of the person");
  t.equal(codeOf(await ana.open(waiting.url)).length, 6, "the one that waits goes on waiting");
  t.equal((await askToSignIn(from(HOME), ANA)).status, 200, "from the network where she signed in before");
  t.equal((await askToSignIn(from("192.0.2.7"), ANA)).status, 429, "and nowhere else");
  const unknown: number[] = [];
  for (let network = 0; network < 12; network++)
    for (let again = 0; again < 3; again++)
      unknown.push((await askToSignIn(from(`198.51.100.${100 + network}`), "nobody@example.com")).status);
  t.same(tally(unknown), { 200: 20, 429: 16 }, "the same for an address that nobody has");
  await until("the mails", () => at.mail.mails.length === 21);
  t.end();
});

t.test("strangers do not use up the mails of who has an invite, or signed in with this browser", async (t) => {
  const { at, from } = await startWithProxy(t);
  const strangers = async (email: string) => {
    for (let network = 0; network < 24; network++) await askToSignIn(from(`198.51.100.${network}`), email);
    t.equal((await askToSignIn(from("192.0.2.200"), email)).status, 429, `${email} has had its mails`);
  };
  const owner = await at.service.person(OWNER, "owner");
  await at.rpc("add_member", { email: ANA }, owner);
  const { link } = await at.mail.mailTo(ANA);
  await strangers(ANA);
  const statuses: number[] = [];
  for (let again = 0; again < 8; again++) {
    const invited = from(`203.0.113.${again}`);
    const page = await invited.open(link);
    const form = page.forms.find(({ action }) => action.endsWith("/sign-in"))!;
    statuses.push((await invited.submit(page, {}, { form })).status);
  }
  t.same(statuses, [200, 200, 200, 200, 200, 200, 429, 429], "by the link of the invite, which has a budget, too");

  const BO = "bo@example.com";
  await at.service.person(BO, "member");
  const { window } = await signInWindow(at, BO, from("203.0.113.50"));
  await strangers(BO);
  /** The cookies of a browser, which is at another place now. */
  const moved = (address: string) => {
    const browser = from(address);
    for (const [name, value] of window.jar(ORIGIN)) if (name.includes("device")) browser.jar(ORIGIN).set(name, value);
    return browser;
  };
  t.equal((await askToSignIn(moved("192.0.2.1"), BO)).status, 200, "with the browser that signed in before");
  t.equal((await askToSignIn(moved("192.0.2.2"), ANA)).status, 429, "it speaks for nobody else");
  const forged = moved("192.0.2.3");
  for (const [name, value] of forged.jar(ORIGIN)) forged.jar(ORIGIN).set(name, value.replace(/^./, "~"));
  t.equal((await askToSignIn(forged, BO)).status, 429, "nor if somebody made it up");
});

t.test("a person who confirms on a phone has signed in from the network of the window, too", async (t) => {
  const { at, from } = await startWithProxy(t);
  await at.service.person(ANA, "member");
  const [home, phone] = [from("203.0.113.5"), from("192.0.2.1")];
  const waiting = await askToSignIn(home, ANA);
  await phone.submit(await phone.open((await at.mail.mailTo(ANA)).link), { code: codeOf(waiting) });
  await home.open(waiting.url);
  await home.submit(await accountPageOf(home));
  for (let network = 0; network < 20; network++) await askToSignIn(from(`198.51.100.${network}`), ANA);
  t.equal((await askToSignIn(from("203.0.113.5"), ANA)).status, 200);
  t.equal((await askToSignIn(from("203.0.113.6"), ANA)).status, 429);
  t.end();
});

t.test("one network can ask for one address six times, and twenty times in all", async (t) => {
  const { from } = await startWithProxy(t);
  const statuses: number[] = [];
  for (let number = 0; number < 8; number++)
    statuses.push((await askToSignIn(from(`2001:db8:1:2::${number}`), ANA)).status);
  t.same(statuses, [200, 200, 200, 200, 200, 200, 429, 429], "a network of IPv6 has 64 bits");
  for (let number = 0; number < 16; number++)
    statuses.push((await askToSignIn(from("2001:db8:1:2::1"), `a${number}@example.com`)).status);
  t.same(tally(statuses), { 200: 20, 429: 4 });
  const limited = await askToSignIn(from("2001:db8:1:2::1"), ANA);
  t.match(limited.headers["retry-after"], /^\d+$/);
  t.equal((await askToSignIn(from("2001:db8:1:3::1"), ANA)).status, 200, "its neighbour");
  t.end();
});

t.test("invites do not fill a mailbox", async (t) => {
  const at = await startSignInService(t);
  const owner = await at.service.person(OWNER, "owner");
  const answers = [];
  for (let number = 0; number < 15; number++) answers.push(await at.rpc("add_member", { email: ANA }, owner));
  t.same(tally(answers.map(({ status }) => status)), { 200: 10, 429: 5 });
  t.equal((await at.rpc("add_member", { email: "bo@example.com" }, owner)).status, 200);
  await at.mail.mailTo("bo@example.com");
  t.ok(at.mail.mails.length <= 11, `${at.mail.mails.length} mails`);
  t.end();
});

const ADDRESSES: readonly (readonly [forwarded: string | undefined, isTrusted: boolean, address: string])[] = [
  [undefined, false, "127.0.0.1"],
  ["203.0.113.5", false, "127.0.0.1"],
  [undefined, true, "127.0.0.1"],
  ["203.0.113.5", true, "203.0.113.5"],
  ["1.1.1.1, 203.0.113.5", true, "203.0.113.5"],
  ["203.0.113.5, 127.0.0.1", true, "203.0.113.5"],
  ["203.0.113.5, evil", true, "127.0.0.1"],
  ["<b>", true, "127.0.0.1"],
  ["::ffff:203.0.113.5", true, "203.0.113.5"],
];

t.test("whose address it is", async (t) => {
  const services = { true: (await startWithProxy(t)).at, false: await startSignInService(t) };
  for (const [number, [forwarded, isTrusted, address]] of ADDRESSES.entries()) {
    const at = services[`${isTrusted}`];
    const email = `a${number}@example.com`;
    await at.service.person(email, "member");
    const proxied = forwarded === undefined ? {} : { "x-forwarded-for": forwarded, "x-real-ip": "6.6.6.6" };
    await askToSignIn(at.browser({ proxied }), email);
    const { text } = await at.mail.mailTo(email);
    const name = `${forwarded} ${isTrusted ? "from a trusted proxy" : "from anybody"}`;
    t.equal(/network address (\S+) asked/.exec(text)?.[1], address, name);
  }
  t.end();
});

const EMAILS: readonly string[] = [
  ...["", " ", "a", "a@", "@b.c", "a@b@c.d", "a b@c.d", "a@b.c\r\nBcc: eve@evil.com", "a@b.c,eve@evil.com", "a@b..c"],
  ...["Ana <ana@example.com>", '"a b"@example.com', "a@127.0.0.1", "a@[127.0.0.1]", "a@b.c\0", "a\u0000@b.c", "a@b.c;"],
  ...[
    `${"a".repeat(65)}@example.com`,
    `a@${"b".repeat(300)}.com`,
    "a@\u202eb.c",
    "\u200ba@b.c",
    "a@b.c%0a",
    "<script>@b.c",
  ],
];

t.test("addresses that are none", async (t) => {
  const at = await startSignInService(t);
  await at.service.person(ANA, "member");
  const window = at.browser();
  const page = await window.open(`${ORIGIN}/sign-in`);
  for (const email of EMAILS) {
    const answered = await window.submit(page, { email });
    t.equal(answered.status, 400, JSON.stringify(email).slice(0, 60));
    t.equal((await at.rpc("start_sign_in", { email })).status, 400);
  }
  for (const email of [1, null, [ANA], { email: ANA }, true])
    t.equal((await at.rpc("start_sign_in", { email })).status, 400, JSON.stringify(email));
  const twice = await window.open(`${ORIGIN}/sign-in`, {});
  const form = twice.forms[0]!;
  const body = `form=${encodeURIComponent(form.hidden.form!)}&email=${ANA}&email=eve%40evil.com`;
  t.equal((await window.submit(twice, {}, { body })).status, 200, "a field that is there twice counts once");
  await at.mail.mailTo(ANA);
  t.same(await until("the mail", () => at.mail.mails.map(({ to }) => to)), [ANA]);
  t.end();
});

t.test("bodies that no browser sends", async (t) => {
  const at = await startSignInService(t);
  const window = at.browser();
  const page = await window.open(`${ORIGIN}/sign-in`);
  const { form } = page.forms[0]!.hidden;
  const send = (body: string | Buffer, headers: Record<string, string> = {}) =>
    window.submit(page, {}, { body, headers });
  t.equal((await send(`form=${form}&email=${"a".repeat(20_000)}`)).status, 413, "a huge form");
  t.equal((await send(`form=${form}&${"a=b&".repeat(3_000)}email=x`)).status, 400, "many fields");
  t.equal((await send("{}", { "content-type": "application/json" })).status, 415);
  t.equal((await send("a", { "content-type": "multipart/form-data; boundary=a" })).status, 415);
  t.equal((await send("a", { "content-type": "text/plain" })).status, 415);
  t.equal((await send(`form=${form}&email=a%ff%fe@example.com`)).status, 400, "what is no UTF-8");
  t.equal((await send(Buffer.from(`form=${form}&email=\xff\xfe@example.com`, "latin1"))).status, 400);
  t.equal((await send(Buffer.from("x\x9cK\xcb"), { "content-encoding": "gzip" })).status, 400, "no gzip");
  t.equal((await send("")).status, 403, "nothing");
  t.equal((await at.rpc("start_sign_in", { email: ANA, device: "a".repeat(101) })).status, 400);
  t.equal((await at.rpc("start_sign_in", { email: ANA, team_id: "x".repeat(5_000) })).status, 400);
  t.equal((await at.rpc("confirm_sign_in", { link: "x".repeat(20_000) })).status, 413);
  t.equal((await at.rpc("poll_sign_in", { secret: "x".repeat(300) })).status, 400);
  t.equal((await at.rpc("poll_sign_in", { secret: ["a"] })).status, 400);
  t.same(at.service.logged, [], "no failure of the service");
  t.end();
});

const DEVICES: readonly string[] = [
  "laptop\r\nBcc: eve@evil.com",
  "laptop\r\n\r\n<h1>Hello</h1>",
  "<img src=https://evil.com/x.png>",
  "laptop\u2028Bcc: eve@evil.com",
  "\u202egnitset",
  "Your account is locked: visit https://evil.com/a, evil.com, www.evil.com or mail eve@evil.com.",
];

t.test("a device that wants to write the mail", async (t) => {
  const at = await startSignInService(t);
  for (const [number, device] of DEVICES.entries()) {
    const email = `a${number}@example.com`;
    await at.service.person(email, "member");
    await at.rpc("start_sign_in", { email, device });
    const { to, headers, html, link, text } = await at.mail.mailTo(email);
    t.equal(to, email, `device ${number}`);
    t.same([headers.has("bcc"), headers.get("subject")], [false, "Sign in to logs.example.com"]);
    t.notMatch(text.replaceAll("logs.example.com", "").replaceAll(email, ""), /evil\.com|eve@|:\/\/(?!\/)/);
    t.notMatch(html, /<h1>Hello|<img/);
    t.notMatch(text + html, /\u202e|\u2028|^Bcc:/m);
    const page = await at.browser().open(link);
    t.notMatch(page.text, /<h1>Hello|<img|\u202e/);
  }
  await at.service.person(ANA, "member");
  const odd = at.browser({ userAgent: "Firefox/1 <b>Linux</b> \u00ff".repeat(20) });
  await askToSignIn(odd, ANA);
  t.match((await at.mail.mailTo(ANA)).text, /^Firefox on Linux at the network/m, "only names of ours");
  t.end();
});

t.test("sessions end: twelve idle hours, thirty days", async (t) => {
  let nowMs = Date.now();
  const at = await startSignInService(t, { nowMs: () => nowMs });
  await at.service.person(ANA, "member");
  const { window } = await signInWindow(at, ANA);
  const isIn = async () => (await window.call(`${ORIGIN}/get_account`, {})).status === 200;
  nowMs += 12 * HOUR_MS - 1;
  t.equal(await isIn(), true);
  nowMs += 12 * HOUR_MS - MINUTE_MS;
  t.equal((await window.open(`${ORIGIN}/`)).url, `${ORIGIN}/`, "at a page");
  t.equal(await isIn(), true);
  nowMs += 12 * HOUR_MS;
  t.equal(await isIn(), false);
  t.equal((await window.open(`${ORIGIN}/`)).url, `${ORIGIN}/sign-in`);

  const { window: busy } = await signInWindow(at, ANA);
  const beganMs = nowMs;
  let uses = 0;
  for (; nowMs < beganMs + 40 * DAY_MS; nowMs += 11 * HOUR_MS, uses++)
    if ((await busy.call(`${ORIGIN}/get_account`, {})).status !== 200) break;
  t.ok(nowMs - beganMs >= 30 * DAY_MS && nowMs - beganMs < 30.5 * DAY_MS, `${uses} uses`);
  t.end();
});

t.test("a page counts as a use of the session", async (t) => {
  let nowMs = Date.now();
  const at = await startSignInService(t, { nowMs: () => nowMs });
  await at.service.person(ANA, "member");
  const { window } = await signInWindow(at, ANA);
  for (let times = 0; times < 3; times++) {
    nowMs += 11 * HOUR_MS;
    t.equal((await window.open(`${ORIGIN}/`)).url, `${ORIGIN}/`);
  }
  t.end();
});

t.test("a clock that is back for a moment ends neither sessions nor tokens", async (t) => {
  const rightMs = Date.now();
  let nowMs = rightMs;
  const at = await startSignInService(t, { nowMs: () => nowMs });
  await at.service.person(ANA, "member");
  const { window } = await signInWindow(at, ANA);
  const { token } = await signInCommand(at, ANA);
  const statuses = async () => [
    (await window.call(`${ORIGIN}/get_account`, {})).status,
    (await at.rpc("get_account", {}, token)).status,
  ];
  t.same(await statuses(), [200, 200]);
  nowMs = rightMs - 400 * DAY_MS;
  t.same(await statuses(), [200, 200], "back");
  nowMs = rightMs + 11 * HOUR_MS;
  t.same(await statuses(), [200, 200], "and right again");
  t.end();
});

t.test("who begins to sign in is refused by an own limit before anything is looked up", async (t) => {
  const { at, from } = await startWithProxy(t);
  await at.service.person(ANA, "member");
  const ask = async (network: number) => (await askToSignIn(from(`198.51.100.${network}`), ANA)).status;
  for (let i = 0; i < 20; i++) t.equal(await ask(i >> 2), 200);
  for (let i = 0; i < 2; i++) t.equal(await ask(4), 429, "the address has had its mails");
  for (let i = 0; i < 20; i++) await askToSignIn(from("198.51.100.9"), `a${i}@example.com`);
  const statements = statementsOf(at.service.records);
  t.equal(await ask(9), 429);
  t.same(
    statements.filter((sql) => sql.includes('"audit"')),
    [],
  );
  t.end();
});

t.test("tokens end: ninety idle days on the command line, a year for CI", async (t) => {
  let nowMs = Date.now();
  const at = await startSignInService(t, { nowMs: () => nowMs });
  await at.service.person(ANA, "owner");
  const { token } = await signInCommand(at, ANA);
  const ci = (await at.rpc("add_ci_token", { name: "build" }, token)).json;
  const statusOf = async (one: string) => (await at.rpc("get_account", {}, one)).status;
  nowMs += 90 * DAY_MS;
  t.same([await statusOf(token), await statusOf(ci.token)], [200, 200]);
  nowMs += 90 * DAY_MS + 1;
  t.same([await statusOf(token), await statusOf(ci.token)], [401, 200]);
  nowMs = Date.parse(ci.expires_at) - 1;
  t.equal(await statusOf(ci.token), 200);
  nowMs += 1;
  t.equal(await statusOf(ci.token), 401);
  t.equal(new Date(nowMs).toISOString(), ci.expires_at);
  t.end();
});
