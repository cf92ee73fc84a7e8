// Files of events: what is in them, who gets them, and that a part of one never looks like the whole.

import { once } from "node:events";
import { type ClientRequest, request as httpRequest, type IncomingHttpHeaders, type IncomingMessage } from "node:http";
import { connect } from "node:net";
import t, { type Test } from "tap";
import { type EventsStore, StoreError } from "../../../logservice/events/store.ts";
import { csvRow } from "../../../logservice/export/csv.ts";
import { FIRST_TEAM } from "../../../logservice/records/accounts-migration.ts";
import { OpenExports } from "../../../logservice/rpc/open-exports.ts";
import type { Operations } from "../../../schema/rpc.generated.ts";
import { bearer, type Credential, session } from "../../support/credentials.ts";
import { startTestService, type TestService } from "../../support/service.ts";
import { slow } from "../../support/slow.ts";
import { TestClock } from "../../support/test-clock.ts";
import { unchanging } from "../../support/unchanging.ts";
import { until } from "../../support/until.ts";

type ExportInput = Partial<Operations["add_export"]["input"]>;

interface Download {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
  /** Whether the response ended as HTTP says, and was not broken off. */
  readonly isWhole: boolean;
}

const START = "2026-01-31T12:00:00Z";
const STOP = "2026-01-31T13:00:00Z";
const RANGE = { project_id: "app", start: START, stop: STOP };

async function serviceWith(t: Test, events: readonly object[], options: Parameters<typeof startTestService>[1] = {}) {
  const service = await startTestService(t, options);
  await service.call("add_project", { project: { id: "app", name: "app" } });
  for (let at = 0; at < events.length; at += 1_500)
    t.equal(
      (await service.call("add_events", { project_id: "app", events: events.slice(at, at + 1_500) })).status,
      204,
    );
  return service;
}

async function ticketFor(service: TestService, input: ExportInput = {}, credential?: Credential): Promise<string> {
  const { json } = await service.send({
    path: "/add_export",
    headers: { "content-type": "application/json", ...(credential ?? bearer(service.owner)) },
    body: JSON.stringify({ ...RANGE, format: "ndjson", ...input }),
  });
  if (json.ticket === undefined) throw new Error(`${json.type}: ${json.message}`);
  return json.ticket;
}

/** Begins a download; nothing of its body is read until it is. */
async function begin(
  { running, owner }: TestService,
  ticket: string,
  credential: Credential = bearer(owner),
): Promise<{ request: ClientRequest; response: IncomingMessage }> {
  const request = httpRequest({
    ...{ host: "127.0.0.1", port: running.port, path: `/export?ticket=${ticket}`, agent: false },
    headers: credential,
  });
  request.on("error", () => {});
  request.end();
  const [response] = (await once(request, "response")) as [IncomingMessage];
  response.on("error", () => {});
  return { request, response };
}

async function rest(response: IncomingMessage): Promise<Download> {
  const parts: Buffer[] = [];
  response.on("data", (part) => parts.push(part)).resume();
  await new Promise((resolve) => response.once("close", resolve));
  return {
    status: response.statusCode!,
    headers: response.headers,
    text: Buffer.concat(parts).toString(),
    isWhole: response.complete,
  };
}

const download = async (service: TestService, ticket: string, credential?: Credential): Promise<Download> =>
  rest((await begin(service, ticket, credential)).response);

const fileOf = async (service: TestService, input: ExportInput): Promise<Download> =>
  download(service, await ticketFor(service, input));

/** Everything that `search` finds, page by page. */
async function searched(service: TestService, query: string): Promise<object[]> {
  const events: object[] = [];
  let cursor: string | undefined;
  do {
    const { json } = await service.call("search", { ...RANGE, query, limit: 7, ...(cursor && { cursor }) });
    events.push(...json.events);
    cursor = json.cursor;
  } while (cursor);
  return events;
}

const at = (second: number) => `2026-01-31T12:00:${String(second).padStart(2, "0")}Z`;

