// The bytes that go over the wire, exactly where clients look at bytes: bodies, codings, zero values, numbers, names of
// fields, browsers, retries, limits on both sides, slow clients.

import { once } from "node:events";
import { readFileSync } from "node:fs";
import { createServer, type ServerResponse } from "node:http";
import { type AddressInfo, connect } from "node:net";
import { Writable } from "node:stream";
import { brotliCompressSync, deflateRawSync, deflateSync, gzipSync } from "node:zlib";
import t, { type Test } from "tap";
import { systemClock } from "../../grammar/units/clock.ts";
import { RpcError } from "../../logservice/error.ts";
import { type EventsStore, StoreError, type TailItem } from "../../logservice/events/store.ts";
import { runHandler } from "../../logservice/http/exchange.ts";
import { sendTail } from "../../logservice/http/tail.ts";
import { LIMITS } from "../../logservice/limits.ts";
import { type Answer, sendTo, startTestService, type TestService } from "../support/service.ts";
import { TestClock } from "../support/test-clock.ts";
import { until } from "../support/until.ts";

const MIB = 1024 * 1024;

async function withProject(t: Test, options: Parameters<typeof startTestService>[1] = {}) {
  const service = await startTestService(t, options);
  const { json } = await service.call("add_project", { project: { name: "app" } });
  return { service, project: json.id as string };
}

/** All events of the project, oldest first. */
async function stored(service: TestService, project: string) {
  const { json } = await service.call("search", {
    project_id: project,
    start: "0002-01-01T00:00:00Z",
    stop: "9999-01-01T00:00:00Z",
    order: "ascending",
    limit: 10_000,
  });
  return json.events as {
    id: string;
    timestamp: string;
    level: string;
    sent_level?: string;
    message: string;
    fields: unknown;
  }[];
}

const short = ({ status, text }: Answer) => `${status} ${text}`.trim();

t.test("addresses, types and bodies", async (t) => {
  const { service } = await withProject(t);
  const authorization = `Bearer ${service.owner}`;
  const json = { authorization, "content-type": "application/json" };
  const projects = '200 {"projects":[';
  const rows: [title: string, path: string, headers: Record<string, string>, body: string | Buffer, answer: string][] =
    [
      ["an empty body", "/get_projects", json, "", projects],
      ["an empty object", "/get_projects", json, "{}", projects],
      ["blank space", "/get_projects", json, " \n", projects],
      ["two slashes", "//get_projects", json, "{}", projects],
      ["three slashes", "///get_projects", json, "{}", projects],
      ["a host before the path", "http://logs.example.com/get_projects", json, "{}", projects],
      ["a query string", "/get_projects?x=1", json, "{}", projects],
      ["no type", "/get_projects", { authorization }, "{}", projects],
      ["a charset", "/get_projects", { ...json, "content-type": "Application/JSON; charset=utf-8" }, "{}", projects],
      [
        "a charset in quotes",
        "/get_projects",
        { ...json, "content-type": 'application/json;charset="UTF8"' },
        "{}",
        projects,
      ],
      [
        "another charset",
        "/get_projects",
        { ...json, "content-type": "application/json; charset=iso-8859-1" },
        "{}",
        '415 {"type":"unsupported_media_type","message":"Content-Type: the charset must be utf-8"}',
      ],
      [
        "another charset of lines",
        "/ingest/app",
        { authorization, "content-type": "text/plain; format=flowed; Charset = windows-1252" },
        "{}",
        '415 {"type":"unsupported_media_type","message":"Content-Type: the charset must be utf-8"}',
      ],
      ...[
        ["/get_projects", '{"x":"\xff"}'],
        ["/add_events", '{"project_id":"app","events":[{"level":"info","message":"caf\xe9"}]}'],
        ["/ingest/app", "one\ntwo \xc3\n"],
        ["/ingest/app", '{"message":"\xed\xa0\x80"}'],
      ].map(([path, body]): [string, string, Record<string, string>, Buffer, string] => [
        `what is no UTF-8: ${path}`,
        path!,
        { authorization },
        Buffer.from(body!, "latin1"),
        '400 {"type":"bad_request","message":"the body is not valid UTF-8"}',
      ]),
      ["a lower-case scheme", "/get_projects", { authorization: `bearer ${service.owner}` }, "{}", projects],
      [
        "a form",
        "/get_projects",
        { authorization, "content-type": "application/x-www-form-urlencoded" },
        "a=b",
        '415 {"type":"unsupported_media_type","message":"Content-Type: must be application/json, not application/x-www-form-urlencoded, which curl sends by itself: add -H \\"Content-Type: application/json\\""}',
      ],
      [
        "lines as a form",
        "/ingest/app",
        { authorization, "content-type": "application/x-www-form-urlencoded" },
        "a line",
        '415 {"type":"unsupported_media_type","message":"Content-Type: must be application/x-ndjson, not application/x-www-form-urlencoded, which curl sends by itself: add -H \\"Content-Type: application/x-ndjson\\""}',
      ],
      [
        "an image",
        "/ingest/app",
        { authorization, "content-type": "image/png" },
        "a line",
        '415 {"type":"unsupported_media_type","message":"Content-Type: must be application/x-ndjson"}',
      ],
      ["no JSON", "/get_projects", json, "{", '400 {"type":"bad_request","message":"the body is not valid JSON"}'],
      [
        "two documents",
        "/get_projects",
        json,
        "{}{}",
        '400 {"type":"bad_request","message":"the body is not valid JSON"}',
      ],
      [
        "no operation",
        "/get_nothing",
        json,
        "{}",
        '404 {"type":"not_found","message":"there is no such operation: /openapi.json lists them"}',
      ],
      [
        "a name of all objects",
        "/constructor",
        json,
        "{}",
        '404 {"type":"not_found","message":"there is no such operation: /openapi.json lists them"}',
      ],
      [
        "another coding",
        "/get_projects",
        { ...json, "content-encoding": "zstd" },
        "{}",
        '415 {"type":"unsupported_media_type","message":"Content-Encoding: must be gzip, deflate, br or identity"}',
      ],
      [
        "no gzip",
        "/get_projects",
        { ...json, "content-encoding": "gzip" },
        "{}",
        '400 {"type":"bad_request","message":"the body is not valid gzip"}',
      ],
      [
        "half of a gzip",
        "/get_projects",
        { ...json, "content-encoding": "gzip" },
        gzipSync("{}").subarray(0, 12),
        '400 {"type":"bad_request","message":"the body is not valid gzip"}',
      ],
      ["gzip", "/get_projects", { ...json, "content-encoding": "gzip" }, gzipSync("{}"), projects],
      ["x-gzip", "/get_projects", { ...json, "content-encoding": "x-gzip" }, gzipSync("{}"), projects],
      ["deflate", "/get_projects", { ...json, "content-encoding": "deflate" }, deflateSync("{}"), projects],
      ["bare deflate", "/get_projects", { ...json, "content-encoding": "deflate" }, deflateRawSync("{}"), projects],
      ["br", "/get_projects", { ...json, "content-encoding": "BR" }, brotliCompressSync("{}"), projects],
      ["identity", "/get_projects", { ...json, "content-encoding": "identity" }, "{}", projects],
      ["nothing in a coding", "/get_projects", { ...json, "content-encoding": "gzip" }, "", projects],
    ];
  for (const [title, path, headers, body, expected] of rows) {
    const answer = await service.send({ path, headers, body });
    const text = short(answer);
    t.equal(expected === projects ? text.slice(0, projects.length) : text, expected, title);
    t.equal(answer.headers["content-type"], "application/json", `${title}: the type to the letter`);
  }
});

