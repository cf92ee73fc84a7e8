// The addresses of the web UI: which there are, who sees what, and what a browser is told about each.
import { once } from "node:events";
import { readdirSync, rmSync } from "node:fs";
import { createServer, request as httpRequest } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { brotliDecompressSync, gunzipSync } from "node:zlib";
import t, { type Test } from "tap";
import type { FirstData } from "../../../logservice/address/first-data.ts";
import type { EventsStore } from "../../../logservice/events/store.ts";
import { assetSender } from "../../../logservice/web/assets.ts";
import { rpcSchema } from "../../../schema/rpc-schema.generated.ts";
import { root } from "../../support/cli.ts";
import { bearer, session } from "../../support/credentials.ts";
import { sendTo, startTestService, type TestService } from "../../support/service.ts";
import { codeOf } from "../../support/sign-in/browser.ts";
import { askToSignIn, ORIGIN, printedLink, signInWindow, startSignInService } from "../../support/sign-in/start.ts";
import { TestClock } from "../../support/test-clock.ts";
import { until } from "../../support/until.ts";

const ASSETS = join(root, "dist/bin/ui/assets");
const PAGES = [
  "/",
  "/t/owner",
  "/t/owner/projects",
  "/t/owner/usage",
  "/t/owner/members",
  "/t/owner/tokens",
  "/t/owner/audit",
  "/t/owner/p/app",
  "/t/owner/p/app/events",
  "/t/owner/p/app/events?query=level+%3D+error&last=2h",
  "/t/owner/p/app/searches",
  "/t/owner/p/app/alerts",
  "/t/owner/p/app/alerts/new",
  "/t/owner/p/app/notifications",
  "/t/owner/p/app/start",
  "/t/owner/p/app/settings",
  "/help/language",
];

const get = (service: TestService, path: string, headers: Readonly<Record<string, string>> = {}, method = "GET") =>
  service.send({ method, path, headers });

async function signedIn(t: Test, options: Parameters<typeof startTestService>[1] = {}) {
  const service = await startTestService(t, options);
  await service.call("add_project", { project: { id: "app", name: "app" } });
  await service.person("ann@example.com", "owner");
  const { cookie } = await session(service, "ann@example.com");
  return { service, own: { cookie: cookie! } };
}

/** The data that a page came with. */
function firstOf(text: string): FirstData {
  const [, json] = /<script type="application\/json" id="first">(.*?)<\/script>/s.exec(text)!;
  return JSON.parse(json!);
}

t.test("HTML on the listed paths alone", async (t) => {
  const { service, own } = await signedIn(t);
  for (const path of PAGES) {
    const page = await get(service, path, own);
    t.same([page.status, page.headers["content-type"]], [200, "text/html; charset=utf-8"], path);
    t.match(page.text, /^<!doctype html>\n<html lang="en">/, path);
    t.ok(page.text.endsWith("</script>\n</body>\n</html>\n"), path);
    t.match(firstOf(page.text), { account: { email: "ann@example.com" } }, path);
    const head = await get(service, path, own, "HEAD");
    t.same([head.status, head.text], [200, ""], `HEAD ${path}`);
    const { status, headers, json } = await get(service, path, own, "POST");
    t.same([status, headers.allow, json.type], [405, "GET, HEAD", "bad_request"], `POST ${path}`);
  }
  const absent = [
    ...["/index.html", "/t", "/t/", "/t/owner/absent", "/t/owner/p", "/t/owner/p/app/absent", "/help", "/help/absent"],
    ...[
      "/t/owner/p/app/events/x/y",
      "/t/owner/p/app/settings/x",
      "/T/owner",
      "/t/%ff",
      "/wp-login.php",
      "/.git/config",
    ],
    ...[
      "/assets/",
      "/assets/absent.js",
      "/assets/../app.js",
      "/assets/%2e%2e%2fmanifest.json",
      "/assets/..%5cx",
      "/assets/\\x:99999",
    ],
  ];
  for (const path of absent) {
    const { status, headers, json } = await get(service, path, own);
    t.same([status, headers["content-type"], json.type], [404, "application/json", "not_found"], path);
    if (path.startsWith("/assets/")) continue;
    // A person who has typed a wrong address reads a page.
    const page = await get(service, path, { ...own, accept: "text/html,*/*;q=0.8" });
    t.same([page.status, page.headers["content-type"]], [404, "text/html; charset=utf-8"], path);
    t.match(page.text, /There is no such page.*href="\/"/s, path);
  }
  for (const name of Object.keys(rpcSchema.operations)) {
    const { status, headers } = await get(service, `/${name}`, own);
    t.same([status, headers.allow], [405, "POST"], name);
  }
  t.same(service.logged, []);
});