const EVENTS = [
  { id: "a", timestamp: at(1), level: "INFO", message: "started", fields: { status: 200, user: { email: "a@x" } } },
  { id: "b", timestamp: at(2), level: "warn", message: 'said "no",\r\nleft', fields: { status: -5, ok: false } },
  { id: "c", timestamp: at(3), level: "error", message: "=1+1", fields: { tags: ["x", "y"], user: { email: "@b" } } },
  { id: "d", timestamp: at(4), level: "error", message: "größe 💥", fields: { "odd key": "-3", status: 1e21 } },
];

for (const engine of ["oracle", "duckdb"] as const) {
  t.test(`each format has exactly what search finds, newest first (${engine})`, async (t) => {
    const service = await serviceWith(t, EVENTS, { engine });
    for (const query of ["", "level = error", "status >= 0", "absent = 1"]) {
      const { status, headers, text, isWhole } = await fileOf(service, { query });
      t.same([status, isWhole], [200, true], query);
      t.same(
        text
          .split("\n")
          .slice(0, -1)
          .map((line) => JSON.parse(line)),
        await searched(service, query),
        query,
      );
      t.match(headers, {
        "content-type": "application/x-ndjson",
        "content-disposition": 'attachment; filename="app-20260131T120000Z-20260131T130000Z.ndjson"',
        "cache-control": "no-store",
        "x-content-type-options": "nosniff",
      });
      t.notOk("x-missing-bytes" in headers);
    }
    const named = await fileOf(service, {
      format: "csv",
      fields: ["user", "status", 'fields["odd key"]', "tags", "id"],
    });
    t.equal(named.headers["content-type"], "text/csv; charset=utf-8");
    t.match(named.headers["content-disposition"], /filename="app-.*\.csv"$/);
    t.equal(
      named.text,
      [
        'time,level,message,user,status,"fields[""odd key""]",tags,id',
        "2026-01-31T12:00:04Z,error,größe 💥,,1e+21,'-3,,d",
        `2026-01-31T12:00:03Z,error,'=1+1,"{""email"":""@b""}",,,"[""x"",""y""]",c`,
        '2026-01-31T12:00:02Z,warning,"said ""no"",\r\nleft",,-5,,,b',
        '2026-01-31T12:00:01Z,info,started,"{""email"":""a@x""}",200,,,a',
        "",
      ].join("\r\n"),
    );
    const all = await fileOf(service, { format: "csv", query: "level = error" });
    const [head, first, second] = all.text.split("\r\n");
    t.same(head!.split(",").slice(0, 3), ["time", "level", "message"]);
    t.same(head!.split(",").slice(3).sort(), ['"fields[""odd key""]"', "status", "tags", "user.email"]);
    t.match(first, "größe");
    t.match(second, "'@b", "a formula in a field");
    t.equal((await fileOf(service, { format: "csv", fields: [], query: "absent = 1" })).text, "time,level,message\r\n");
    t.equal((await fileOf(service, { query: "absent = 1" })).text, "", "an empty file of lines is empty");
  });

  t.test(`a query with stages gives its table (${engine})`, async (t) => {
    const service = await serviceWith(t, EVENTS, { engine });
    const query = "| count by level | sort level";
    const { rows } = (await service.call("aggregate", { ...RANGE, query })).json;
    t.ok(rows.length === 3);
    t.equal(
      (await fileOf(service, { query, format: "csv" })).text,
      csvRow(["level", "count"]) + rows.map(csvRow).join(""),
    );
    t.equal(
      (await fileOf(service, { query })).text,
      rows.map(([level, count]: unknown[]) => `${JSON.stringify({ level, count })}\n`).join(""),
    );
    const events = await fileOf(service, { query: "status = -5 | limit 1 | fields message, user.email" });
    t.equal(events.text, '{"message":"said \\"no\\",\\r\\nleft","user.email":null}\n');
  });
}