t.test("routes without a token", async (t) => {
  const { service } = await withProject(t);
  const rows: [path: string, type: string, begins: string][] = [
    ["/_health", "application/json", '{"status":"ok"}'],
    ["/_ready", "application/json", '{"status":"ready"}'],
    ["/openapi.json", "application/json", '{"openapi":"3.1.0"'],
    ["/reference", "text/html; charset=utf-8", "<!doctype html>"],
    [
      "/metrics",
      "text/plain; version=0.0.4",
      '# TYPE logservice_requests_total counter\nlogservice_requests_total{route="add_project",status="200"} 1\n',
    ],
  ];
  for (const [path, type, begins] of rows) {
    const { status, headers, text } = await service.send({ method: "GET", path });
    t.same([status, headers["content-type"], text.slice(0, begins.length)], [200, type, begins], path);
    t.equal((await service.send({ method: "HEAD", path })).status, 200, `HEAD ${path}`);
    const other = await service.send({ path });
    t.same([other.status, other.headers.allow], [405, "GET, HEAD"], `POST ${path}`);
  }
});

t.test("headers that browsers look at", async (t) => {
  const { service, project } = await withProject(t);
  const authorization = `Bearer ${service.owner}`;
  const rows: [method: string, path: string, headers: Record<string, string>][] = [
    ["GET", "/reference", {}],
    ["GET", "/metrics", {}],
    ["GET", "/openapi.json", {}],
    ["GET", "/nowhere", {}],
    ["PUT", "/search", {}],
    ["POST", "/get_projects", { authorization }],
    ["POST", "/get_projects", {}],
    ["POST", `/ingest/${project}`, { authorization }],
    ["OPTIONS", "/add_events", {}],
  ];
  for (const [method, path, headers] of rows) {
    const answer = await service.send({ method, path, headers });
    const values = [answer.headers["x-content-type-options"], answer.headers["x-frame-options"]];
    t.same(values, ["nosniff", "DENY"], `${method} ${path} ${answer.status}`);
    t.equal(answer.headers["strict-transport-security"], undefined, "plain http");
  }
  for (const [account, wanted] of [
    [{ publicUrl: "https://logs.example.com" }, "max-age=86400"],
    [{ publicUrl: "https://logs.example.com", hstsSeconds: 60 }, "max-age=60"],
    [{ publicUrl: "https://logs.example.com", hstsSeconds: 0 }, undefined],
    [{ publicUrl: "http://localhost:5000", hstsSeconds: 60 }, undefined],
  ] as const) {
    const secure = await startTestService(t, { account });
    const { headers } = await secure.send({ method: "GET", path: "/_health" });
    t.equal(headers["strict-transport-security"], wanted, JSON.stringify(account));
  }
  const page = await service.send({ method: "GET", path: "/reference" });
  const policy = "default-src 'none'; style-src 'unsafe-inline'; img-src 'self'; frame-ancestors 'none'";
  t.equal(page.headers["content-security-policy"], policy);
  t.notMatch(page.text, /<script|style="| on\w+=/, "the page needs no more than that");
  t.match(page.text, '<a href="/">', "it leads to the other pages");
  for (const path of ["/favicon.svg", "/favicon.ico"]) {
    const icon = await service.send({ method: "GET", path });
    t.same([icon.status, icon.headers["content-type"]], [200, "image/svg+xml"], path);
  }
});

t.test("zero values", async (t) => {
  const { service, project } = await withProject(t);
  const zeroes = {
    id: "",
    name: "Zero App",
    description: "",
    retention: 0,
    location: "",
    mode: "",
    created_at: "0001-01-01T00:00:00Z",
    updated_at: "0001-01-01T00:00:00Z",
  };
  const added = await service.call("add_project", { project: zeroes });
  t.same([added.status, added.json], [200, { id: "zero_app" }], "a project as a struct of zeros");

  const email = {
    id: "",
    project_id: project,
    type: "email",
    name: "n",
    email_addresses: ["a@b.c"],
    sms_numbers: null,
    slack_webhook_url: "",
    slack_channel: "",
    webhook_url: "",
    pagerduty_service_key: "",
  };
  const notification_id = (await service.call("add_notification", { notification: email })).json.id;
  const alert = {
    id: "",
    project_id: project,
    name: "a",
    description: "",
    query: "error",
    severity: "info",
    operator: ">",
    threshold: 0,
    limit: 0,
    interval: 0,
    notification_id,
    triggered: true,
    muted: false,
    created_at: "0001-01-01T00:00:00Z",
  };
  const alert_id = (await service.call("add_alert", { alert })).json.id;
  const get = async () => (await service.call("get_alert", { project_id: project, alert_id })).json.alert;
  const first = await get();
  t.match(
    first,
    { threshold: 0, limit: 10, interval: 5, triggered: false, muted: false },
    "defaults where a zero says nothing",
  );
  t.match(first.created_at, /^\d{4}-\d\d-\d\dT[\d:.]+Z$/);

  await service.call("update_alert", {
    alert: { id: alert_id, project_id: project, threshold: 7, description: "text", muted: true, interval: 60 },
  });
  t.match(
    await get(),
    { threshold: 7, description: "text", muted: true, interval: 60, name: "a", limit: 10 },
    "absent keys keep",
  );
  await service.call("update_alert", {
    alert: { id: alert_id, project_id: project, threshold: 0, description: "", muted: false, interval: null },
  });
  t.match(await get(), { threshold: 0, description: "", muted: false, interval: 5, name: "a" }, "zeros replace");
  const unnamed = await service.call("update_alert", { alert: { id: alert_id, project_id: project, name: "" } });
  t.equal(short(unnamed), '400 {"type":"invalid","message":"alert.name: is required"}', "the merged record is checked");
});

t.test("events as they are kept", async (t) => {
  const nowMs = Date.parse("2026-03-01T00:00:00.000Z");
  const { service, project } = await withProject(t, { nowMs: () => nowMs });
  const now = "2026-03-01T00:00:00.000Z";
  const rows: [title: string, event: string, kept: Record<string, unknown>][] = [
    ["the least", '{"level":"info","message":"m"}', { timestamp: now, level: "info", message: "m", fields: {} }],
    [
      "zeros",
      '{"id":"","timestamp":"0001-01-01T00:00:00Z","level":"info","message":"m","fields":null}',
      { timestamp: now, fields: {} },
    ],
    ["an alias of a level", '{"level":"fatal","message":"m"}', { level: "emergency", sent_level: "fatal" }],
    ["an alias of a level in capitals", '{"level":"TRACE","message":"m"}', { level: "debug", sent_level: "trace" }],
    ["another case", '{"level":"Warn","message":"m"}', { level: "warning" }],
    ["another case of an alias", '{"level":"ERR","message":"m"}', { level: "error" }],
    ["no text in the message", '{"level":"info","message":""}', { message: "" }],
    [
      "an id and nanoseconds",
      '{"id":"mine","timestamp":"2026-02-01T10:00:00.123456789+02:00","level":"info","message":"m"}',
      { id: "mine", timestamp: "2026-02-01T10:00:00.123456789+02:00" },
    ],
    [
      "numbers",
      '{"level":"info","message":"m","fields":{"a":1,"b":1.5,"c":-0.25e3,"d":9007199254740991}}',
      { fields: { a: 1, b: 1.5, c: -250, d: 9007199254740991 } },
    ],
    [
      "numbers beyond float64",
      '{"level":"info","message":"1e999","fields":{"a":12345678901234567890,"b":[1e400,-1e400],"c":"12345678901234567890","d":10000000000000000,"\\"9007199254740993":9007199254740993}}',
      {
        message: "1e999",
        fields: {
          a: "12345678901234567890",
          b: ["1e400", "-1e400"],
          c: "12345678901234567890",
          d: 10000000000000000,
          '"9007199254740993': "9007199254740993",
        },
      },
    ],
    [
      "half of a surrogate pair",
      '{"level":"info","message":"a\\ud800b","fields":{"x":"\\udc00","\\ud83d":["\\ud83d\\ude00"],"back":"\\\\ud800"}}',
      { message: "a\ufffdb", fields: { x: "\ufffd", "\ufffd": ["😀"], back: "\\ud800" } },
    ],
  ];
  for (const [title, event, kept] of rows) {
    const { json } = await service.call("add_project", { project: { name: title } });
    const body = `{"project_id":"${json.id}","events":[${event}]}`;
    const headers = { authorization: `Bearer ${service.owner}`, "content-type": "application/json" };
    const answer = await service.send({ path: "/add_events", headers, body });
    t.equal(answer.status, 204, `${title}: ${answer.text}`);
    const [storedEvent] = await stored(service, json.id);
    t.match(storedEvent, kept, title);
  }
  const evil =
    '{"level":"info","message":"m","fields":{"__proto__":{"polluted":1},"constructor":{"prototype":{"polluted":1}},"toString":1}}';
  const headers = { authorization: `Bearer ${service.owner}`, "content-type": "application/json" };
  await service.send({
    path: "/add_events",
    headers,
    body: `{"__proto__":{"project_id":"x"},"project_id":"${project}","events":[${evil}]}`,
  });
  t.equal(({} as Record<string, unknown>).polluted, undefined);
  const text = (
    await service.call("search", { project_id: project, start: "2000-01-01T00:00:00Z", stop: "2100-01-01T00:00:00Z" })
  ).text;
  t.ok(
    text.includes('"fields":{"__proto__":{"polluted":1},"constructor":{"prototype":{"polluted":1}},"toString":1}'),
    text,
  );
  const inherited = await service.send({
    path: "/get_alerts",
    headers,
    body: `{"__proto__":{"project_id":"${project}"}}`,
  });
  t.equal(inherited.json.message, "project_id: is required", "a body inherits nothing");
});

t.test("events that are refused, and the whole batch with them", async (t) => {
  const { service, project } = await withProject(t);
  const good = { level: "info", message: "good" };
  const levels =
    "debug, info, notice, warning, error, critical, alert, emergency, trace, verbose, err, crit, emerg, fatal, warn";
  const deep = (depth: number): unknown => (depth === 0 ? 1 : { a: deep(depth - 1) });
  const rows: [event: unknown, message: string, type?: string][] = [
    [5, "events[1]: must be an object"],
    [[], "events[1]: must be an object"],
    [{ level: "info" }, "events[1].message: is required"],
    [{ level: "info", message: null }, "events[1].message: is required"],
    [{ level: "info", message: 0 }, "events[1].message: is required"],
    [{ level: true, message: "m" }, "events[1].level: must be a string"],
    [{ level: "loud", message: "m" }, `events[1].level: must be one of: ${levels}`],
    [{ level: "LOUD", message: "m" }, `events[1].level: must be one of: ${levels}`],
    [{ level: 3, message: "m" }, "events[1].level: must be a string"],
    [{ ...good, id: 7 }, "events[1].id: must be a string"],
    [{ ...good, id: "x".repeat(256) }, "events[1].id: must have at most 255 characters"],
    [{ ...good, timestamp: "yesterday" }, "events[1].timestamp: must be a time like 2026-01-31T12:00:00Z"],
    ...["1677-12-31T23:59:59Z", "2262-01-01T00:00:00Z", "9999-12-31T23:59:59Z"].map((timestamp): [unknown, string] => [
      { ...good, timestamp },
      "events[1].timestamp: must be from 1678-01-01T00:00:00.000Z to 2261-12-31T23:59:59.999Z",
    ]),
    [{ ...good, timestamp: 1700000000 }, "events[1].timestamp: must be a string"],
    [{ ...good, fields: [] }, "events[1].fields: must be an object"],
    [{ ...good, fields: "x" }, "events[1].fields: must be an object"],
    [{ ...good, fields: deep(11) }, "events[1].fields: must be at most 10 objects and lists deep"],
    [
      { ...good, fields: { list: [[[[[[[[[[1]]]]]]]]]] } },
      "events[1].fields: must be at most 10 objects and lists deep",
    ],
  ];
  for (const [event, message, type = "invalid"] of rows) {
    const { status, json } = await service.call("add_events", { project_id: project, events: [good, event, good] });
    t.same([status, json], [400, { type, message }], message);
  }
  t.same(await stored(service, project), [], "nothing of any batch");
});

t.test("an event without a level is info, as a line of text is", async (t) => {
  const { service, project } = await withProject(t);
  const rows: [name: string, event: object][] = [
    ["no level", { message: "none" }],
    ["an empty one", { message: "empty", level: "" }],
    ["null", { message: "null", level: null }],
    ["zero, as a client that leaves nothing out writes it", { message: "zero", level: 0 }],
  ];
  for (const [name, event] of rows) {
    const { status } = await service.call("add_events", { project_id: project, events: [event] });
    t.equal(status, 204, name);
  }
  const events = (await stored(service, project)) as { level: string }[];
  t.same(
    events.map(({ level }) => level),
    ["info", "info", "info", "info"],
  );
});

t.test("each limit on both sides", async (t) => {
  const { service, project } = await withProject(t);
  const add = (events: unknown[], more = {}) => service.call("add_events", { project_id: project, events, ...more });
  const event = (more: object) => [{ level: "info", message: "m", ...more }];
  const fields = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, i) => [`f${i}`, i]));
  const deep = (depth: number): unknown => (depth === 0 ? 1 : { a: deep(depth - 1) });
  // An event's bytes are those of its message and of its fields as JSON.
  const sized = (bytes: number) => event({ fields: { x: "x".repeat(bytes - '{"x":""}'.length - 1) } });
  const authorization = `Bearer ${service.owner}`;
  const padded = (bytes: number) => `{"x":"${"x".repeat(bytes - 8)}"}`;
  const post = (body: Buffer | string, more: Record<string, string> = {}) =>
    service.send({
      path: "/get_projects",
      headers: { authorization, "content-type": "application/json", ...more },
      body,
    });
  const key = (length: number) =>
    service.send({
      path: "/add_events",
      headers: { authorization, "idempotency-key": "k".repeat(length) },
      body: JSON.stringify({ project_id: project, events: [] }),
    });
  const rows: [title: string, within: () => Promise<Answer>, beyond: () => Promise<Answer>, answer: string][] = [
    [
      "body",
      () => post(padded(LIMITS.bodyBytes)),
      () => post(padded(LIMITS.bodyBytes + 1)),
      `413 the body must be at most ${5 * MIB} bytes: send it in parts`,
    ],
    [
      "body without a length",
      () => post(padded(LIMITS.bodyBytes), { "transfer-encoding": "chunked" }),
      () => post(padded(LIMITS.bodyBytes + 1), { "transfer-encoding": "chunked" }),
      `413 the body must be at most ${5 * MIB} bytes: send it in parts`,
    ],
    ...(
      [
        ["gzip", gzipSync],
        ["deflate", deflateSync],
        ["br", brotliCompressSync],
      ] as const
    ).map(([coding, pack]): [string, () => Promise<Answer>, () => Promise<Answer>, string] => [
      `body in ${coding}`,
      () => post(pack(padded(LIMITS.inflatedBytes)), { "content-encoding": coding }),
      () => post(pack(padded(LIMITS.inflatedBytes + 1)), { "content-encoding": coding }),
      `413 the body must be at most ${20 * MIB} bytes when decompressed: send it in parts`,
    ]),
    [
      "events",
      () => add(Array(10_000).fill(event({})[0])),
      () => add(Array(10_001).fill(event({})[0])),
      "413 events: must hold at most 10000",
    ],
    [
      "event",
      () => add(sized(256 * 1024)),
      () => add(sized(256 * 1024 + 1)),
      "413 events[0]: must be at most 262144 bytes",
    ],
    [
      "message of a strict batch",
      () => add(event({ message: "é".repeat(32 * 1024) }), { strict: true }),
      () => add(event({ message: `${"é".repeat(32 * 1024)}x` }), { strict: true }),
      "413 events[0].message: must be at most 65536 bytes",
    ],
    [
      "fields",
      () => add(event({ fields: fields(250) })),
      () => add(event({ fields: fields(251) })),
      "400 events[0].fields: must hold at most 250 fields",
    ],
    [
      "nested fields",
      () => add(event({ fields: { a: fields(124), b: [fields(124)] } })),
      () => add(event({ fields: { a: fields(125), b: [fields(124)] } })),
      "400 events[0].fields: must hold at most 250 fields",
    ],
    [
      "depth",
      () => add(event({ fields: deep(10) })),
      () => add(event({ fields: deep(11) })),
      "400 events[0].fields: must be at most 10 objects and lists deep",
    ],
    [
      "objects and lists",
      () => post(`{"x":[${"[],".repeat(LIMITS.objectsPerBody - 3)}{}]}`),
      () => post(`{"x":[${"[],".repeat(LIMITS.objectsPerBody - 2)}{}]}`),
      "413 there must be at most 500000 objects and lists at once: send them in parts",
    ],
    ["Idempotency-Key", () => key(255), () => key(256), "400 Idempotency-Key: must have at most 255 characters"],
  ];
  for (const [title, within, beyond, expected] of rows) {
    const inside = await within();
    t.ok(inside.status === 200 || inside.status === 204, `${title} within: ${short(inside).slice(0, 200)}`);
    const outside = await beyond();
    t.equal(`${outside.status} ${outside.json?.message}`, expected, `${title} beyond`);
  }
  const nesting = await post("[".repeat(LIMITS.bodyBytes));
  t.equal(nesting.status, 413, "nothing but brackets");
  t.same(service.logged, []);
});

