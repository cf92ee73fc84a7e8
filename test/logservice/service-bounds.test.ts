// Bounds on both sides, and what must hold when something is forged, repeated or given up.

import { readFileSync } from "node:fs";
import type { ServerResponse } from "node:http";
import { connect } from "node:net";
import { connect as connectTls } from "node:tls";
import { gzipSync } from "node:zlib";
import t from "tap";
import { systemClock } from "../../grammar/units/clock.ts";
import type { EventsStore } from "../../logservice/events/store.ts";
import { QuerySlots } from "../../logservice/http/query-slots.ts";
import { RequestRate } from "../../logservice/http/request-rate.ts";
import { listen } from "../../logservice/http/server.ts";
import { LIMITS } from "../../logservice/limits.ts";
import { readTeamLimits } from "../../logservice/records/team-limits.ts";
import { sendTo, startTestService } from "../support/service.ts";
import { TestClock } from "../support/test-clock.ts";
import { until } from "../support/until.ts";

t.test("the limits are those of the documents", (t) => {
  const { queryMs, bodyBytes, inflatedBytes, eventsPerBatch, queriesPerToken } = LIMITS;
  t.same(
    { queryMs, bodyBytes, inflatedBytes, eventsPerBatch, queriesPerToken },
    { queryMs: 30_000, bodyBytes: 5 << 20, inflatedBytes: 20 << 20, eventsPerBatch: 10_000, queriesPerToken: 4 },
  );
  t.end();
});

t.test("a team has so many records of each kind", async (t) => {
  const { projectsPerTeam, alertsPerTeam, searchesPerTeam, tokensPerTeam, notificationsPerTeam } = LIMITS;
  t.same(
    [projectsPerTeam, alertsPerTeam, searchesPerTeam, tokensPerTeam, notificationsPerTeam],
    [200, 1_000, 5_000, 1_000, 1_000],
  );
  const limits = {
    ...{ projectsPerTeam: 2, alertsPerTeam: 3, searchesPerTeam: 1, notificationsPerTeam: 2 },
    // The owner's is one of them.
    tokensPerTeam: 3,
  };
  const service = await startTestService(t, { limits });
  const other = await service.person("ann@example.com", "owner", "other");
  const mine = await service.person("bo@example.com", "owner");
  const target = { project_id: "app", type: "email", name: "ops", email_addresses: ["bo@example.com"] };
  const add = (operation: string, body: unknown, token = mine) => service.call(operation, body, token);
  await add("add_project", { project: { id: "app", name: "app" } });
  const { id: notification_id } = (await add("add_notification", { notification: target })).json;
  const alert = { project_id: "app", name: "a", query: "error", severity: "error", operator: ">", notification_id };
  const search = { project_id: "app", name: "s", query: "error" };
  const rows: [operation: string, body: unknown, left: number, limit: string][] = [
    ["add_project", { project: { name: "p" } }, 1, "at most 2 projects (projectsPerTeam)"],
    ["add_notification", { notification: target }, 1, "at most 2 notifications (notificationsPerTeam)"],
    ["add_alert", { alert }, 3, "at most 3 alerts (alertsPerTeam)"],
    ["add_search", { search }, 1, "at most 1 searches (searchesPerTeam)"],
    ["add_token", { token: { description: "t", scopes: ["events:read"] } }, 1, "at most 3 tokens (tokensPerTeam)"],
  ];
  await add("add_ci_token", { name: "ci" });
  for (const [operation, body, left, limit] of rows) {
    for (let n = 0; n < left; n++) t.equal((await add(operation, body)).status, 200, `${operation} ${n}`);
    const { status, json, headers } = await add(operation, body);
    t.match([status, json.type, headers["retry-after"]], [429, "rate_limited", undefined], operation);
    t.equal(json.message, `a team has ${limit}: remove one, or ask whoever runs the service for more`);
  }
  t.equal((await add("add_ci_token", { name: "ci" })).status, 429, "tokens of CI count, too");
  t.equal((await add("add_project", { project: { name: "p" } }, other)).status, 200, "other teams have their own");
  const [first] = (await add("get_searches", { project_id: "app" })).json.searches;
  await add("remove_search", { project_id: "app", search_id: first.id });
  t.equal((await add("add_search", { search })).status, 200, "after one is removed");
});

