// Where requests with a cookie may come from: origins, hosts, forms and their tokens, frames, redirects, cookies.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import t from "tap";
import { rpcSchema } from "../../../schema/rpc-schema.generated.ts";
import { root } from "../../support/cli.ts";
import { converse } from "../../support/http-stream.ts";
import { startTestService, type TestService } from "../../support/service.ts";
import { Browser, codeOf, type Page, type Visit } from "../../support/sign-in/browser.ts";
import { snapshotOf } from "../../support/sign-in/snapshot.ts";
import {
  accountPageOf,
  askToSignIn,
  linkPartOf,
  ORIGIN,
  printedLink,
  SESSION,
  type SignInService,
  signInWindow,
  startSignInService,
  UI_TITLE,
} from "../../support/sign-in/start.ts";

const ANA = "ana@example.com";
const EVIL = "https://evil.example.com";
const OPERATIONS = Object.entries(rpcSchema.operations).map(([name, { scope }]) => ({ name, scope }));

/** The headers that a page elsewhere can make a browser send, or a request without a browser's headers. */
const FOREIGN: readonly (readonly [name: string, headers: Visit["headers"] & object])[] = [
  ["no Origin", { origin: undefined, "sec-fetch-site": undefined }],
  ["no Origin, though the browser calls it ours", { origin: undefined, "sec-fetch-site": "same-origin" }],
  ["a foreign Origin", { origin: EVIL, "sec-fetch-site": "cross-site" }],
  ["a foreign Origin alone", { origin: EVIL, "sec-fetch-site": undefined }],
  ["Origin: null", { origin: "null", "sec-fetch-site": "cross-site" }],
  ["no Origin from another site", { origin: undefined, "sec-fetch-site": "cross-site" }],
  ["a site beside ours", { origin: "https://www.example.com", "sec-fetch-site": "same-site" }],
  ["another port", { origin: `${ORIGIN}:8443`, "sec-fetch-site": "same-site" }],
  ["http", { origin: ORIGIN.replace("https", "http"), "sec-fetch-site": "cross-site" }],
  ["our name in theirs", { origin: `${ORIGIN}.evil.com`, "sec-fetch-site": "cross-site" }],
  ["an empty Origin", { origin: "", "sec-fetch-site": "same-origin" }],
];

/** The forms of all pages, each on a page that is open in a browser. */
async function openForms(at: SignInService, window: Browser): Promise<Readonly<Record<string, Page>>> {
  const owner = await at.service.person("owner@example.com", "owner");
  const stranger = at.browser();
  await askToSignIn(stranger, ANA);
  await at.rpc("add_member", { email: "new@example.com" }, owner);
  await at.mail.mailTo("new@example.com");
  const mails = at.mail.mails.filter(({ to }) => to === ANA);
  const { link } = await at.mail.mailTo(ANA, Math.max(2, mails.length));
  const invite = (await at.mail.mailTo("new@example.com")).link;
  const asker = at.browser();
  return {
    "/sign-in": await asker.open(`${ORIGIN}/sign-in`),
    "/sign-in/confirm/": await window.open(link),
    "/sign-in/link/": await window.open(await printedLink(at, ANA)),
    "/accept/": await window.open(invite),
    "/sign-out": await accountPageOf(window),
  };
}