t.test("cells of a CSV", (t) => {
  const rows: readonly [unknown, string][] = [
    ["plain", "plain"],
    ["", ""],
    [undefined, ""],
    [null, ""],
    [0, "0"],
    [-5.5, "-5.5"],
    [true, "true"],
    ["-5.5", "'-5.5"],
    ["=cmd|' /C calc'!A0", "'=cmd|' /C calc'!A0"],
    ["+1", "'+1"],
    ["@SUM(1)", "'@SUM(1)"],
    ["\ufeff=1+1", "'\ufeff=1+1"],
    ["\u00a0 -1", "'\u00a0 -1"],
    [" plain", " plain"],
    ["\tx", "'\tx"],
    ["\rx", `"'\rx"`],
    ["\n=x", `"'\n=x"`],
    ['=HYPERLINK("http://x","y")', `"'=HYPERLINK(""http://x"",""y"")"`],
    ["a,b", '"a,b"'],
    ['"', '""""'],
    ["a\nb", '"a\nb"'],
    [" =x", "' =x"],
    ["\0=1+1", "'\0=1+1"],
    ["\0 \0@x", "'\0 \0@x"],
    ["\uff1d1+1", "'\uff1d1+1"],
    [" \uff0b1", "' \uff0b1"],
    ["\uff201", "'\uff201"],
    ["\ufe661", "'\ufe661"],
    ["\u200b=1", "'\u200b=1"],
    ["\u2060\u200d@x", "'\u2060\u200d@x"],
    ["\ufe0f+1", "'\ufe0f+1"],
    ["\u0085=1", "'\u0085=1"],
    ["\u0001-1", "'\u0001-1"],
    ["\u200bx=1", "\u200bx=1"],
    ["\0x", "\0x"],
    [" x = 1", " x = 1"],
    [{ a: "=1" }, '"{""a"":""=1""}"'],
    [["-"], '"[""-""]"'],
    ["\u202egnp", "\u202egnp"],
    ["\0", "\0"],
  ];
  for (const [value, cell] of rows) t.equal(csvRow([value, 1]), `${cell},1\r\n`, JSON.stringify(value));
  t.end();
});

t.test("what is refused, before there is a ticket", async (t) => {
  const service = await serviceWith(t, EVENTS);
  const rows: readonly [ExportInput, number, string][] = [
    [{ project_id: "absent" }, 404, 'there is no project "absent"'],
    [{ query: "status >" }, 400, "query: "],
    [{ start: STOP, stop: START }, 400, "stop: must not be before start"],
    [{ format: "xlsx" as "csv" }, 400, "format: must be one of: ndjson, csv"],
    [
      { format: "csv", fields: ["ok", "a or b"] },
      400,
      'fields[1]: must be a field as a query names it, such as user.email or fields["odd key"]',
    ],
    [
      { query: "| count", fields: ["a"] },
      400,
      "fields: leave it out: the stages of the query say which columns there are",
    ],
  ];
  for (const [input, status, message] of rows) {
    const answer = await service.call("add_export", { ...RANGE, format: "ndjson", ...input });
    t.equal(answer.status, status, message);
    t.ok(answer.json.message.startsWith(message), answer.json.message);
  }
  t.equal((await service.call("add_export", { ...RANGE })).json.message, "format: is required");
  const many = Array.from({ length: 10_001 }, (_, n) => ({
    timestamp: at(1),
    level: "info",
    message: "m",
    fields: { n },
  }));
  for (const events of [many.slice(0, 10_000), many.slice(10_000)])
    await service.call("add_events", { project_id: "app", events });
  const refused = await service.call("add_export", { ...RANGE, format: "csv", query: "| count by n" });
  t.same(
    [refused.status, refused.json.message],
    [400, "query: its stages give more than 10000 rows: add | limit 10000, or narrow the range"],
  );
  const wide = Object.fromEntries(Array.from({ length: 240 }, (_, n) => [`f${n}`, 1]));
  const events = [0, 1, 2, 3, 4].map((k) => ({
    ...{ timestamp: at(9), level: "info", message: "wide" },
    fields: Object.fromEntries(Object.entries(wide).map(([name, one]) => [`${name}_${k}`, one])),
  }));
  await service.call("add_events", { project_id: "app", events });
  const unnamed = await service.call("add_export", { ...RANGE, format: "csv" });
  t.equal(unnamed.json.message, "fields: is required, as there are 1000 fields or more; or take the format ndjson");
  t.equal((await service.call("add_export", { ...RANGE, format: "csv", fields: ["n"] })).status, 200);
});