t.test("limits of a team as an operator writes them", (t) => {
  const rows: [text: string, expected: unknown][] = [
    ["", {}],
    ["projects=500", { projectsPerTeam: 500 }],
    [" alerts = 2000 ,tokens=0,", { alertsPerTeam: 2_000, tokensPerTeam: 0 }],
    ["users=5", ['"users=5" is no limit of a team']],
    ["projects=-1,searches=many", ['"projects=-1" is no limit of a team', '"searches=many" is no limit of a team']],
    ["toString=1", ['"toString=1" is no limit of a team']],
  ];
  for (const [text, expected] of rows) {
    const read = readTeamLimits(text);
    t.same(read.ok ? read.value : read.problems, expected, text);
  }
  t.end();
});

t.test("an id with a line end forges nothing in a tail", async (t) => {
  const service = await startTestService(t);
  await service.call("add_project", { project: { id: "app", name: "app" } });
  const socket = connect(service.running.port, "127.0.0.1").setEncoding("utf8");
  t.teardown(() => socket.destroy());
  let text = "";
  socket.on("data", (chunk) => {
    text += chunk;
  });
  socket.write(`GET /tail?project_id=app HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${service.owner}\r\n\r\n`);
  await until("the head", () => text.includes("\r\n\r\n"));
  for (const end of ["\n", "\r", "\r\n", "\0"]) {
    const events = [{ id: `a${end}data: forged`, level: "info", message: JSON.stringify(end) }];
    await service.call("add_events", { project_id: "app", events });
  }
  await service.call("add_events", { project_id: "app", events: [{ id: "last", level: "info", message: "m" }] });
  await until("the last event", () => text.includes("id: last"));
  t.notMatch(text, /^data: forged/m);
  t.notOk(text.includes("\0"));
  t.equal(text.match(/^data: \{/gm)?.length, 5, "all are shown");
  t.same(text.match(/^id: .*$/gm), ["id: last"], "without an id that would end early");
});

t.test("slots of queries: the exact limits, and none is lost to who gave up", async (t) => {
  const clock = new TestClock();
  const slots = new QuerySlots({ queriesPerToken: 2, queriesWaitingPerToken: 1, holdMs: 50 }, clock);
  const never = new AbortController().signal;
  let running = 0;
  let free: (() => void)[] = [];
  const run = () =>
    slots.run("token", never, async () => {
      running++;
      await new Promise<void>((resolve) => free.push(resolve));
      running--;
    });
  const freeAll = () => {
    for (const one of free) one();
    free = [];
  };
  const first = [run(), run()];
  await until("both", () => running === 2);
  const waiting = run();
  await t.rejects(
    run(),
    { message: /^2 queries of this token are running already, and 1 are waiting: / },
    "one waits, not two",
  );
  const refused = t.rejects(waiting, { message: /^2 queries of this token are running already: / }, "and not for ever");
  await clock.advance(49);
  t.same(clock.timers, [1], "as long as it may be held");
  await clock.advance(1);
  await refused;
  t.equal(running, 2);
  freeAll();
  await Promise.all(first);
  const second = [run(), run()];
  await until("both slots again", () => running === 2);
  const third = run();
  freeAll();
  await Promise.all(second);
  await until("the one that waited", () => running === 1);
  freeAll();
  await third;
});

t.test("slots of queries: who leaves while waiting is gone, and keeps nobody else waiting", async (t) => {
  const slots = new QuerySlots({ queriesPerToken: 1, queriesWaitingPerToken: 1, holdMs: 20_000 }, new TestClock());
  const never = new AbortController().signal;
  let free = () => {};
  const held = new Promise<void>((resolve) => {
    free = resolve;
  });
  const first = slots.run("token", never, () => held);
  const left = new Error("the client left");
  const leaving = new AbortController();
  let isRun = false;
  const run = async () => {
    isRun = true;
  };
  const waiting = slots.run("token", leaving.signal, run);
  leaving.abort(left);
  await t.rejects(waiting, left, "at once");
  await t.rejects(slots.run("token", AbortSignal.abort(left), run), left, "one that left before it came");
  const next = slots.run("token", never, async () => "next");
  free();
  await first;
  t.equal(await next, "next", "its place is free");
  t.notOk(isRun);
});

t.test("slots of queries: the time of one that has begun is over for nobody else", async (t) => {
  const clock = new TestClock();
  const slots = new QuerySlots({ queriesPerToken: 1, queriesWaitingPerToken: 5, holdMs: 2_000 }, clock);
  const never = new AbortController().signal;
  const frees: (() => void)[] = [];
  const run = () => slots.run("token", never, () => new Promise<void>((resolve) => void frees.push(resolve)));
  const [first, second] = [run(), run()];
  await until("the first", () => frees.length === 1);
  frees[0]!();
  await first;
  await until("the second", () => frees.length === 2);
  await clock.advance(1_200);
  const third = run();
  // Now the second would have been refused, had it not begun.
  await clock.advance(1_200);
  frees[1]!();
  await second;
  await until("the third", () => frees.length === 3);
  frees[2]!();
  await third;
  t.equal(frees.length, 3, "each ran, and once");
});

t.test("a request that is refused at once takes nothing from those who wait", async (t) => {
  const clock = new TestClock();
  const rate = new RequestRate({ requestsPerSecond: 2, requestBurst: 1, holdMs: 3_000, requestsHeld: 1 }, clock);
  const never = new AbortController().signal;
  await rate.take("token", never);
  const held = rate.take("token", never);
  for (let i = 0; i < 20; i++) await t.rejects(rate.take("token", never), { message: /^too many requests / });
  await clock.advance(500);
  await held;
  const next = rate.take("token", never);
  await clock.advance(500);
  await next;
  t.equal(clock.monotonicMs(), 1_000, "a second after the first one, not eleven");
});

t.test("unpacked bytes count among those in flight", async (t) => {
  const service = await startTestService(t, { limits: { bodyBytesInFlight: 10_000 } });
  const headers = { authorization: `Bearer ${service.owner}`, "content-encoding": "gzip" };
  const send = (bytes: number) =>
    service.send({ path: "/get_projects", headers, body: gzipSync(`{"x":"${"x".repeat(bytes)}"}`) });
  t.equal((await send(9_000)).status, 200);
  for (let i = 0; i < 3; i++) t.equal((await send(20_000)).status, 503);
  t.equal((await send(9_000)).status, 200, "and are let go of");
});

t.test("ids: their length, and twice in a batch", async (t) => {
  const service = await startTestService(t, { engine: "duckdb" });
  await service.call("add_project", { project: { id: "app", name: "app" } });
  const add = (...ids: string[]) =>
    service.call("add_events", {
      project_id: "app",
      events: ids.map((id, i) => ({ id, timestamp: `2026-01-01T00:00:0${i}Z`, level: "info", message: `m${i}` })),
    });
  for (const letter of ["x", "é"]) {
    t.equal((await add(letter.repeat(255))).status, 204);
    t.equal((await add(letter.repeat(256))).status, 400);
  }
  t.equal((await add("twice", "once", "twice")).status, 204);
  const range = { project_id: "app", start: "2026-01-01T00:00:00Z", stop: "2026-01-01T00:00:09Z" };
  const { events } = (await service.call("search", { ...range, order: "ascending" })).json;
  t.same(
    events.filter(({ id }: { id: string }) => id === "twice").map(({ message }: { message: string }) => message),
    ["m0"],
    "the first one counts",
  );
  t.equal(events.length, 4);
  const moment = { ...range, start: "2026-01-01T00:00:01Z", stop: "2026-01-01T00:00:01Z" };
  t.equal((await service.call("get_count", moment)).json.count, 1, "start and stop may be the same");
  const before = await service.call("get_count", { ...moment, stop: "2026-01-01T00:00:00.999Z" });
  t.same([before.status, before.json.message], [400, "stop: must not be before start"]);
});

t.test("the first time there is, written so that it is not the zero of a client", async (t) => {
  const service = await startTestService(t);
  await service.call("add_project", { project: { id: "app", name: "app" } });
  const rows: [start: string, status: number][] = [
    ["0001-01-01T02:00:00+02:00", 200],
    ["0001-01-01T01:59:59.999+02:00", 400],
    ["0000-12-31T23:00:00-01:00", 200],
  ];
  for (const [start, status] of rows) {
    const answer = await service.call("get_count", { project_id: "app", start, stop: "2026-01-01T00:00:00Z" });
    t.equal(answer.status, status, `${start}: ${answer.text}`);
  }
});

t.test("a query ends when its time is over, and not much later", async (t) => {
  let calls = 0;
  const around = (events: EventsStore): EventsStore => ({
    ...events,
    count: ({ signal }) => {
      calls++;
      return new Promise((_, reject) => signal.addEventListener("abort", () => reject(signal.reason)));
    },
    // One that takes its time to end.
    search: () => {
      calls++;
      return new Promise(() => {});
    },
  });
  const clock = new TestClock();
  const service = await startTestService(t, { around, limits: { queryMs: 1_000 }, clock });
  await service.call("add_project", { project: { id: "app", name: "app" } });
  for (const [at, operation] of ["get_count", "search"].entries()) {
    const range = { project_id: "app", start: "2026-01-01T00:00:00Z", stop: "2026-01-02T00:00:00Z" };
    let isAnswered = false;
    const answer = service.call(operation, range).finally(() => {
      isAnswered = true;
    });
    await until("the query", () => calls === at + 1);
    await clock.advance(999);
    t.equal((await service.send({ method: "GET", path: "/_health" })).status, 200);
    t.notOk(isAnswered, `${operation}: not before its time is over`);
    await clock.advance(1);
    const { status, json } = await answer;
    t.same([status, json.type], [504, "timeout"]);
  }
});

t.test("ids of lines: their length", async (t) => {
  const service = await startTestService(t);
  await service.call("add_project", { project: { id: "app", name: "app" } });
  const headers = { authorization: `Bearer ${service.owner}`, "content-type": "application/x-ndjson" };
  const lines = [255, 256].flatMap((length) => [
    { id: "a".repeat(length), message: `${length} of an object`, status: 1 },
    // As pino writes it.
    { level: 30, time: 1767225600000, id: "b".repeat(length), msg: `${length} of a logger`, status: 1 },
  ]);
  const body = lines.map((line) => JSON.stringify(line)).join("\n");
  t.same((await service.send({ path: "/ingest/app", headers, body })).json, { accepted: 4, errors: [] });
  const range = { project_id: "app", start: "2020-01-01T00:00:00Z", stop: "2100-01-01T00:00:00Z" };
  const { events } = (await service.call("search", range)).json;
  const rows = events.map((event: { id: string; message: string; fields: { id?: string } }) => [
    event.message,
    /^(a|b)\1+$/.test(event.id) ? event.id.length : undefined,
    event.fields.id?.length,
  ]);
  t.same(rows.sort(), [
    ["255 of a logger", 255, undefined],
    ["255 of an object", 255, undefined],
    ["256 of a logger", undefined, 256],
    ["256 of an object", undefined, 256],
  ]);
});

t.test("lines that are wrong count among those of a batch", async (t) => {
  const service = await startTestService(t);
  await service.call("add_project", { project: { id: "app", name: "app" } });
  const headers = { authorization: `Bearer ${service.owner}`, "content-type": "application/x-ndjson" };
  const wrong = JSON.stringify(Object.fromEntries(Array.from({ length: 251 }, (_, i) => [`k${i}`, i])));
  for (const [lines, status] of [
    [9_999, 200],
    [10_000, 413],
  ] as const) {
    const body = `${wrong}\n${"x\n".repeat(lines)}`;
    t.equal((await service.send({ path: "/ingest/app", headers, body })).status, status, `${lines} good ones`);
  }
});

t.test("TLS from 1.2 on", async (t) => {
  const file = (name: string) => readFileSync(new URL(`../../../test/fixtures/${name}`, import.meta.url), "utf8");
  // Without the old ciphers it would refuse the old versions whatever the setting says.
  const ciphers = "DEFAULT:@SECLEVEL=0";
  const tls = { cert: file("localhost.cert.pem"), key: file("localhost.key.pem"), ciphers };
  const server = await listen((_, response) => response.end(), {
    host: "127.0.0.1",
    port: 0,
    tls,
    limits: LIMITS,
    clock: systemClock,
  });
  t.teardown(() => server.close(0));
  const versionOf = (version: "TLSv1" | "TLSv1.1" | "TLSv1.2" | "TLSv1.3") =>
    new Promise<string>((resolve) => {
      // So would the client.
      const options = { minVersion: version, maxVersion: version, ciphers, rejectUnauthorized: false };
      const socket = connectTls({ host: "127.0.0.1", port: server.port, ...options }, () => {
        resolve(socket.getProtocol() ?? "none");
        socket.destroy();
      });
      socket.once("error", () => resolve("refused"));
    });
  t.equal(await versionOf("TLSv1"), "refused");
  t.equal(await versionOf("TLSv1.1"), "refused");
  t.equal(await versionOf("TLSv1.2"), "TLSv1.2");
  t.equal(await versionOf("TLSv1.3"), "TLSv1.3");
});

t.test("one address has its share of connections, and of requests by a proxy", async (t) => {
  const limits = { ...LIMITS, connectionsPerAddress: 2 };
  const held: ServerResponse[] = [];
  const hold = (_: unknown, response: ServerResponse) => void held.push(response);
  const start = async (more: Partial<Parameters<typeof listen>[1]>) => {
    const server = await listen(hold, { host: "127.0.0.1", port: 0, limits, clock: systemClock, ...more });
    t.teardown(() => server.close(0));
    return server.port;
  };
  const open = (port: number) => {
    const socket = connect({ host: "127.0.0.1", port });
    t.teardown(() => socket.destroy());
    let isClosed = false;
    socket.once("close", () => {
      isClosed = true;
    });
    socket.on("error", () => {});
    socket.write("GET / HTTP/1.1\r\nHost: x\r\n\r\n");
    return { socket, isClosed: () => isClosed };
  };
  const strict = await start({ isShared: () => false });
  const first = open(strict);
  open(strict);
  await until("two requests", () => held.length === 2);
  const third = open(strict);
  await until("the end of the third", third.isClosed);
  t.equal(held.length, 2);
  first.socket.destroy();
  await until("a place for another", async () => {
    open(strict);
    return held.length === 3;
  });
  held.length = 0;
  const lax = await start({ isShared: () => true });
  for (let i = 0; i < 3; i++) open(lax);
  await until("three requests of a proxy", () => held.length === 3);

  // Whom a proxy names is bounded by requests.
  held.length = 0;
  const proxied = await start({
    isShared: (address) => address === "127.0.0.1",
    addressOf: ({ headers }) => String(headers["x-forwarded-for"] ?? "127.0.0.1"),
  });
  const ask = (from: string) => sendTo(proxied, { method: "GET", path: "/", headers: { "x-forwarded-for": from } });
  const answers = [ask("192.0.2.1"), ask("192.0.2.1")];
  await until("two requests of one", () => held.length === 2);
  const refused = await ask("192.0.2.1");
  t.match([refused.status, refused.json.type], [429, "rate_limited"]);
  answers.push(ask("192.0.2.2"), ask("2001:db8::1"), ask("2001:db8::2"));
  await until("those of others", () => held.length === 5);
  t.equal((await ask("2001:db8::3")).status, 429, "one network of 64 bits");
  for (const response of held) response.end();
  for (const answer of answers) t.equal((await answer).status, 200);
  held.length = 0;
  const again = ask("192.0.2.1");
  await until("a place again", () => held.length === 1);
  held[0]!.end();
  t.equal((await again).status, 200);
});