t.test("operations with the cookie of a session, from elsewhere", async (t) => {
  const at = await startSignInService(t);
  await at.service.person(ANA, "owner");
  const { window } = await signInWindow(at, ANA);
  const before = await snapshotOf(at.service.records);
  const routes = [...OPERATIONS, { name: "ingest/api", scope: "events:write" }];
  for (const { name, scope } of routes) {
    const url = `${ORIGIN}/${name}`;
    for (const [from, headers] of FOREIGN) {
      // A program sends none of the headers; what is public needs no cookie.
      if (scope === "public" && from === "no Origin") continue;
      if (scope === "public" && headers.origin === undefined && headers["sec-fetch-site"] === "same-origin") continue;
      const { status } = await window.call(url, {}, headers);
      if (status !== 403) t.fail(`${name}, ${from}: ${status}`);
    }
    if (name === "ingest/api") continue;
    for (const type of [
      "text/plain",
      "application/x-www-form-urlencoded",
      "multipart/form-data; boundary=a",
      undefined,
    ]) {
      const { status } = await window.call(url, {}, { "content-type": type });
      if (status !== 415 && !(scope === "public" && type === undefined)) t.fail(`${name}, ${type}: ${status}`);
    }
  }
  t.same(await snapshotOf(at.service.records), before, `nothing has changed by ${routes.length} operations`);
  const refused = await window.call(`${ORIGIN}/remove_project`, { project_id: "a" }, { origin: EVIL });
  t.equal(JSON.parse(refused.text).message, "a request with a cookie must come from a page of this service");
  t.equal((await window.call(`${ORIGIN}/get_projects`, {})).status, 200, "and from our own page");
  t.end();
});

t.test("the live tail with the cookie of a session", async (t) => {
  const at = await startSignInService(t);
  await at.service.person(ANA, "owner");
  const { window } = await signInWindow(at, ANA);
  const url = `${ORIGIN}/tail?project_id=missing`;
  for (const site of ["cross-site", "same-site", "none", undefined])
    t.equal((await window.open(url, { headers: { "sec-fetch-site": site } })).status, 403, `from ${site}`);
  t.equal((await window.open(url, { headers: { origin: EVIL, "sec-fetch-site": "same-origin" } })).status, 403);
  t.equal((await window.open(url, { headers: { "sec-fetch-site": "same-origin" } })).status, 404, "from our own page");
  t.end();
});

t.test("forms from elsewhere, and without their token", async (t) => {
  const at = await startSignInService(t);
  await at.service.person(ANA, "owner");
  const { window } = await signInWindow(at, ANA);
  const pages = await openForms(at, window);
  const stranger = await at.browser().open(`${ORIGIN}/sign-in`);
  const before = await snapshotOf(at.service.records);
  for (const [path, page] of Object.entries(pages)) {
    const own = page.forms[0]!;
    t.ok(own.action.startsWith(path), own.action);
    const first = own.action.replace(/(?<=^\/accept\/[^/]*)\/sign-in$/, "");
    const more = { "/sign-in": ["/sign-in/oidc"], "/accept/": [`${first}/sign-in`] }[path] ?? [];
    for (const action of [first, ...more]) {
      const sender = path === "/sign-in" ? at.browser() : window;
      const send = (hidden: Readonly<Record<string, string>>, headers: Visit["headers"] = {}) =>
        sender.submit(page, { email: ANA, code: "000000" }, { form: { action, hidden }, headers, isFollowing: false });
      for (const [from, headers] of FOREIGN)
        t.equal((await send(own.hidden, headers)).status, 403, `${action}, ${from}`);
      t.equal((await send({})).status, 403, `${action} without a token`);
      t.equal((await send({ form: "" })).status, 403);
      t.equal((await send({ form: own.hidden.form!.slice(0, -1) })).status, 403);
      t.equal((await send(stranger.forms[0]!.hidden)).status, 403, `${action} with the token of another browser`);
      for (const [other, { forms }] of Object.entries(pages))
        if (other !== path) t.equal((await send(forms[0]!.hidden)).status, 403, `${action} with the token of ${other}`);
    }
  }
  t.same(await snapshotOf(at.service.records), before, "nothing has changed");
  t.equal((await window.submit(pages["/sign-out"]!)).url, `${ORIGIN}/sign-in`, "and from our own page");
  t.end();
});

const CSP = "default-src 'self'; frame-ancestors 'none'; form-action 'self'; base-uri 'none'; object-src 'none'";