t.test("a body that is too large is refused before it is sent", async (t) => {
  const { service } = await withProject(t);
  const socket = connect(service.running.port, "127.0.0.1");
  t.teardown(() => socket.destroy());
  let answer = "";
  socket.on("data", (chunk) => {
    answer += chunk;
  });
  socket.on("error", () => {});
  socket.write(
    `POST /get_projects HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${service.owner}\r\nContent-Type: application/json\r\nContent-Length: 999999999999\r\n\r\n{`,
  );
  await until("the answer", () => answer.includes("too_large"));
  t.match(answer, /^HTTP\/1\.1 413 .*\r\n/);
  t.match(answer, /\r\nconnection: close\r\n/i);
});

t.test("browsers", async (t) => {
  const { service, project } = await withProject(t);
  for (const path of ["/add_events", `/ingest/${project}`]) {
    const { status, headers } = await service.send({
      method: "OPTIONS",
      path,
      headers: { origin: "https://example.com" },
    });
    t.equal(status, 204, path);
    t.match(headers, {
      "access-control-allow-origin": "*",
      "access-control-allow-methods": "POST",
      "access-control-allow-headers": "Authorization, Content-Type, Content-Encoding, Idempotency-Key",
      "access-control-max-age": "86400",
    });
  }
  const refused = await service.send({ path: "/add_events", headers: { origin: "https://example.com" }, body: "{}" });
  t.same([refused.status, refused.headers["access-control-allow-origin"]], [401, "*"], "a page may read why");
  const other = await service.call("get_projects");
  t.equal(other.headers["access-control-allow-origin"], undefined, "and nothing else");
  t.equal((await service.send({ method: "OPTIONS", path: "/get_projects" })).status, 405);
});