t.test("a ticket is for one download, soon, by who asked for it", async (t) => {
  let nowMs = Date.now();
  const places = { exportsPerPerson: 99, exportsPerTeam: 99, exportsAtOnce: 99 };
  const service = await serviceWith(t, EVENTS, { nowMs: () => nowMs, limits: places });
  const gone = "this ticket was used, has ended or is not yours: add_export makes another";
  const expectGone = async (ticket: string, title: string, credential?: Credential) => {
    const { status, text } = await download(service, ticket, credential);
    t.same([status, JSON.parse(text)], [404, { type: "not_found", message: gone }], title);
  };
  const used = await ticketFor(service);
  t.equal((await download(service, used)).status, 200);
  await expectGone(used, "used twice");

  const late = await ticketFor(service);
  nowMs += 60_000;
  await expectGone(late, "after a minute");
  const early = await ticketFor(service);
  nowMs -= 5_001;
  await expectGone(early, "by a clock that was set back");
  nowMs += 5_001;
  const ahead = await ticketFor(service);
  nowMs -= 5_000;
  t.equal((await download(service, ahead)).status, 200, "made by a process whose clock is a little ahead");
  nowMs += 5_000;
  const inTime = await ticketFor(service);
  nowMs += 59_999;
  t.equal((await download(service, inTime)).status, 200, "just in time");

  await expectGone(`${FIRST_TEAM}.made-up`, "made up");
  await expectGone("", "none");
  await expectGone("%2e%2e", "no ticket");

  await service.person("ann@example.com", "owner");
  await service.person("ann@example.com", "owner", "other");
  await service.person("bob@example.com", "member");
  const here = { "x-team": FIRST_TEAM };
  const ann = async () => ({ ...(await session(service, "ann@example.com")), ...here });
  const own = await ann();
  const others: readonly (readonly [string, Credential])[] = [
    ["another token", bearer(await service.token(["events:read"]))],
    ["another session of hers", await ann()],
    ["her own token of the command", bearer(await service.person("ann@example.com", "owner"))],
    ["another person", await session(service, "bob@example.com")],
  ];
  const ticket = await ticketFor(service, {}, own);
  for (const [title, credential] of others) await expectGone(ticket, title, credential);
  const { "x-team": _, ...cookie } = own as Record<string, string>;
  const { status, isWhole } = await download(service, ticket, cookie);
  t.same([status, isWhole], [200, true], "still good for her, and the link says the team");

  const stranger = bearer(await service.person("eve@example.com", "owner", "elsewhere"));
  const foreign = await download(service, await ticketFor(service), stranger);
  t.same([foreign.status, JSON.parse(foreign.text).message], [403, `this token is not of the team "${FIRST_TEAM}"`]);
  const poor = await download(service, await ticketFor(service), bearer(await service.token(["projects:read"])));
  t.same([poor.status, JSON.parse(poor.text).message], [403, "this token lacks the scope events:read"]);
  t.equal((await download(service, await ticketFor(service), {})).status, 401, "no credential");

  const tickets = [];
  for (let n = 0; n < 17; n++) tickets.push(await ticketFor(service));
  await expectGone(tickets[0]!, "the oldest of seventeen");
  t.equal((await download(service, tickets[1]!)).status, 200);
});