t.test("a page says what is wrong with the query of its address", async (t) => {
  const { service, own } = await signedIn(t);
  const rows = [
    ["status >= 500", undefined],
    ["| count by path", undefined],
    ["status => 500", [["query/unknown-operator", { start: 7, end: 9 }, ">="]]],
    // The grammar takes it, and the page has no more than that.
    ["status >= 5OO", [["query/unknown-unit", { start: 11, end: 13 }, undefined]]],
    ["| count by path | fields zz", [["query/unknown-column", { start: 25, end: 27 }, undefined]]],
    // As the box shows it: the sign that is not seen is written out.
    ['a = "\u200b" and status >= 5OO', [["query/unknown-unit", { start: 28, end: 30 }, undefined]]],
  ] as const;
  for (const [query, expected] of rows) {
    const page = await get(service, `/t/owner/p/app/events?query=${encodeURIComponent(query)}`, own);
    const { events } = firstOf(page.text);
    const problems = events?.problems?.map(({ code, span, fix }) => [code, span, fix?.edits[0]?.text]);
    t.same(problems, expected, query);
  }
});

t.test("what browsers are told about a page", async (t) => {
  const { service, own } = await signedIn(t);
  for (const method of ["GET", "HEAD"]) {
    t.match((await get(service, "/t/owner/p/app/events", own, method)).headers, {
      "content-security-policy":
        "default-src 'self'; frame-ancestors 'none'; form-action 'self'; base-uri 'none'; object-src 'none'",
      "cache-control": "no-store",
      "referrer-policy": "same-origin",
      "cross-origin-opener-policy": "same-origin",
      "x-content-type-options": "nosniff",
      "x-frame-options": "DENY",
    });
  }
  const { text } = await get(service, "/", own);
  t.notMatch(text, /<script(?![^>]*( src="\/assets\/| type="application\/json"))/, "no inline script");
  t.notMatch(text, /<style|style="|\son\w+="/, "no inline style, no handlers");
  t.notMatch(text, /(?:src|href)="(?!\/)/, "nothing from elsewhere");
});

t.test("files of the web UI", async (t) => {
  const { service } = await signedIn(t);
  const names = readdirSync(ASSETS).filter((name) => /\.(js|css)$/.test(name));
  t.ok(names.length >= 3, names.join());
  for (const name of names) {
    const path = `/assets/${name}`;
    const plain = await get(service, path);
    t.match(plain.headers, {
      "content-type": name.endsWith(".js") ? /^text\/javascript/ : /^text\/css/,
      "cache-control": "public,max-age=31536000,immutable",
      "x-content-type-options": "nosniff",
      vary: "Accept-Encoding",
    });
    t.equal((await get(service, path, {}, "HEAD")).status, 200, `HEAD ${path}`);
    t.equal((await get(service, path, {}, "POST")).status, 405, `POST ${path}`);
    for (const [coding, decode] of [
      ["br", brotliDecompressSync],
      ["gzip", gunzipSync],
    ] as const) {
      const { headers, bytes } = await raw(service, path, { "accept-encoding": coding });
      t.equal(headers["content-encoding"], coding, name);
      t.equal(decode(bytes).toString(), plain.text, name);
    }
  }
  const { status, json } = await get(service, "/assets/main-OLDHASH1.js");
  t.same([status, json.message], [404, "there is no such file: the service has been upgraded, load the page again"]);
  const favicon = await get(service, "/favicon.svg");
  t.same([favicon.status, favicon.headers["content-type"]], [200, "image/svg+xml"]);
  for (const method of ["GET", "HEAD"])
    t.equal((await get(service, "/assets/pages.css", {}, method)).status, 200, method);
});

/** An answer whose body may be compressed. */
function raw(service: TestService, path: string, headers: Readonly<Record<string, string>>) {
  return new Promise<{ headers: Record<string, unknown>; bytes: Buffer }>((resolve, reject) => {
    const options = { host: "127.0.0.1", port: service.running.port, path, headers, agent: false as const };
    httpRequest(options, (response) => {
      const parts: Buffer[] = [];
      response.on("data", (part) => parts.push(part));
      response.on("end", () => resolve({ headers: response.headers, bytes: Buffer.concat(parts) }));
    })
      .on("error", reject)
      .end();
  });
}

t.test("files of the web UI for any client, and after an upgrade", async (t) => {
  const folder = t.testdir({
    ...{ "a-1.js": "let a = 1;", "a-1.js.gz": "packed by gzip", "a-1.js.br": "packed by brotli", "b-1.css": "b {}" },
    ...{ "manifest.json": "{}", ".hidden.js": "hidden", "c-1.js.map": "{}" },
  });
  const send = assetSender(folder);
  const server = createServer((request, response) => send(request.url!.slice(1), request, response));
  t.teardown(() => server.close());
  await once(server.listen(0, "127.0.0.1"), "listening");
  const { port } = server.address() as AddressInfo;
  rmSync(folder, { recursive: true });
  const rows: readonly (readonly [string, Readonly<Record<string, string>>, number, string | undefined, RegExp])[] = [
    ["a-1.js", {}, 200, undefined, /^let a = 1;$/],
    ["a-1.js", { "accept-encoding": "gzip, deflate, br, zstd" }, 200, "br", /^packed by brotli$/],
    ["a-1.js", { "accept-encoding": "GZIP;q=0.5, br;q=0" }, 200, "gzip", /^packed by gzip$/],
    ["a-1.js", { "accept-encoding": "identity, vibrant" }, 200, undefined, /^let a = 1;$/],
    ["b-1.css", { "accept-encoding": "br" }, 200, undefined, /^b \{\}$/],
    ["a-1.js", { range: "bytes=5-2" }, 200, undefined, /^let a = 1;$/],
    ["a-1.js", { range: "bytes=99-" }, 200, undefined, /^let a = 1;$/],
    ...["a-1.js.br", "manifest.json", ".hidden.js", "c-1.js.map", "constructor", ""].map(
      (name) => [name, {}, 404, undefined, /there is no such file/] as const,
    ),
  ];
  for (const [name, headers, status, coding, text] of rows) {
    const answer = await sendTo(port, {
      method: "GET",
      path: `/${name}`,
      headers: { connection: "close", ...headers },
    });
    t.same([answer.status, answer.headers["content-encoding"]], [status, coding], `${name} ${JSON.stringify(headers)}`);
    t.match(answer.text, text, name);
  }
});

t.test("who is not signed in signs in first, and comes back to the same view", async (t) => {
  const at = await startSignInService(t);
  await at.service.person("ana@example.com", "owner");
  await at.service.call("add_project", { project: { id: "app", name: "app" } });
  const query = `message contains "${"long ".repeat(150)}" and level = error`;
  const views = ["/t/owner/p/app/alerts", `/t/owner/p/app/events?${new URLSearchParams({ query, last: "2h" })}`];
  for (const view of views) {
    const answer = await at.browser().open(`${ORIGIN}${view}`, { isFollowing: false });
    t.same([answer.status, answer.headers.location], [303, `/sign-in?next=${encodeURIComponent(view)}`]);

    const window = at.browser();
    const before = at.mail.mails.length;
    const waiting = await askToSignIn(window, "ana@example.com", answer.headers.location);
    const { link } = await at.mail.mailTo("ana@example.com", before + 1);
    const phone = at.browser();
    await phone.submit(await phone.open(link), { code: codeOf(waiting) });
    const back = await window.open(waiting.url);
    t.same([back.url, back.status], [`${ORIGIN}${view}`, 200], "by mail");
    t.ok(firstOf(back.text).account);

    const local = at.browser();
    const printed = await printedLink(at, "ana@example.com");
    const page = await local.submit(await local.open(`${printed}?next=${encodeURIComponent(view)}`));
    t.same([page.url, page.status], [`${ORIGIN}${view}`, 200], "by a link");
  }
  for (const next of ["//evil.com", "/\\evil.com", "https://evil.com", "/%0d%0a//evil.com\r\n"]) {
    const local = at.browser();
    const printed = await printedLink(at, "ana@example.com");
    const page = await local.open(`${printed}?next=${encodeURIComponent(next)}`);
    t.equal(page.forms[0]!.hidden.next, "/", next);
    const done = await local.submit(page, { next }, { isFollowing: false });
    t.equal(done.headers.location, "/", `${next}, in the form`);
  }
  t.equal((await at.browser().open(`${ORIGIN}/`, { isFollowing: false })).headers.location, "/sign-in");
});

t.test("an ended session is led to sign in, and a token shows no page", async (t) => {
  const { service, own } = await signedIn(t);
  for (const headers of [{}, bearer(service.owner), { cookie: own.cookie.replace(/=.*/, "=other") }]) {
    const { status, headers: sent, text } = await get(service, "/t/owner/tokens", headers);
    t.same([status, sent.location, text], [303, "/sign-in?next=%2Ft%2Fowner%2Ftokens", ""]);
  }
});

t.test("what is of another team is not there", async (t) => {
  const { service, own } = await signedIn(t);
  const theirs = await service.person("eve@example.com", "owner", "theirs");
  await service.call("add_project", { project: { id: "hidden", name: "A hidden one" } }, theirs);
  await service.call("add_events", { project_id: "hidden", events: [{ level: "info", message: "a secret" }] }, theirs);
  const [there, absent] = await Promise.all(
    ["/t/theirs/p/hidden/events", "/t/absent/p/hidden/events"].map((path) => get(service, path, own)),
  );
  t.equal(there!.status, 200);
  const { projects, events, account } = firstOf(there!.text);
  t.same([projects, events], [undefined, undefined]);
  t.same(
    account.teams.map(({ id }) => id),
    ["owner"],
  );
  t.equal(there!.text, absent!.text.replaceAll("absent", "theirs"), "the same as for a team that nobody has");
  t.same(firstOf((await get(service, "/t/owner/p/hidden/events", own)).text).events?.search, undefined);
});

t.test("text of logs is data, whatever it looks like", async (t) => {
  const { service, own } = await signedIn(t);
  const messages = [
    "</script><script>alert(1)</script>",
    "<!--<script>",
    "a\u2028b\u2029c",
    "]]>",
    "\u0000\u202e",
    "&lt;",
  ];
  const events = messages.map((message, n) => ({
    id: `e${n}`,
    level: "info",
    message,
    fields: { "</script>": message },
  }));
  await service.call("add_events", { project_id: "app", events });
  const { text } = await get(
    service,
    "/t/owner/p/app/events?query=level+%3D+%22%3C%2Fscript%3E%22+or+level+%3D+info",
    own,
  );
  t.equal(text.match(/<\/script/g)?.length, 2, "the script, and the end of the data");
  t.notOk(/<!--/.test(text));
  const actual = firstOf(text).events!.search!.events.map(({ message }) => message);
  t.same(actual.sort(), [...messages].sort());
});

t.test("first data of a view", async (t) => {
  const { service, own } = await signedIn(t);
  await service.call("add_events", { project_id: "app", events: [{ level: "error", message: "m", fields: { a: 1 } }] });
  const of = async (search: string) =>
    firstOf((await get(service, `/t/owner/p/app/events?${search}`, own)).text).events;
  t.match(await of("query=level+%3D+error"), { search: { events: [{ message: "m" }] }, levels: { points: Array } });
  t.match(await of("query=%7C+count+by+level"), { table: { rows: [["error", 1]] } });
  for (const wrong of ["query=status+%3E", "query=%7C+nonsense"]) {
    const events = await of(wrong);
    t.same([events?.search, events?.table, typeof events?.stopMs], [undefined, undefined, "number"], wrong);
  }
  const long = await get(
    service,
    `/t/owner/p/app/events?${new URLSearchParams({ query: "not ".repeat(4_000) + "x" })}`,
    own,
  );
  t.equal(long.status, 200, "a query of 16,000 characters");
  const large = Array.from({ length: 5 }, () => ({
    level: "error",
    message: "l",
    fields: { text: "x".repeat(250_000) },
  }));
  t.equal((await service.call("add_events", { project_id: "app", events: large.slice(0, 3) })).status, 204);
  t.equal((await of("query=level+%3D+error"))?.search?.events.length, 4);
  await service.call("add_events", { project_id: "app", events: large.slice(3) });
  const left = await of("query=level+%3D+error");
  t.same([left?.search, typeof left?.levels], [undefined, "object"], "too large to wait for");
  const absent = firstOf((await get(service, "/t/owner/p/absent/events", own)).text);
  t.same([absent.events?.search, absent.projects?.length], [undefined, 1]);
});

t.test("a page does not wait for a slow query, and a client that leaves ends it", async (t) => {
  let [searches, aborted, levels] = [0, 0, 0];
  const around = (events: EventsStore): EventsStore =>
    new Proxy(events, {
      get: (target, name) => {
        if (name === "levelTimeseries")
          return (query: Parameters<EventsStore["levelTimeseries"]>[0]) =>
            target.levelTimeseries(query).finally(() => {
              levels++;
            });
        if (name !== "search") return Reflect.get(target, name).bind?.(target) ?? Reflect.get(target, name);
        return async ({ signal }: { signal: AbortSignal }) => {
          searches++;
          await once(signal, "abort");
          aborted++;
          throw signal.reason;
        };
      },
    });
  const clock = new TestClock(Date.now());
  const { service, own } = await signedIn(t, { around, clock });
  const page = get(service, "/t/owner/p/app/events", own);
  await until("what is answered, and what is slow", () => searches === 1 && levels === 1);
  await clock.advance(1_500);
  const { text } = await page;
  const { projects, events } = firstOf(text);
  t.same([projects?.length, events?.search], [1, undefined]);
  t.ok(events?.levels, "what was answered is there");
  t.same([searches, aborted], [1, 1], "the query was given up");

  const options = {
    host: "127.0.0.1",
    port: service.running.port,
    path: "/t/owner/p/app/events",
    agent: false as const,
  };
  const leaving = httpRequest({ ...options, headers: own }, (response) => {
    response.once("data", () => leaving.destroy());
    response.on("error", () => {});
  });
  leaving.on("error", () => {});
  leaving.end();
  await until("the query ends with its client", () => aborted === 2);
  t.same(service.logged, []);
});

t.test("a page is for its own address, and a call with a cookie for its own pages", async (t) => {
  const at = await startSignInService(t);
  await at.service.person("ana@example.com", "owner");
  const { window } = await signInWindow(at, "ana@example.com");
  for (const path of PAGES) {
    const page = await at.service.send({ method: "GET", path, headers: { host: "evil.com" } });
    t.equal(page.status, 421, path);
  }
  const rows: readonly (readonly [Readonly<Record<string, string | undefined>>, number])[] = [
    [{}, 200],
    [{ origin: "https://evil.com", "sec-fetch-site": "cross-site" }, 403],
    [{ origin: "https://evil.com", "sec-fetch-site": "same-origin" }, 403],
    [{ origin: "null" }, 403],
    [{ origin: undefined, "sec-fetch-site": "same-origin" }, 403],
    [{ origin: undefined, "sec-fetch-site": undefined }, 403],
    [{ "content-type": "text/plain" }, 415],
  ];
  for (const [headers, status] of rows)
    t.equal((await window.call(`${ORIGIN}/get_projects`, {}, headers)).status, status, JSON.stringify(headers));
});

// Browsers send a POST again whose connection ends without an answer: what it makes is made once.
t.test("a request of a page that comes again makes nothing twice", async (t) => {
  const { service, own } = await signedIn(t);
  const send = async (name: string, key: string, ofSearch = "level = error") => {
    const headers = { ...own, "content-type": "application/json", "x-team": "owner", "idempotency-key": key };
    const body = JSON.stringify({ search: { project_id: "app", name, query: ofSearch } });
    const { status, text } = await service.send({
      ...{ method: "POST", path: "/add_search" },
      headers: { ...headers, origin: service.running.url },
      body,
    });
    return { status, text };
  };
  const answers = await Promise.all([send("once", "1"), send("once", "1"), send("once", "1")]);
  t.same(answers[0]!.status, 200, answers[0]!.text);
  t.same(new Set(answers.map(({ text }) => text)).size, 1, "each is answered by the first answer");
  t.same((await send("once", "1")).text, answers[0]!.text, "a later one, too");
  t.not((await send("another", "1")).text, answers[0]!.text, "another body is another request");
  t.equal((await send("third", "2", "level =")).status, 400);
  t.equal((await send("third", "2")).status, 200, "what was refused can be sent again");
  const { json } = await service.call("get_searches", { project_id: "app" });
  t.same((json as { searches: { name: string }[] }).searches.map(({ name }) => name).sort(), [
    "another",
    "once",
    "third",
  ]);
});