t.test("retries count once", async (t) => {
  const { service, project } = await withProject(t);
  const headers = { authorization: `Bearer ${service.owner}`, "idempotency-key": "batch 1" };
  const body = JSON.stringify({ project_id: project, events: [{ level: "info", message: "by key" }] });
  for (let i = 0; i < 3; i++) t.equal((await service.send({ path: "/add_events", headers, body })).status, 204);
  const events = [{ id: "one", level: "info", message: "by id" }];
  for (let i = 0; i < 3; i++) t.equal((await service.call("add_events", { project_id: project, events })).status, 204);
  t.same((await stored(service, project)).map(({ message }) => message).sort(), ["by id", "by key"]);
});

t.test("the lines of a log", async (t) => {
  const nowMs = Date.parse("2026-03-01T00:00:00.000Z");
  const { service, project } = await withProject(t, { nowMs: () => nowMs });
  const lines = [
    '{"timestamp":"2026-02-01T00:00:01Z","level":"error","message":"m1","fields":{"status":500}}',
    '{"timestamp":"2026-02-01T00:00:02Z","message":"m2","status":200,"id":"i2"}',
    "",
    "plain text\r",
    '{"timestamp":"soon","level":7,"message":"m4","fields":"none"}',
    "{broken",
    '{"status":204}',
  ];
  const headers = { authorization: `Bearer ${service.owner}`, "content-type": "application/x-ndjson" };
  const answer = await service.send({ path: `/ingest/${project}`, headers, body: lines.join("\n") });
  t.equal(short(answer), '200 {"accepted":6,"errors":[]}');
  const now = "2026-03-01T00:00:00.000Z";
  const storedEvents = (await stored(service, project)).map(({ timestamp, level, message, fields }) => ({
    timestamp,
    level,
    message,
    fields,
  }));
  t.same(
    storedEvents.sort((a, b) => (a.timestamp + a.message < b.timestamp + b.message ? -1 : 1)),
    [
      { timestamp: "2026-02-01T00:00:01Z", level: "error", message: "m1", fields: { status: 500 } },
      { timestamp: "2026-02-01T00:00:02Z", level: "info", message: "m2", fields: { status: 200 } },
      { timestamp: now, level: "info", message: "m4", fields: { level: 7, timestamp: "soon", fields: "none" } },
      { timestamp: now, level: "info", message: "plain text", fields: {} },
      { timestamp: now, level: "info", message: '{"status":204}', fields: { status: 204 } },
      { timestamp: now, level: "info", message: "{broken", fields: {} },
    ],
  );
  const rows: [path: string, type: string, body: string, answer: string][] = [
    ["/ingest/nobody", "text/plain", "x", "404 not_found"],
    [`/ingest/${project}`, "application/xml", "x", "415 unsupported_media_type"],
    [`/ingest/${project}`, "text/plain", "x\n".repeat(10_001), "413 too_large"],
    [`/ingest/${project}`, "text/plain", "x\n".repeat(10_000), "200 undefined"],
    [`/ingest/${project}`, "text/plain", "x".repeat(64 * 1024 + 1), "200 undefined"],
    [`/ingest/${project}`, "text/plain", "", "200 undefined"],
  ];
  for (const [path, type, body, expected] of rows) {
    const { status, json } = await service.send({ path, headers: { ...headers, "content-type": type }, body });
    t.equal(`${status} ${json?.type}`, expected, `${path} ${type} ${body.length}`);
  }
});