t.test("a page of another origin cannot start a download with the cookie", async (t) => {
  const service = await serviceWith(t, EVENTS);
  await service.person("ann@example.com", "owner");
  const own = (await session(service, "ann@example.com")) as Record<string, string>;
  const ticket = await ticketFor(service, {}, own);
  const { origin: _, ...cookie } = own;
  for (const site of ["cross-site", "same-site", "none", undefined]) {
    const { "sec-fetch-site": __, ...rest } = cookie;
    const sent = { ...rest, ...(site !== undefined && { "sec-fetch-site": site }) };
    t.equal((await download(service, ticket, sent)).status, 403, String(site));
  }
  t.equal(
    (await download(service, ticket, { ...cookie, "sec-fetch-site": "same-origin" })).status,
    200,
    "as a link does",
  );
});

t.test("GET alone, and HTTP/1.1 alone", async (t) => {
  const service = await serviceWith(t, EVENTS);
  const ticket = await ticketFor(service);
  for (const method of ["HEAD", "POST", "PUT"]) {
    const { status, headers } = await service.send({
      method,
      path: `/export?ticket=${ticket}`,
      headers: bearer(service.owner),
    });
    t.same([status, headers.allow], [405, "GET"], method);
  }
  const socket = connect(service.running.port, "127.0.0.1").setEncoding("utf8");
  t.teardown(() => socket.destroy());
  let text = "";
  socket.on("data", (part) => {
    text += part;
  });
  socket.write(`GET /export?ticket=${ticket} HTTP/1.0\r\nAuthorization: Bearer ${service.owner}\r\n\r\n`);
  await once(socket, "close");
  t.match(text, /^HTTP\/1\.1 400 /);
  t.match(text, "an export needs HTTP/1.1");
  t.equal((await download(service, ticket)).status, 200, "the ticket is still good");
});

const BIG = Array.from({ length: 100_000 }, (_, n) => ({
  id: `e${n}`,
  timestamp: new Date(Date.parse(START) + n * 30).toISOString(),
  level: n % 50 === 0 ? "error" : "info",
  message: `message ${n} ${"x".repeat(200)}`,
  fields: { n, path: `/p/${n % 100}` },
}));

t.test("100,000 events, in order, whole, with bounded memory", slow(), async (t) => {
  const service = await serviceWith(t, BIG, { engine: "duckdb" });
  const { response } = await begin(service, await ticketFor(service));
  let left = BIG.length;
  let most = 0;
  let text = "";
  const ids = new Set<string>();
  const before = process.memoryUsage().arrayBuffers;
  for await (const part of response.setEncoding("utf8")) {
    const lines = (text + part).split("\n");
    text = lines.pop()!;
    for (const line of lines) {
      const { id, fields } = JSON.parse(line);
      ids.add(id);
      if (fields.n !== --left) t.fail(`${fields.n} instead of ${left}`);
    }
    most = Math.max(most, process.memoryUsage().arrayBuffers - before);
  }
  t.same([response.complete, ids.size, left, text], [true, BIG.length, 0, ""]);
  t.ok(most < 64 * 2 ** 20, `${(most / 2 ** 20).toFixed(0)} MiB of buffers, of a file of 30`);
  const { text: metrics } = await service.send({ method: "GET", path: "/metrics" });
  t.match(metrics, "logservice_exported_rows_total 100000\n");
  t.match(metrics, /logservice_exported_bytes_total \d{8}\n/);
  t.match(metrics, "logservice_exports 0\n");
  t.match(metrics, 'logservice_requests_total{route="export",status="200"} 1');
});

/** Larger than what the system buffers for a client that reads nothing. */
const LONG = Array.from({ length: 12_000 }, (_, n) => ({
  ...{ timestamp: new Date(Date.parse(START) + n * 30).toISOString(), level: "info", message: "x".repeat(2_500) },
}));