/** The scripts of the web UI: a file of ours, and data. */
const UI_SCRIPTS = /<script (?:type="module" async src="\/assets\/main-\w+\.js"|type="application\/json" id="first")>/g;

t.test("no page is shown in a frame, kept, or told to others", async (t) => {
  const at = await startSignInService(t);
  await at.service.person(ANA, "owner");
  const { window } = await signInWindow(at, ANA);
  const pages = Object.values(await openForms(at, window));
  const stranger = at.browser();
  const [form] = pages;
  pages.push(
    await stranger.open(`${ORIGIN}/`, { isFollowing: false }),
    await window.open(`${ORIGIN}/`),
    await stranger.open(`${ORIGIN}/sign-in`, { method: "HEAD" }),
    await stranger.open(`${ORIGIN}/sign-in/wait`),
    await stranger.open(`${ORIGIN}/sign-in/confirm/none`),
    await stranger.open(`${ORIGIN}/accept/none`),
    await stranger.open(`${ORIGIN}/sign-in/oidc/callback?code=1`),
    await stranger.submit(form!, {}, { headers: { origin: EVIL } }),
    await stranger.submit(form!, {}, { headers: { "content-type": "text/plain" } }),
    await stranger.submit(form!, {}, { body: "a".repeat(20_000) }),
    await stranger.open("https://evil.example.com/sign-in"),
    await askToSignIn(at.browser(), ANA),
    await askToSignIn(at.browser(), "nobody"),
  );
  const statuses = pages.map(({ status }) => status);
  for (const status of [200, 303, 400, 403, 404, 413, 415, 421])
    t.ok(statuses.includes(status), `there is a ${status}`);
  for (const { url, status, headers, text } of pages) {
    const kept = {
      csp: headers["content-security-policy"],
      frame: headers["x-frame-options"],
      transport: headers["strict-transport-security"],
      sniff: headers["x-content-type-options"],
      cache: headers["cache-control"],
      referrer: headers["referrer-policy"],
      opener: headers["cross-origin-opener-policy"],
    };
    const wanted = {
      csp: CSP,
      frame: "DENY",
      transport: "max-age=86400",
      sniff: "nosniff",
      cache: "no-store",
      referrer: "same-origin",
      opener: "same-origin",
    };
    t.same(kept, wanted, `${status} ${url}`);
    t.notMatch(text.replaceAll(UI_SCRIPTS, ""), /<script|style=|javascript:/);
  }
  for (const path of ["/nothing", "/sign-out", "/get_account", "/reference", "/openapi.json", "/assets/pages.css"]) {
    const { headers, status } = await stranger.open(`${ORIGIN}${path}`);
    t.same([headers["x-frame-options"], headers["x-content-type-options"]], ["DENY", "nosniff"], `${status} ${path}`);
  }
  t.end();
});

const NEXT: readonly (readonly [next: string, place: string])[] = [
  ["/reference?a=1", "/reference?a=1"],
  ["/a%2f%2fevil.com", "/a%2f%2fevil.com"],
  [`/${"a".repeat(3_999)}`, `/${"a".repeat(3_999)}`],
  ...[
    ...["", "//evil.com", "///evil.com", "/\\evil.com", "\\\\evil.com", "\\/evil.com", "https://evil.com", "evil.com"],
    ...["https:evil.com", "http:/evil.com", "javascript:alert(1)", "data:text/html,x", "/\t/evil.com", "/\n/evil.com"],
    ...[
      "\t//evil.com",
      " //evil.com",
      "/ /evil.com",
      "/a\r\nSet-Cookie: a=b",
      "/\u0000",
      "/\u202e",
      "/\ud800",
      "@evil.com",
    ],
    ...[`/${"a".repeat(4_000)}`, ".", "..", "./a", "?a", "#a", `${ORIGIN}.evil.com/`, `${ORIGIN}@evil.com/`],
  ].map((next) => [next, "/"] as const),
];