t.test("what a store says becomes an answer", async (t) => {
  let failure: Error = new StoreError("unavailable", "the disk is full", { retryAfterMs: 2_500 });
  const around = (events: EventsStore): EventsStore => ({ ...events, append: () => Promise.reject(failure) });
  const { service, project } = await withProject(t, { around });
  const add = () => service.call("add_events", { project_id: project, events: [{ level: "info", message: "m" }] });
  const full = await add();
  t.same([short(full), full.headers["retry-after"]], ['503 {"type":"unavailable","message":"the disk is full"}', "3"]);
  for (const code of ["EROFS", "SQLITE_READONLY", "SQLITE_READONLY_DIRECTORY"]) {
    failure = Object.assign(new Error("EROFS: read-only file system, open '/data/x'"), { code });
    const message = "the data directory is on a file system that is read-only: nothing was changed";
    t.equal(short(await add()), `503 {"type":"unavailable","message":"${message}"}`, code);
  }
  failure = new TypeError("secret details");
  t.equal(short(await add()), '500 {"type":"internal","message":"the service failed; see its log"}');
  t.match(service.logged, [/secret details/]);
});

t.test("_ready says that the disk is full, and answers if the disk cannot be asked", async (t) => {
  let disk = async () => ({ freeBytes: 5, totalBytes: 1000, isFull: true });
  const around = (events: EventsStore): EventsStore => ({ ...events, disk: () => disk() });
  const { service } = await withProject(t, { around });
  const ready = async () => (await service.send({ method: "GET", path: "/_ready" })).text;
  t.equal(await ready(), '{"status":"ready","disk":"full"}');
  disk = async () => ({ freeBytes: 500, totalBytes: 1000, isFull: false });
  t.equal(await ready(), '{"status":"ready"}');
  disk = () => Promise.reject(new Error("ENOENT"));
  t.equal(await ready(), '{"status":"ready"}');
});

t.test("queries: too long, too many", async (t) => {
  let running = 0;
  let most = 0;
  const around = (events: EventsStore): EventsStore => ({
    ...events,
    count: async ({ signal }) => {
      most = Math.max(most, ++running);
      try {
        return await new Promise((_, reject) => signal.addEventListener("abort", () => reject(signal.reason)));
      } finally {
        running--;
      }
    },
  });
  const { service, project } = await withProject(t, {
    around,
    limits: { queryMs: 400, holdMs: 100, queriesWaitingPerToken: 2 },
  });
  const count = (token?: string) =>
    service.call(
      "get_count",
      { project_id: project, start: "2026-01-01T00:00:00Z", stop: "2026-01-02T00:00:00Z" },
      token,
    );
  const other = await service.token(["events:read"]);
  const answers = await Promise.all([...Array.from({ length: 7 }, () => count()), count(other)]);
  const counted = answers
    .slice(0, 7)
    .map(({ status, json }) => `${status} ${json.type}`)
    .sort();
  t.same(
    counted,
    [...Array(4).fill("504 timeout"), ...Array(3).fill("429 rate_limited")].sort(),
    "four run, the others are told",
  );
  t.equal(answers[7]!.status, 504, "another token has its own four");
  t.equal(most, 5);
  t.equal(answers.find(({ status }) => status === 429)?.headers["retry-after"], "1");
  t.match(answers[7]!.json.message, /^the query took longer than 0\.4 s: /);
  t.equal(running, 0, "and all are stopped");
});

t.test("requests: held, then refused", async (t) => {
  const clock = new TestClock();
  const limits = { requestsPerSecond: 4, requestBurst: 5, holdMs: 750 };
  const { service } = await withProject(t, { clock, limits });
  const token = await service.token(["projects:read"]);
  const others = clock.timers.length;
  let answered = 0;
  const requests = Array.from({ length: 12 }, async () => {
    const answer = await service.call("get_projects", {}, token);
    answered++;
    return answer;
  });
  const held = () => clock.timers.length - others;
  await until("five answers, and seven requests that are held", () => answered === 5 && held() === 7, held);
  for (const count of [6, 7]) {
    await clock.advance(250);
    await until(`answer ${count}`, () => answered === count);
  }
  await clock.advance(250);
  const answers = await Promise.all(requests);
  t.same(
    answers.map(({ status }) => status).sort(),
    [...Array(8).fill(200), ...Array(4).fill(429)],
    "five at once, three within the time of holding",
  );
  const refused = answers.find(({ status }) => status === 429)!;
  t.same([refused.json.type, refused.headers["retry-after"]], ["rate_limited", "1"]);
  t.equal((await service.call("get_projects")).status, 200, "another token has its own rate");
});

t.test("too many bodies at once", async (t) => {
  const { service } = await withProject(t, { limits: { bodyBytesInFlight: 1_000 } });
  const { status, headers, json } = await service.call("get_projects", { x: "x".repeat(2_000) });
  t.same([status, json.type, headers["retry-after"]], [503, "unavailable", "1"]);
  t.equal((await service.call("get_projects")).status, 200, "what was held is let go of");
});