/** A service with many events whose pages can be watched. */
async function watched(t: Test, options: Parameters<typeof startTestService>[1] = {}) {
  const pages = { count: 0, fail: undefined as Error | undefined, missing: 0, hold: async (_limit: number) => {} };
  const around = (events: EventsStore): EventsStore =>
    new Proxy(events, {
      get: (target, name) => {
        if (name !== "search") return Reflect.get(target, name).bind?.(target) ?? Reflect.get(target, name);
        return async (query: Parameters<EventsStore["search"]>[0]) => {
          pages.count++;
          if (pages.count > 1 && pages.fail) throw pages.fail;
          await pages.hold(query.limit);
          const page = await target.search(query);
          const missingBytes = pages.count > 1 ? pages.missing : 0;
          return { ...page, stats: { ...page.stats, missingBytes: page.stats.missingBytes + missingBytes } };
        };
      },
    });
  return { service: await serviceWith(t, LONG, { around, ...options }), pages };
}

/** Resolves when no more is sent, as the client reads nothing. */
async function heldUp(service: TestService): Promise<void> {
  const sent = async () => {
    const { text } = await service.send({ method: "GET", path: "/metrics" });
    return /^logservice_exported_bytes_total .*$/m.exec(text)?.[0];
  };
  await unchanging("an export that is held up", sent);
}

t.test("a client that reads nothing stops the reading of pages", async (t) => {
  const { service, pages } = await watched(t);
  const { response } = await begin(service, await ticketFor(service));
  response.pause();
  await heldUp(service);
  t.ok(pages.count < 3, `${pages.count} pages of 3`);
  t.equal((await service.call("get_count", RANGE)).status, 200, "others are answered");
  t.equal((await rest(response)).text.split("\n").length, LONG.length + 1, "and goes on when it is read");
});

t.test("what ends an export while it is sent breaks it off", slow(), async (t) => {
  type Watched = Awaited<ReturnType<typeof watched>>;
  const rows: Readonly<Record<string, (at: Watched, token: string) => unknown>> = {
    "the token is removed": ({ service }, token) => service.call("remove_token", { token_id: token }),
    "the project is removed": ({ service }) => service.call("remove_project", { project_id: "app" }),
    "the service stops": ({ service }) => service.stop(),
    "a page fails": ({ pages }) => {
      pages.fail = new StoreError("bad_request", "broken");
    },
    "a file is lost": ({ pages }) => {
      pages.missing = 5;
    },
  };
  for (const [title, end] of Object.entries(rows)) {
    const clock = new TestClock(Date.now());
    const at = await watched(t, { clock });
    const token = await at.service.token(["events:read"]);
    const { response } = await begin(at.service, await ticketFor(at.service, {}, bearer(token)), bearer(token));
    response.pause();
    await heldUp(at.service);
    const ended = end(at, token);
    if (title === "the project is removed") await ended;
    const { isWhole, text } = await rest(response);
    t.equal(isWhole, false, title);
    t.ok(text.length > 0 && text.split("\n").length < LONG.length, title);
    await ended;
    t.equal(clock.monotonicMs(), 0, `${title}: at once`);
    if (title !== "the service stops")
      t.match((await at.service.send({ method: "GET", path: "/metrics" })).text, "logservice_exports 0\n", title);
    t.same(at.service.logged, [], title);
    await at.service.stop();
  }
});

t.test("a client that goes away ends its export", async (t) => {
  const { service, pages } = await watched(t);
  const { request, response } = await begin(service, await ticketFor(service));
  response.pause();
  await heldUp(service);
  request.destroy();
  const metrics = async () => (await service.send({ method: "GET", path: "/metrics" })).text;
  await until("it has ended", async () => (await metrics()).includes("logservice_exports 0\n"));
  t.ok(pages.count < 3);
  t.same(service.logged, []);
});

t.test("a failure of the first page is an answer", async (t) => {
  const { service, pages } = await watched(t);
  const ticket = await ticketFor(service);
  pages.count = 1;
  pages.fail = new StoreError("timeout", "too slow");
  const { status, text, headers } = await download(service, ticket);
  t.same([status, JSON.parse(text)], [504, { type: "timeout", message: "too slow" }]);
  t.notOk("content-disposition" in headers);
});