t.test("where people go after they signed in is a place of ours", async (t) => {
  const at = await startSignInService(t);
  await at.service.person(ANA, "owner");
  const { window } = await signInWindow(at, ANA);
  const form = await at.browser().open(`${ORIGIN}/sign-in`);
  t.equal(form.forms[0]!.hidden.next, "/");
  for (const [next, place] of NEXT) {
    const name = JSON.stringify(next)
      .slice(0, 40)
      .replace(/[^\x20-\x7e]/g, "?");
    const query = next === "/\ud800" ? "%2F%ED%A0%80" : encodeURIComponent(next);
    const { status, headers } = await window.open(`${ORIGIN}/sign-in?next=${query}`, { isFollowing: false });
    t.same([status, headers.location], [303, place], name);
    const page = await at.browser().open(`${ORIGIN}/sign-in?next=${query}`);
    t.equal(page.forms[0]!.hidden.next, place);
  }
  t.equal(
    (await window.open(`${ORIGIN}/sign-in?next=%252f%252fevil.com`, { isFollowing: false })).headers.location,
    "/",
    "decoded once",
  );
  const victim = at.browser();
  const page = await victim.open(`${ORIGIN}/sign-in`);
  const waiting = await victim.submit(page, { email: ANA, next: "//evil.com" });
  t.equal(waiting.url, `${ORIGIN}/sign-in/wait?next=%2F`, "in the form");
  const { link } = await at.mail.mailTo(ANA, 2);
  const phone = at.browser();
  await phone.submit(await phone.open(link), { code: codeOf(waiting) });
  const wait = `${ORIGIN}/sign-in/wait?next=${encodeURIComponent("//evil.com")}`;
  t.equal((await victim.open(wait)).url, `${ORIGIN}/`, "at the window that waits");
  t.end();
});

t.test("under another host than the public one", async (t) => {
  const at = await startSignInService(t);
  await at.service.person(ANA, "owner");
  const { window } = await signInWindow(at, ANA);
  const { port } = at.service.running;
  const bearer = { authorization: `Bearer ${at.service.owner}` };
  for (const host of [
    "evil.com",
    `127.0.0.1:${port}`,
    `localhost:${port}`,
    "logs.example.com:8443",
    "logs.example.com.",
  ]) {
    const cookie = `${SESSION}=${window.jar(ORIGIN).get(SESSION)}`;
    const headers = { host, cookie };
    for (const path of ["/", "/sign-in", "/sign-in/wait", "/sign-in/confirm/a", "/accept/a"]) {
      const page = await at.service.send({ method: "GET", path, headers });
      t.equal(page.status, 421, `${host}${path}`);
      t.match(page.text, `This service is at ${ORIGIN}: use that address.`);
    }
    const json = { ...headers, "content-type": "application/json", origin: ORIGIN };
    for (const path of ["/get_account", "/start_sign_in", "/poll_sign_in", "/confirm_sign_in"]) {
      const { status } = await at.service.send({ path, headers: json, body: "{}" });
      t.equal(status, 421, `${host}${path}`);
    }
    const tail = await at.service.send({
      method: "GET",
      path: "/tail",
      headers: { ...headers, "sec-fetch-site": "same-origin" },
    });
    t.equal(tail.status, 421);
    for (const path of ["/_health", "/_ready", "/metrics", "/openapi.json", "/reference", "/assets/pages.css"])
      t.equal((await at.service.send({ method: "GET", path, headers: { host } })).status, 200, `${host}${path}`);
    const called = await at.service.send({ path: "/get_account", headers: { host, ...bearer }, body: "{}" });
    t.equal(called.status, 200, `a bearer under ${host}`);
    const both = await at.service.send({ path: "/get_account", headers: { ...headers, ...bearer }, body: "{}" });
    t.equal(both.json.account.kind, "api", "and the cookie beside it does not count");
  }
  const before = at.mail.mails.length;
  const lied = at.browser({
    proxied: {
      "x-forwarded-host": "evil.com",
      forwarded: "host=evil.com;proto=http",
      "x-original-url": "/evil",
      "x-forwarded-proto": "http",
    },
  });
  const answer = await lied.submit(await lied.open(`${ORIGIN}/sign-in`), { email: ANA }, { isFollowing: false });
  t.equal(answer.headers.location, "/sign-in/wait?next=%2F");
  t.match((await at.mail.mailTo(ANA, before + 1)).link, new RegExp(`^${ORIGIN}/`));
  t.end();
});