t.test("slow and absurd clients", async (t) => {
  const { service } = await withProject(t, { limits: { headersMs: 300, requestMs: 600, stalledMs: 5_000 } });
  const talk = async (text: string): Promise<string> => {
    const socket = connect(service.running.port, "127.0.0.1");
    let answer = "";
    socket.on("data", (chunk) => {
      answer += chunk;
    });
    socket.on("error", () => {});
    socket.write(text);
    await new Promise((resolve) => socket.once("close", resolve));
    return answer;
  };
  const head = `POST /get_projects HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${service.owner}\r\n`;
  const rows: [title: string, text: string, answer: RegExp][] = [
    [
      "half a head",
      "POST /get_pro",
      /^HTTP\/1\.1 408 .*\{"type":"timeout","message":"the request did not arrive in time"\}$/s,
    ],
    ["half a body", `${head}Content-Length: 10\r\n\r\n{`, /^(HTTP\/1\.1 408 .*"type":"timeout".*)?$/s],
    [
      "no HTTP",
      "hello\r\n\r\n",
      /^HTTP\/1\.1 400 .*\r\nContent-Type: application\/json\r\n.*\{"type":"bad_request".*\}$/s,
    ],
    ["a long header", `${head}X: ${"x".repeat(70_000)}\r\n\r\n`, /^HTTP\/1\.1 431 .*\{"type":"too_large".*\}$/s],
    [
      "no host",
      `POST /get_projects HTTP/1.1\r\nAuthorization: Bearer ${service.owner}\r\nContent-Length: 2\r\n\r\n{}`,
      /^HTTP\/1\.1 400 .*\r\nContent-Type: application\/json\r\n.*\{"type":"bad_request","message":"an HTTP\/1\.1 request must have the header Host"\}$/s,
    ],
    ["no host of a page", "GET /_health HTTP/1.1\r\n\r\n", /^HTTP\/1\.1 400 .*"type":"bad_request"/s],
    ["no host in HTTP/1.0", "GET /_health HTTP/1.0\r\n\r\n", /^HTTP\/1\.1 200 /],
    ["an empty host", "GET /_health HTTP/1.1\r\nHost:\r\nConnection: close\r\n\r\n", /^HTTP\/1\.1 200 /],
    ["two lengths", `${head}Content-Length: 2\r\nContent-Length: 3\r\n\r\n{}`, /^HTTP\/1\.1 400 /],
  ];
  for (const [title, text, expected] of rows) t.match(await talk(text), expected, title);
  t.equal((await service.call("get_projects")).status, 200, "the service goes on");
});

t.test("no request line ends the service or fails in it", async (t) => {
  const { service } = await withProject(t);
  const begins = [
    ...["", "/", "/assets", "/assets/", "/t/", "/t/x/p/", "/help/", "/favicon.svg", "/sign-in", "/sign-in/link/"],
    ...[
      "/sign-in/confirm/",
      "/accept/",
      "/account",
      "/tail",
      "/export",
      "/ingest/",
      "/get_projects",
      "/_health",
      "/metrics",
    ],
  ];
  const ends = [
    ...[
      "",
      "\\x:99999",
      "/\\x:99999",
      "//x:99999",
      "/\\",
      "//[",
      "?",
      "?ticket=%",
      "?team=%ff&project_id=%00",
      "#:99999",
    ],
    ...[
      "%",
      "%zz",
      "%00",
      "/%ff%fe",
      "/..;/%2e%2e%2f",
      "/\x01",
      "/\xff\xfe",
      ":80:80",
      "@[::1",
      "?".repeat(9),
      "/".repeat(999),
    ],
  ];
  const lines = begins.flatMap((begin) => ends.map((end) => `${begin}${end}`));
  const targets = [
    ...lines,
    ...[
      "*",
      "x",
      "http:",
      "http://",
      "http://[",
      "https://x:99999/tail",
      "HTTP://\\/",
      "http:///tail",
      "ftp://x/tail",
      "x:y@z",
    ],
    ...["/\0", `/${"a".repeat(65_536)}`, `/t/${"%".repeat(15_000)}`, `/${"/\\".repeat(4_000)}`],
  ];
  const others = ["HEAD", "POST", "OPTIONS", "PURGE", "POST"];
  const hosts = ["x", "", "[", "x:99999", "a b", "\\", "http://x", "\xff"];
  let sent = 0;
  const answers = new Map<number, number>();
  const ask = (head: string) =>
    new Promise<void>((resolve) => {
      sent++;
      let text = "";
      const socket = connect(service.running.port, "127.0.0.1").setEncoding("latin1");
      socket.on("error", () => {});
      socket.on("data", (part) => {
        text += part;
        // A stream, which ends when its client leaves.
        if (text.includes(": here")) socket.destroy();
      });
      socket.on("close", () => {
        const status = Number(/^HTTP\/1\.1 (\d+)/.exec(text)?.[1] ?? 0);
        answers.set(status, (answers.get(status) ?? 0) + 1);
        if (status === 0 || status >= 500) t.fail(`${status} ${JSON.stringify(head.slice(0, 100))}`);
        resolve();
      });
      socket.end(Buffer.from(head, "latin1"));
    });
  const secret = `Authorization: Bearer ${service.owner}\r\n`;
  for (const [at, target] of targets.entries()) {
    const host = hosts[at % hosts.length];
    await Promise.all(
      ["GET", others[at % others.length]].map((method) =>
        ask(`${method} ${target} HTTP/1.1\r\nHost: ${host}\r\n${secret}Connection: close\r\nContent-Length: 0\r\n\r\n`),
      ),
    );
  }
  t.equal((await service.send({ method: "GET", path: "/_ready" })).status, 200);
  t.ok(sent > 800 && answers.get(404)! > 200, `${sent} requests: ${JSON.stringify([...answers])}`);
  t.same(service.logged, []);
});

t.test("what a handler throws is answered and told", async (t) => {
  const lines: string[] = [];
  const log = {
    error: (message: string, error: unknown) => lines.push(`${message}: ${(error as Error).message}`),
    warn: (message: string) => lines.push(message),
  };
  const server = createServer((request, response) =>
    runHandler({ request, response, log, clock: systemClock }, () => {
      if (request.url === "/half") response.write("half");
      throw new Error("broken");
    }),
  );
  t.teardown(() => server.close());
  await once(server.listen(0, "127.0.0.1"), "listening");
  const { port } = server.address() as AddressInfo;
  const { status, json } = await sendTo(port, { method: "GET", path: "/x", headers: { connection: "close" } });
  t.same([status, json], [500, { type: "internal", message: "the service failed; see its log" }]);
  await t.rejects(sendTo(port, { method: "GET", path: "/half" }), "half an answer is broken off");
  t.equal((await sendTo(port, { path: "/y", headers: { connection: "close" } })).status, 500, "and it goes on");
  t.same(lines, ["GET /x failed: broken", "GET /half failed: broken", "POST /y failed: broken"]);
});

t.test("a client that writes all of its body first is told why it was refused", async (t) => {
  const { service } = await withProject(t, { limits: { bodyBytesInFlight: 1_000 } });
  const socket = connect(service.running.port, "127.0.0.1").pause();
  t.teardown(() => socket.destroy());
  const errors: Error[] = [];
  socket.on("error", (error) => errors.push(error));
  const piece = "x".repeat(10_000);
  socket.write(
    `POST /get_projects HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${service.owner}\r\nContent-Length: ${10 * piece.length}\r\n\r\n`,
  );
  // The first one is too much already.
  for (let i = 0; i < 10; i++) {
    await new Promise((resolve) => socket.write(piece, resolve));
    // The service has seen a piece before it answers a request that came after it.
    t.equal((await service.send({ method: "GET", path: "/_health" })).status, 200);
  }
  t.same(errors, [], "it can write to the end");
  let answer = "";
  socket.on("data", (chunk) => {
    answer += chunk;
  });
  socket.resume();
  await until("the answer", () => answer.includes("}"));
  t.match(answer, /^HTTP\/1\.1 503 .*"type":"unavailable"/s);
});