t.test("what is missing is said before the first byte", async (t) => {
  const { service, pages } = await watched(t);
  pages.count = 1;
  pages.missing = 1234;
  const { headers, isWhole } = await download(service, await ticketFor(service));
  t.same([headers["x-missing-bytes"], isWhole], ["1234", true]);
});

t.test("an export takes one slot at a time, and waits for it as long as it has to", async (t) => {
  const HOLD_MS = 50;
  const clock = new TestClock(Date.now());
  const limits = { queriesPerToken: 1, queriesWaitingPerToken: 1, holdMs: HOLD_MS, queryMs: 5_000 };
  const { service, pages } = await watched(t, { limits, clock });
  const waits = (what: string) => until(what, () => clock.timers.includes(HOLD_MS));
  const lengths = [1, 2, 3];
  let searches = 0;
  pages.hold = async (limit) => {
    if (limit > 1) return void (await waits("a search that waits for the slot of the page"));
    if (++searches === lengths.length) return;
    await waits("the next page, which waits for the slot of the search");
    await clock.advance(HOLD_MS);
    await waits("the page that was refused, and is asked for again");
  };
  const downloading = download(service, await ticketFor(service));
  await until("the first page", () => pages.count === 1);
  const answered = [];
  for (const _ of lengths) {
    answered.push((await service.call("search", { ...RANGE, limit: 1 })).status);
    await clock.advance(HOLD_MS);
  }
  const { text, isWhole } = await downloading;
  t.same([isWhole, text.split("\n").length], [true, LONG.length + 1]);
  t.same(answered, [200, 200, 200], "searches were answered meanwhile");
});

t.test("exports at once: the exact limits of a person, a team and all", (t) => {
  const stopping = new AbortController();
  const limits = { exportsPerPerson: 2, exportsPerTeam: 3, exportsAtOnce: 5, holdMs: 50 };
  const open = new OpenExports(limits, stopping.signal, new TestClock());
  const end = "are being sent already: wait until one of them has ended, or end one";
  const enter = (by: string, team: string, id = `session of ${by}`) => open.enter("", { id, by, team });
  const refuses = (by: string, team: string, message: string, id?: string) =>
    t.throws(() => enter(by, team, id), { message, name: "RpcError" });
  const leave = enter("ann", "a");
  enter("ann", "b", "a token of hers");
  refuses("ann", "c", `2 exports of yours, by any of your sessions and tokens, ${end}`, "another session");
  enter("", "a", "tok_1");
  enter("bob", "a");
  refuses("cid", "a", `3 exports of this team ${end}`);
  enter("", "b", "tok_2");
  refuses("eve", "e", `5 exports ${end}`);
  leave();
  leave();
  t.match(open.metrics(), { exports: 4 });
  enter("", "e", "tok_2");
  refuses("", "e", `2 exports of this token ${end}`, "tok_2");
  stopping.abort();
  t.throws(() => enter("eve", "e"), { message: "the service is shutting down" });
  t.end();
});

t.test("a ticket keeps the place for its export for ten seconds, for who asked for it", async (t) => {
  const clock = new TestClock();
  const limits = { exportsPerPerson: 1, exportsPerTeam: 1, exportsAtOnce: 1, holdMs: 50 };
  const open = new OpenExports(limits, new AbortController().signal, clock);
  const [ann, bob] = [
    { id: "1", by: "ann", team: "a" },
    { id: "2", by: "bob", team: "b" },
  ];
  const full = { message: /^1 exports/ };
  open.keep("a.1", ann);
  t.match(open.metrics(), { exports: 0 }, "nothing is sent yet");
  t.throws(() => open.requirePlace(bob), full);
  t.throws(() => open.enter("a.1", bob), full, "another person with the same ticket");
  t.throws(() => open.enter("a.2", ann), full, "another ticket");
  open.enter("a.1", ann)();
  open.keep("a.3", ann);
  await clock.advance(9_999);
  t.throws(() => open.requirePlace(bob), full);
  await clock.advance(1);
  open.requirePlace(bob);
  open.enter("b.1", bob);
  t.throws(() => open.enter("a.3", ann), full, "it has ended");
});