const localOf = ({ running }: TestService) => `http://127.0.0.1:${running.port}`;

t.test("on loopback without a public address: its own names, and no others", async (t) => {
  const service = await startTestService(t);
  const { port } = service.running;
  const statusOf = async (host: string, path = "/sign-in") =>
    (await service.send({ method: "GET", path, headers: { host } })).status;
  for (const host of [
    `127.0.0.1:${port}`,
    `localhost:${port}`,
    `LOCALHOST:${port}`,
    `tool.localhost:${port}`,
    `[::1]:${port}`,
    `[0:0:0:0:0:0:0:1]:${port}`,
  ])
    t.equal(await statusOf(host), 200, host);
  for (const host of [
    ...[
      "evil.com",
      `evil.com:${port}`,
      `127.0.0.1.evil.com:${port}`,
      `localhost.evil.com:${port}`,
      `notlocalhost:${port}`,
    ],
    ...[
      "127.0.0.1",
      "localhost",
      `localhost:${port + 1}`,
      `10.0.0.1:${port}`,
      `0.0.0.0:${port}`,
      `user@localhost:${port}`,
      `[localhost]:${port}`,
      `[::ffff:127.0.0.1]:${port}`,
      `localhost.:${port}`,
    ],
  ])
    t.equal(await statusOf(host), 421, host);
  for (const head of ["GET /sign-in HTTP/1.0\r\n", "GET /sign-in HTTP/1.1\r\nHost:\r\nConnection: close\r\n"]) {
    const { responses } = await converse(port, Buffer.from(`${head}\r\n`), ["GET"]);
    t.equal(responses[0]?.status, 421, head);
  }
  const rebound = { host: `evil.com:${port}`, origin: `http://evil.com:${port}`, "content-type": "application/json" };
  const called = await service.send({ path: "/start_sign_in", headers: rebound, body: JSON.stringify({ email: ANA }) });
  t.equal(called.status, 421);
  t.same(await service.records.db.selectFrom("sign_ins").selectAll().execute(), []);
  t.equal(
    (await service.send({ method: "GET", path: "http://evil.com/sign-in", headers: { host: `localhost:${port}` } }))
      .status,
    200,
  );
  t.end();
});

/** Signs a window in by a link that the machine printed. */
async function enter(service: TestService, window: Browser, origin: string): Promise<Page> {
  await service.person(ANA, "owner");
  const link = await printedLink({ service } as SignInService, ANA);
  const path = `/sign-in/link/${linkPartOf(link)}`;
  return window.submit(await window.open(`${origin}${path}`));
}

t.test("two services on two ports of one host have cookies of their own", async (t) => {
  const services = [await startTestService(t), await startTestService(t)];
  const window = new Browser();
  for (const service of services) t.match((await enter(service, window, localOf(service))).text, UI_TITLE);
  for (const service of services) {
    const page = await accountPageOf(window, localOf(service));
    t.match(page.text, "Your account", "signing in at one is not signing out of the other");
  }
  const names = [...window.jar("http://127.0.0.1").keys()].filter((name) => name.includes("session"));
  t.same(
    names,
    services.map(({ running }) => `tool_session_${running.port}`),
  );
  await window.submit(await accountPageOf(window, localOf(services[0]!)));
  t.match((await accountPageOf(window, localOf(services[1]!))).text, "Your account");
  const neighbour = await window.call(`${localOf(services[1]!)}/get_account`, {}, { origin: localOf(services[0]!) });
  t.equal(neighbour.status, 403, "the page of a neighbour is not ours");
  t.end();
});