t.test("a client that does not read its answer", { skip: process.platform !== "linux" }, async (t) => {
  const { service, project } = await withProject(t, { limits: { stalledMs: 300 } });
  const event = { level: "info", message: "m", fields: { pad: "x".repeat(40_000) } };
  for (let i = 0; i < 4; i++) await service.call("add_events", { project_id: project, events: Array(100).fill(event) });
  const range = { project_id: project, start: "2020-01-01T00:00:00Z", stop: "2100-01-01T00:00:00Z", limit: 400 };
  const body = JSON.stringify(range);
  // Its 16 MB are more than sockets hold.
  const socket = connect(service.running.port, "127.0.0.1").pause();
  t.teardown(() => socket.destroy());
  socket.write(
    `POST /search HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${service.owner}\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
  );
  await once(socket, "connect");
  // As proc(5) says: whether the service has the connection still.
  const end = (port: number) => `0100007F:${port.toString(16).toUpperCase().padStart(4, "0")}`;
  const isHeld = () => {
    const line = `: ${end(service.running.port)} ${end(socket.localPort!)} 01 `;
    return readFileSync("/proc/net/tcp", "utf8").includes(line);
  };
  await until("the connection", isHeld);
  await until("its end", () => !isHeld());
  t.equal((await service.call("get_projects")).status, 200, "the service goes on");
  const reading = await service.call("search", range);
  t.equal(reading.json.events.length, 400, "who reads gets all of it");
});

/** A tail with one event, which waits for more until it is ended. */
function tailOf(item: TailItem): AsyncIterableIterator<TailItem> {
  let end = () => {};
  const over = new Promise<void>((resolve) => {
    end = resolve;
  });
  const waiting = [item];
  return {
    async next() {
      const value = waiting.shift();
      if (value !== undefined) return { value, done: false };
      await over;
      return { value: undefined, done: true };
    },
    async return() {
      end();
      return { value: undefined, done: true };
    },
    [Symbol.asyncIterator]() {
      return this;
    },
  };
}

t.test("a tail that ends while its client does not read ends the connection at once", async (t) => {
  const reasons = [new RpcError("unauthorized", "the token was removed"), new Error("the service stops")];
  for (const reason of reasons) {
    for (const isRead of [true, false]) {
      let text = "";
      const response = new Writable({
        highWaterMark: 100,
        write(chunk, _, done) {
          text += chunk;
          if (isRead) done();
        },
      });
      const event = { id: "1", timestamp: "2026-01-01T00:00:00Z", level: "info", message: "x".repeat(500), fields: {} };
      const items = tailOf({ event } as TailItem);
      const stopped = new AbortController();
      const to = Object.assign(response, { writeHead: () => response }) as unknown as ServerResponse;
      // A clock that nobody turns: no time has to pass.
      const sent = sendTail(to, items, stopped.signal, new TestClock());
      if (isRead) await until("the event", () => text.includes("data: "));
      else await until("what the client does not read", () => response.writableLength > 500);
      stopped.abort(reason);
      await sent;
      const name = `${reason.message}, ${isRead ? "read" : "not read"}`;
      t.equal(response.destroyed && !response.writableEnded, !isRead, name);
      t.equal(text.includes("event: error"), isRead && reason instanceof RpcError, `${name}: the last event`);
    }
  }
});

t.test("the live tail", async (t) => {
  // The oracle remembers nothing to resume from.
  const { service, project } = await withProject(t, { engine: "duckdb", limits: { tailsPerToken: 2 } });
  const add = (id: string, level = "info") =>
    service.call("add_events", { project_id: project, events: [{ id, level, message: id }] });
  const open = async (query: string, last?: string) => {
    const socket = connect(service.running.port, "127.0.0.1");
    t.teardown(() => socket.destroy());
    let text = "";
    socket.on("data", (chunk) => {
      text += chunk;
    });
    const more = last === undefined ? "" : `Last-Event-ID: ${last}\r\n`;
    socket.write(
      `GET /tail?project_id=${project}&query=${encodeURIComponent(query)} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${service.owner}\r\n${more}\r\n`,
    );
    await until("the head", () => text.includes("\r\n\r\n"));
    return { socket, text: () => text, ids: () => [...text.matchAll(/^id: (.*)$/gm)].map(([, id]) => id) };
  };
  await add("before");
  const errors = await open("error");
  t.match(
    errors.text(),
    /^HTTP\/1\.1 200 OK\r\n.*\r\nContent-Type: text\/event-stream\r\nCache-Control: no-store\r\n/s,
  );
  await add("one", "error");
  await add("two");
  await add("three", "error");
  await until("both errors", () => errors.ids().length === 2);
  t.same(errors.ids(), ["one", "three"], "what the query selects, from now on");
  t.match(
    errors.text(),
    /id: one\ndata: \{"id":"one","timestamp":"[^"]+","level":"error","message":"one","fields":\{\}\}\n\n/,
  );
  const resumed = await open("", "one");
  await until("what came after it", () => resumed.ids().length === 2);
  t.same(resumed.ids(), ["two", "three"]);
  const third = await open("");
  t.match(third.text(), /^HTTP\/1\.1 429 /, "as many as a token may have");
  resumed.socket.destroy();
  await until("room for another", async () => (await open("")).text().startsWith("HTTP/1.1 200"));

  const rows: [path: string, token: string, status: number][] = [
    ["/tail", service.owner, 400],
    ["/tail?project_id=nobody", service.owner, 404],
    [`/tail?project_id=${project}&query=(`, service.owner, 400],
    [`/tail?project_id=${project}`, await service.token(["events:write"]), 403],
    [`/tail?project_id=${project}`, "", 401],
  ];
  for (const [path, token, status] of rows) {
    const answer = await service.send({ method: "GET", path, headers: { authorization: `Bearer ${token}` } });
    t.equal(answer.status, status, `${path} ${answer.text}`);
  }
});

for (const engine of ["oracle", "duckdb"] as const) {
  t.test(`a level has one name in answers (${engine})`, async (t) => {
    const { service, project } = await withProject(t, { engine });
    const socket = connect(service.running.port, "127.0.0.1").setEncoding("utf8");
    t.teardown(() => socket.destroy());
    let tailed = "";
    socket.on("data", (chunk) => {
      tailed += chunk;
    });
    socket.write(
      `GET /tail?project_id=${project} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${service.owner}\r\n\r\n`,
    );
    await until("the head", () => tailed.includes("\r\n\r\n"));
    const names: [sent: string, name: string][] = [
      ["warn", "warning"],
      ["warning", "warning"],
      ["WARN", "warning"],
      ["Error", "error"],
      ["err", "error"],
      ["FATAL", "emergency"],
      ["trace", "debug"],
    ];
    const timeOf = (i: number) => `2026-01-01T00:00:0${i}.000Z`;
    const events = names.map(([level], i) => ({ id: `e${i}`, timestamp: timeOf(i), level, message: "m" }));
    await service.call("add_events", { project_id: project, events });
    const range = { project_id: project, start: timeOf(0), stop: timeOf(9) };
    const expected = names.map(([, name]) => name);
    await until("the tail", () => tailed.match(/^data: /gm)?.length === names.length);
    t.strictSame(
      [...tailed.matchAll(/"level":"(\w+)"/g)].map(([, level]) => level),
      expected,
      "the tail",
    );
    const words = [undefined, undefined, undefined, undefined, undefined, "fatal", "trace"];
    const look = async (when: string) => {
      const events = await stored(service, project);
      t.strictSame(
        events.map(({ level }) => level),
        expected,
        `search, ${when}`,
      );
      t.strictSame(
        events.map(({ sent_level }) => sent_level),
        words,
        `words that are no short ones, ${when}`,
      );
      const series = await service.call("get_level_timeseries", { ...range, max_points: 1 });
      const counts = series.json.points.map(({ level, count }: { level: string; count: number }) => [level, count]);
      t.strictSame(
        counts.sort(),
        [
          ["debug", 1],
          ["emergency", 1],
          ["error", 2],
          ["warning", 3],
        ],
        `the series, ${when}`,
      );
      const values = await service.call("get_string_field_stats", { ...range, field: "level", limit: 2 });
      t.strictSame(
        values.json.values.map(({ value, count }: { value: string; count: number }) => [value, count]),
        [
          ["warning", 3],
          ["error", 2],
        ],
        `the statistics, ${when}`,
      );
      for (const query of ["level = warn", "warning", "level in (warn, info)", "level = warning"]) {
        t.equal((await service.call("get_count", { ...range, query })).json.count, 3, `${query}, ${when}`);
      }
      if (engine === "oracle") return;
      const query = "select level, severity, count(*) as n from events group by all order by severity";
      t.strictSame(
        (await service.call("query", { project_id: project, query })).json.results,
        [
          { level: "debug", severity: 0, n: 1 },
          { level: "warning", severity: 3, n: 3 },
          { level: "error", severity: 4, n: 2 },
          { level: "emergency", severity: 7, n: 1 },
        ],
        `SQL, ${when}`,
      );
    };
    await look("in memory");
    if (engine === "oracle") return;
    await (service.events as unknown as { flush(): Promise<void> }).flush();
    await look("in a segment");
  });
}

t.test("a field of the name level keeps its values", async (t) => {
  const { service, project } = await withProject(t);
  const events = [{ level: "info", message: "m", fields: { level: "warn" } }];
  await service.call("add_events", { project_id: project, events });
  const range = { project_id: project, start: "2020-01-01T00:00:00Z", stop: "2100-01-01T00:00:00Z" };
  const { json } = await service.call("get_string_field_stats", { ...range, field: "fields.level" });
  t.strictSame(json.values, [{ value: "warn", count: 1, percent: 1 }]);
});

t.test("a project of plain text", async (t) => {
  const { service } = await withProject(t);
  const { json } = await service.call("add_project", { project: { name: "plain", mode: "plain_text" } });
  const headers = { authorization: `Bearer ${service.owner}`, "content-type": "application/x-ndjson" };
  const lines = [
    '{"timestamp":"2026-01-01T00:00:00Z","level":"error","message":"m","status":500}',
    "Error: no",
    "    at main (a.js:1:2)\r",
    "",
    '{"message":""}',
  ];
  const ingested = await service.send({ path: `/ingest/${json.id}`, headers, body: lines.join("\n") });
  t.strictSame(ingested.json, { accepted: 3, errors: [] });
  const storedRows = async () =>
    (await stored(service, json.id)).map(({ level, message, fields }) => [level, message, fields]).sort();
  const expected = [
    ["info", "Error: no\n    at main (a.js:1:2)", {}],
    ["info", '{"message":""}', {}],
    ["info", lines[0], {}],
  ];
  t.strictSame(await storedRows(), [...expected].sort(), "a line is a message, and so is a trace");
  for (const [message, fields] of [
    ["scanned", { a: 1 }],
    ["parsed", { "1": 1, "0": 2, long: "\\u0041" }],
  ] as const) {
    const event = { timestamp: "2026-01-01T00:00:01.5Z", level: "error", message, fields };
    t.equal((await service.call("add_events", { project_id: json.id, events: [event] })).status, 204);
    expected.push(["error", message, {}]);
  }
  t.strictSame(await storedRows(), [...expected].sort(), "an event has no fields");
  await service.call("update_project", { project: { id: json.id, mode: "structured" } });
  await service.send({ path: `/ingest/${json.id}`, headers, body: '{"level":"error","message":"later","status":500}' });
  expected.push(["error", "later", { status: 500 }]);
  t.strictSame(await storedRows(), [...expected].sort(), "from the change of the mode on");
});

t.test("times at the ends of what has a text", async (t) => {
  const { service, project } = await withProject(t, { engine: "duckdb" });
  await service.call("add_events", { project_id: project, events: [{ level: "info", message: "m" }] });
  const last = "9999-12-31T23:59:59.999Z";
  for (const operation of ["get_timeseries", "get_level_timeseries"]) {
    for (const [start, stop, max_points] of [
      ["0001-01-01T00:00:00.001Z", last, 2],
      ["0001-01-02T00:00:00Z", "2030-01-01T00:00:00Z", 10],
      ["0900-06-01T00:00:00+14:00", "2030-01-01T00:00:00Z", 3],
    ] as const) {
      const { status, json } = await service.call(operation, { project_id: project, start, stop, max_points });
      t.equal(status, 200);
      const times: string[] = json.points.map(({ timestamp }: { timestamp: string }) => timestamp);
      t.ok(
        times.every((time) => /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.000Z$/.test(time) && time >= "0001"),
        `${operation} from ${start}: ${times.join(" ")}`,
      );
      t.strictSame(times, [...times].sort(), "in their order");
      t.equal(
        json.points.reduce((sum: number, { count }: { count: number }) => sum + count, 0),
        1,
      );
    }
  }
  const range = "must be from 0001-01-01T00:00:00.000Z to 9999-12-31T23:59:59.999Z";
  const rows: [start: string, stop: string, message: string][] = [
    ["0000-12-31T23:59:59Z", last, `start: ${range}`],
    ["0001-01-01T00:00:00+00:01", last, `start: ${range}`],
    ["2026-01-01T00:00:00Z", "9999-12-31T23:59:59.999-00:01", `stop: ${range}`],
    ["2026-01-01T00:00:00Z", "9999-12-31T23:59:60Z", `stop: ${range}`],
    ["2026-01-01T00:00:00Z", "10000-01-01T00:00:00Z", "stop: must be a time like 2026-01-31T12:00:00Z"],
    ["0001-01-01T00:00:00Z", last, "start: is required"],
  ];
  for (const [start, stop, message] of rows) {
    const { status, json } = await service.call("get_count", { project_id: project, start, stop });
    t.strictSame([status, json], [400, { type: "invalid", message }], `${start} ${stop}`);
  }
});