t.test(
  "a third export of a person is refused when it is asked for, and a ticket that is late stays good",
  async (t) => {
    const { service } = await watched(t);
    const tickets = [await ticketFor(service), await ticketFor(service)];
    const addExport = () => service.call("add_export", { ...RANGE, format: "ndjson" });
    const message = "2 exports of this token are being sent already: wait until one of them has ended, or end one";
    t.match(await addExport(), { status: 429, json: { type: "rate_limited", message } }, "places are kept for two");
    const held = [];
    for (const ticket of tickets) held.push((await begin(service, ticket)).response.pause());
    const { status, headers } = await addExport();
    t.same([status, headers["retry-after"]], [429, "3"]);
    for (const response of held) await rest(response);
    t.equal((await download(service, await ticketFor(service))).status, 200);
  },
);

t.test("all sessions and tokens of a person, in all teams, count together, and not those of others", async (t) => {
  const { service } = await watched(t, { limits: { exportsPerPerson: 1 } });
  await service.person("bob@example.com", "member");
  const token = bearer(await service.person("ann@example.com", "owner"));
  const here = { "x-team": FIRST_TEAM };
  const of = async (email: string) => ({ ...(await session(service, email)), ...here });
  const { response } = await begin(service, await ticketFor(service, {}, token), token);
  response.pause();
  await t.rejects(ticketFor(service, {}, await of("ann@example.com")), {
    message: /^rate_limited: 1 exports of yours/,
  });
  const bob = await of("bob@example.com");
  const { "x-team": _, ...cookie } = bob as Record<string, string>;
  t.equal((await download(service, await ticketFor(service, {}, bob), cookie)).status, 200);
  await rest(response);
});

t.test("a client that reads nothing loses its place, even if it sends something", async (t) => {
  const clock = new TestClock(Date.now());
  const stalledMs = 90_000;
  const { service } = await watched(t, { limits: { stalledMs }, clock });
  const ticket = await ticketFor(service);
  const socket = connect(service.running.port, "127.0.0.1").pause();
  socket.on("error", () => {});
  t.teardown(() => socket.destroy());
  socket.write(`GET /export?ticket=${ticket} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${service.owner}\r\n\r\n`);
  const metrics = async () => (await service.send({ method: "GET", path: "/metrics" })).text;
  await until("it is being sent", async () => (await metrics()).includes("logservice_exports 1\n"));
  await heldUp(service);
  await clock.advance(stalledMs - 1);
  // Line ends before a request are allowed (RFC 9112, section 2.2), and count as traffic.
  await new Promise<void>((resolve) => socket.write("\r\n", () => resolve()));
  t.match(await metrics(), "logservice_exports 1\n", "not before");
  await clock.advance(1);
  await until("it was broken off", async () => (await metrics()).includes("logservice_exports 0\n"));
  t.same(service.logged, []);
});

t.test("the audit says who exported what", async (t) => {
  const service = await serviceWith(t, EVENTS);
  await ticketFor(service, { query: "status = 1" });
  const token = bearer(await service.token(["events:read"]));
  await download(service, await ticketFor(service, { query: "level = error", format: "csv" }, token), token);
  await fileOf(service, {});
  const { entries } = (await service.call("get_audit", { project_id: "app" })).json;
  const lines = entries.filter(({ operation }: { operation: string }) => operation === "export");
  t.match(lines, [
    { result: "done", address: "127.0.0.1", detail: `ndjson from ${START} to ${STOP}` },
    { actor: /^tok_/, project_id: "app", detail: `csv from ${START} to ${STOP}: level = error` },
  ]);
  t.equal(lines.length, 2, "a ticket alone is no export");
});