t.test("the flags of cookies", async (t) => {
  const at = await startSignInService(t);
  await at.service.person(ANA, "owner");
  const { window } = await signInWindow(at, ANA);
  const shapes = (lines: readonly string[]) =>
    [...new Set(lines.map((line) => line.replace(/=[^;]*/, "").replace(/\d+/g, "N")))].sort();
  const all = "Path=/; HttpOnly; SameSite=Lax; Secure";
  t.same(shapes(window.setCookies), [
    `__Host-tool_device; ${all}; Max-Age=N`,
    `__Host-tool_form; ${all}`,
    `__Host-tool_form; ${all}; Max-Age=N`,
    `__Host-tool_session; ${all}; Max-Age=N`,
    `__Host-tool_window; ${all}; Max-Age=N`,
  ]);
  const lasts = (name: string) =>
    window.setCookies.filter((line) => line.startsWith(name)).map((line) => /Max-Age=(\d+)/.exec(line)?.[1]);
  t.same(lasts("__Host-tool_session"), [String(30 * 24 * 3600)]);
  t.same(lasts("__Host-tool_window"), ["900", "0"]);
  t.same(lasts("__Host-tool_device"), [String(365 * 24 * 3600)]);

  const local = await startTestService(t);
  const plain = new Browser();
  await enter(local, plain, localOf(local));
  t.same(shapes(plain.setCookies), [
    "tool_form_N; Path=/; HttpOnly; SameSite=Lax",
    "tool_form_N; Path=/; HttpOnly; SameSite=Lax; Max-Age=N",
    "tool_session_N; Path=/; HttpOnly; SameSite=Lax; Max-Age=N",
  ]);
  t.end();
});

const pem = (name: string) => readFileSync(join(root, `test/fixtures/localhost.${name}.pem`), "utf8");

t.test("off loopback without a public address: bearers and health alone", async (t) => {
  const tls = { cert: pem("cert"), key: pem("key") };
  for (const options of [{ host: "0.0.0.0" }, { host: "0.0.0.0", tls }]) {
    const service = await startTestService(t, { account: options });
    const { port } = service.running;
    const origin = `${"tls" in options ? "https" : "http"}://localhost:${port}`;
    const window = new Browser();
    for (const path of ["/", "/sign-in", "/accept/a"]) {
      const page = await window.open(`${origin}${path}`);
      t.equal(page.status, 421);
      t.match(page.text, "start it with --public-url, or TOOL_PUBLIC_URL");
      t.notMatch(page.text, "<a href", "there is nowhere to lead to");
    }
    const called = await window.call(`${origin}/start_sign_in`, { email: ANA });
    t.same([called.status, JSON.parse(called.text).type], [421, "misdirected"]);
    t.equal((await window.open(`${origin}/_health`)).status, 200);
    const bearer = { authorization: `Bearer ${service.owner}`, origin: undefined };
    t.equal((await window.call(`${origin}/get_account`, {}, bearer)).status, 200);
  }
  t.end();
});

t.test("with TLS of its own, on loopback", async (t) => {
  const service = await startTestService(t, { account: { tls: { cert: pem("cert"), key: pem("key") } } });
  const origin = `https://127.0.0.1:${service.running.port}`;
  const window = new Browser();
  t.match((await enter(service, window, origin)).text, UI_TITLE);
  t.match((await accountPageOf(window, origin)).text, "Your account");
  t.ok(window.jar(origin).has(SESSION));
  t.equal((await window.call(`${origin}/get_account`, {})).status, 200);
  const http = await window.call(`${origin}/get_account`, {}, { origin: origin.replace("https", "http") });
  t.equal(http.status, 403);
  t.end();
});
