// Requests of Firehose with what a subscription of CloudWatch Logs delivers. The shape is that of the Firehose Developer Guide
// ("HTTP endpoint delivery request and response specifications").
import { gzipSync } from "node:zlib";
import t, { type Test } from "tap";
import { LIMITS } from "../../../logservice/limits.ts";
import { type Answer, startTestService, type TestService } from "../../support/service.ts";
import { slow } from "../../support/slow.ts";

const TIME_MS = Date.UTC(2026, 0, 2, 10, 0, 0);
const MIB = 1024 * 1024;
const RANGE = { start: "2020-01-01T00:00:00Z", stop: "2100-01-01T00:00:00Z" };
const INVOCATION = "8f5c3a1e-0000-4000-8000-000000000001";

interface LogEvent {
  readonly id: string;
  readonly timestamp: number;
  readonly message: string;
}

const eventsOf = (...messages: readonly string[]): LogEvent[] =>
  messages.map((message, i) => ({ id: `3870${i}`, timestamp: TIME_MS + i, message }));

const subscription = (logEvents: readonly LogEvent[], messageType = "DATA_MESSAGE") =>
  JSON.stringify({
    messageType,
    owner: "123456789012",
    logGroup: "/aws/lambda/shop",
    logStream: "2026/01/02/[7]abc",
    subscriptionFilters: ["tool"],
    logEvents,
  });

const record = (text: string | Buffer) => ({ data: Buffer.from(text).toString("base64") });
const packed = (logEvents: readonly LogEvent[]) => record(gzipSync(subscription(logEvents)));

const requestOf = (records: readonly object[], requestId = "r-1") =>
  JSON.stringify({ requestId, timestamp: TIME_MS, records });

async function withProject(t: Test, options: Parameters<typeof startTestService>[1] = {}) {
  const service = await startTestService(t, options);
  await service.call("add_project", { project: { id: "shop", name: "shop" } });
  return service;
}

interface Delivery {
  readonly path?: string;
  readonly key?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

function deliver(service: TestService, body: string | Buffer, delivery: Delivery = {}): Promise<Answer> {
  const { path = "/integrations/cloudwatch?project=shop", key = service.owner, headers = {} } = delivery;
  return service.send({
    path,
    body,
    headers: {
      "content-type": "application/json",
      "x-amz-firehose-protocol-version": "1.0",
      "x-amz-firehose-request-id": "r-1",
      ...(key !== "" && { "x-amz-firehose-access-key": key }),
      ...headers,
    },
  });
}

interface StoredEvent {
  readonly timestamp: string;
  readonly level: string;
  readonly message: string;
  readonly fields: Readonly<Record<string, unknown>>;
}

async function stored(service: TestService): Promise<StoredEvent[]> {
  const { json } = await service.call("search", { project_id: "shop", ...RANGE, order: "ascending", limit: 1000 });
  return json.events;
}

const ORIGIN = { log_group: "/aws/lambda/shop", log_stream: "2026/01/02/[7]abc" };

t.test("what becomes of each line", async (t) => {
  const service = await withProject(t);
  const own = { timestamp: "2026-01-02T09:59:59.5Z", level: "warn", message: "slow", fields: { stage: "production" } };
  const rows: readonly (readonly [line: string, event: Partial<StoredEvent> | undefined])[] = [
    [
      `${JSON.stringify(own)}\n`,
      {
        timestamp: "2026-01-02T09:59:59.5Z",
        level: "warning",
        message: "slow",
        fields: { ...ORIGIN, stage: "production" },
      },
    ],
    ['{"level":50,"time":1767348000123,"msg":"failed","id":"order-7"}', { level: "error", message: "failed" }],
    ["plain text\n", { level: "info", message: "plain text", fields: ORIGIN }],
    [" \n", undefined],
    [`START RequestId: ${INVOCATION} Version: 7\n`, { level: "debug" }],
    [`REPORT RequestId: ${INVOCATION}\tDuration: 2.00 ms\tMemory Size: 128 MB\t\n`, { level: "debug" }],
    [`2026-01-02T10:00:00.000Z ${INVOCATION} Task timed out after 3.00 seconds\n\n`, { level: "error" }],
    [`RequestId: ${INVOCATION} Error: Runtime exited with error: signal: killed`, { level: "error" }],
    ["/opt/bootstrap: line 1: node: No such file or directory", { level: "error" }],
    ['Traceback (most recent call last):\n  File "a.py"\nValueError: no\n', { level: "info" }],
    [
      `{"message":"odd","fields":${JSON.stringify(Object.fromEntries(Array.from({ length: 300 }, (_, i) => [`k${i}`, i])))}}`,
      { level: "info" },
    ],
  ];
  const answer = await deliver(service, requestOf([packed(eventsOf(...rows.map(([line]) => line)))]));
  t.match([answer.status, answer.json], [200, { requestId: "r-1", timestamp: Number }]);
  const events = await stored(service);
  const expected = rows.filter(([, event]) => event !== undefined);
  t.equal(events.length, expected.length);
  for (const [line, event] of expected) {
    const message = event!.message ?? line.trimEnd();
    const one = events.find((event) => event.message === message);
    t.match(one, { ...event, fields: { ...ORIGIN, ...event!.fields } }, line.slice(0, 60));
  }
  t.equal(events.find(({ message }) => message === "failed")?.fields.id, "order-7", "a logger's id is a field");
  const text = events.find(({ message }) => message === "plain text");
  t.equal(text?.timestamp, "2026-01-02T10:00:00.002Z", "the platform's time, where a line has none");
});

t.test("records", async (t) => {
  const two = eventsOf("one", "two");
  const rows: readonly (readonly [name: string, records: readonly object[], messages: readonly string[]])[] = [
    ["none", [], []],
    ["a test of the destination", [record(gzipSync(subscription(eventsOf("test"), "CONTROL_MESSAGE")))], []],
    ["gzip", [packed(two)], ["one", "two"]],
    ["decompressed", [record(subscription(two))], ["one", "two"]],
    ["two in one", [record(`${subscription(two.slice(0, 1))}${subscription(two.slice(1))}\n`)], ["one", "two"]],
    ["two members", [record(Buffer.concat(two.map((one) => gzipSync(subscription([one])))))], ["one", "two"]],
    ["braces in a text", [record(subscription(eventsOf('}{ "\\', "é😀")))], ['}{ "\\', "é😀"]],
    ["two records with the same event", [packed(two), packed(two.slice(1))], ["one", "two"]],
  ];
  for (const [name, records, messages] of rows) {
    const service = await withProject(t);
    t.equal((await deliver(service, requestOf(records))).status, 200, name);
    t.same(
      (await stored(service)).map(({ message }) => message),
      messages,
      name,
    );
  }
});

t.test("what is refused stores nothing, and says why in Firehose's form", async (t) => {
  const service = await withProject(t);
  const good = packed(eventsOf("good"));
  const weak = await service.token(["events:read"]);
  const rows: readonly (readonly [
    name: string,
    status: number,
    error: RegExp,
    body: string | Buffer,
    delivery?: Delivery,
  ])[] = [
    ["no JSON", 400, /not JSON/, "x"],
    ["a list", 400, /not an object/, "[]"],
    ["no id", 400, /^requestId: /, JSON.stringify({ records: [] })],
    ["no records", 400, /^records: /, JSON.stringify({ requestId: "r" })],
    ["no base64", 400, /^records\[1\]\.data: must be base64/, requestOf([good, { data: "%%%%" }])],
    ["no data", 400, /^records\[1\]\.data: must be base64/, requestOf([good, null as never])],
    [
      "half of a gzip",
      400,
      /^records\[1\]\.data: is not whole gzip/,
      requestOf([good, record(gzipSync("x".repeat(99)).subarray(0, 20))]),
    ],
    ["another text", 400, /^records\[1\]\.data: is not what a subscription/, requestOf([good, record("a line")])],
    ["another object", 400, /^records\[1\]\.data: is not what a subscription/, requestOf([good, record('{"a":1}')])],
    ["an object that does not end", 400, /is not what a subscription/, requestOf([good, record('{"a":{')])],
    [
      "an event without a time",
      400,
      /is not what a subscription/,
      requestOf([good, record(subscription([{ id: "1", message: "m" } as LogEvent]))]),
    ],
    ["bytes", 400, /is neither gzip nor UTF-8/, requestOf([good, record(Buffer.from([0xff, 0xfe, 0]))])],
    ["no key", 401, /a token is needed/, requestOf([good]), { key: "" }],
    ["an unknown key", 401, /token is not known/, requestOf([good]), { key: "nobody" }],
    ["a key that may only read", 403, /lacks the scope events:write/, requestOf([good]), { key: weak }],
    ["no project", 400, /the project is not named/, requestOf([good]), { path: "/integrations/cloudwatch" }],
    [
      "an unknown project",
      404,
      /there is no project/,
      requestOf([good]),
      { path: "/integrations/cloudwatch?project=none" },
    ],
  ];
  for (const [name, status, error, body, delivery] of rows) {
    const answer = await deliver(service, body, delivery);
    t.equal(answer.status, status, name);
    t.match(answer.json, { requestId: "r-1", timestamp: Number, errorMessage: error }, name);
  }
  t.same(await stored(service), [], "nothing of the good records either");
  const get = await service.send({ method: "GET", path: "/integrations/cloudwatch" });
  t.equal(get.status, 405);
});

t.test("the project of the stream's attributes, and a request in gzip", async (t) => {
  const service = await withProject(t);
  const attributes = JSON.stringify({ commonAttributes: { project: "shop", other: "x" } });
  const answer = await deliver(service, gzipSync(requestOf([packed(eventsOf("one"))])), {
    path: "/integrations/cloudwatch",
    headers: { "content-encoding": "gzip", "x-amz-firehose-common-attributes": attributes },
  });
  t.equal(answer.status, 200, answer.text);
  t.same(
    (await stored(service)).map(({ message }) => message),
    ["one"],
  );
  // The stream of the public forwarder, logs-cloudwatch: its template names the project so, and compresses no request.
  const forwarder = { commonAttributes: { project_id: "shop", aws_region: "us-west-2" } };
  const forwarded = await deliver(service, requestOf([packed(eventsOf("one", "two"))], "r-2"), {
    path: "/integrations/cloudwatch",
    headers: { "x-amz-firehose-common-attributes": JSON.stringify(forwarder) },
  });
  t.equal(forwarded.status, 200, forwarded.text);
  t.same(
    (await stored(service)).map(({ message }) => message),
    ["one", "two"],
  );
  const broken = { "x-amz-firehose-common-attributes": "{" };
  const refused = await deliver(service, requestOf([]), { path: "/integrations/cloudwatch", headers: broken });
  t.equal(refused.status, 400);
});

t.test("a request that is sent again counts once, also if the first try was cut short", async (t) => {
  const count = LIMITS.eventsPerBatch + 5;
  const all = Array.from({ length: count }, (_, i) => ({ id: `${i}`, timestamp: TIME_MS + i, message: `m${i}` }));
  let appends = 0;
  const service = await withProject(t, {
    engine: "duckdb",
    around: (events) =>
      new Proxy(events, {
        get(target, name) {
          const member = Reflect.get(target, name);
          if (name !== "append") return typeof member === "function" ? member.bind(target) : member;
          return (...args: Parameters<typeof target.append>) => {
            appends++;
            if (appends === 2) throw new Error("the disk is gone");
            return target.append(...args);
          };
        },
      }),
  });
  const body = requestOf([packed(all.slice(0, 7)), packed(all.slice(7))]);
  t.equal((await deliver(service, body)).status, 500);
  t.equal((await deliver(service, body)).status, 200);
  t.equal((await deliver(service, body)).status, 200);
  t.equal((await deliver(service, requestOf([packed(all.slice(0, 9))], "r-2"))).status, 200, "by ids, too");
  const { json } = await service.call("aggregate", { project_id: "shop", ...RANGE, query: "| count" });
  t.equal(Number((json.rows as unknown[][])[0]![0]), count);
});

t.test("an entry that a deployed app sent, too, counts once, whichever comes first", async (t) => {
  const service = await withProject(t);
  const line = (id: string, message: string) =>
    JSON.stringify({ id, timestamp: new Date(TIME_MS).toISOString(), level: "info", message, fields: { stage: "a" } });
  const instance = "0123456789abcdef";
  const send = (...lines: string[]) =>
    service.send({
      path: "/ingest/shop",
      body: lines.join("\n"),
      headers: { authorization: `Bearer ${service.owner}`, "content-type": "application/x-ndjson" },
    });
  t.equal((await send(line(`${instance}-1`, "sent first"))).status, 200);
  const lines = [line(`${instance}-1`, "sent first"), line(`${instance}-2`, "delivered first"), line("order-2", "2")];
  t.equal((await deliver(service, requestOf([packed(eventsOf(...lines))]))).status, 200);
  t.equal((await send(line(`${instance}-2`, "delivered first"), line(`${instance}-3`, "sent alone"))).status, 200);
  const events = await stored(service);
  t.same(events.map(({ message }) => message).sort(), ["2", "delivered first", "sent alone", "sent first"]);
  const delivered = events.find(({ message }) => message === "delivered first");
  t.equal(delivered?.fields.id, undefined, "the id is that of the event");
  t.equal(events.find(({ message }) => message === "2")?.fields.id, "order-2", "an order's is not");
});

t.test("a project of plain text keeps lines as they are", async (t) => {
  const service = await startTestService(t);
  await service.call("add_project", { project: { id: "shop", name: "shop", mode: "plain_text" } });
  const line = '{"level":"error","message":"m"}';
  t.equal((await deliver(service, requestOf([packed(eventsOf(line))]))).status, 200);
  t.match(await stored(service), [{ level: "info", message: line, fields: {} }]);
});

t.test("a test of a destination whose project is not there", async (t) => {
  const service = await startTestService(t);
  const rows: readonly (readonly object[])[] = [[record(gzipSync(subscription([], "CONTROL_MESSAGE")))], []];
  for (const records of rows) {
    const answer = await deliver(service, requestOf(records));
    t.match([answer.status, answer.json], [404, { errorMessage: /there is no project/ }]);
  }
});

// Firehose drops what is answered with 413, and keeps no copy of it.
t.test("nothing is refused with 413", async (t) => {
  const service = await withProject(t);
  const good = packed(eventsOf("good"));
  const ofEvents = (events: string) => record(gzipSync(subscription([]).replace('"logEvents":[', `$&${events}`)));
  const rows: readonly (readonly [name: string, error: RegExp, body: string, delivery?: Delivery])[] = [
    ["a body", /the body must be at most/, "{}", { headers: { "content-length": "100000000" } }],
    ["a record", /^records\[1\]\.data: is too large/, requestOf([good, record(gzipSync(Buffer.alloc(33 * MIB, " ")))])],
    ["decompressed by Firehose", /^records\[0\]\.data: is too large/, requestOf([record(" ".repeat(33 * MIB))])],
    [
      "the objects of a record",
      /^records\[1\]\.data: is too large/,
      requestOf([good, ofEvents(`${"{},".repeat(500_000)}{}`)]),
    ],
    [
      "a group's name",
      /must be at most 262144 bytes/,
      requestOf([record(subscription(eventsOf("m")).replace("/aws", "g".repeat(300_000)))]),
    ],
    ["records", /^records: must be at most 10000/, requestOf(Array.from({ length: 12_000 }, () => ({})))],
    ["lists", /^records: must be at most 10000/, `{"requestId":"r","records":${"[".repeat(12_000)}`],
  ];
  for (const [name, error, body, delivery] of rows) {
    const answer = await deliver(service, body, delivery);
    t.match([answer.status, answer.json], [400, { errorMessage: error }], name);
  }
  const deep = subscription([]).replace("{", `{"a":${"[".repeat(16)}${"]".repeat(16)},`);
  t.equal((await deliver(service, requestOf([record(deep)]))).status, 400, "deeper than anything of theirs");
  const long = await deliver(service, requestOf([good]), {
    path: `/integrations/cloudwatch?project=${"p".repeat(9_000)}`,
  });
  t.match([long.status, long.json.errorMessage.length], [404, 8_192], "as long as Firehose takes it");
});

// The largest buffer that a stream may have. Its records are a megabyte each, as Firehose makes them.
t.test("a request of 64 MiB", slow(), async (t) => {
  const service = await withProject(t);
  const text = (i: number) => `${i} ${"x".repeat(240_000)}`;
  const records = Array.from({ length: 64 }, (_, i) => {
    const events = eventsOf(...[0, 1, 2, 3].map((j) => text(i * 4 + j)));
    const json = subscription(events.map((event, j) => ({ ...event, id: `${i}-${j}` })));
    // As large as what cannot be compressed.
    const packed = gzipSync(json, { level: 0 });
    return record(Buffer.concat([packed, gzipSync(Buffer.alloc(MIB - packed.length - 200, " "), { level: 0 })]));
  });
  const body = requestOf(records);
  t.ok(body.length > (64 * MIB * 4) / 3 - MIB, `${body.length} bytes`);
  const answer = await deliver(service, body);
  t.match([answer.status, answer.json], [200, { requestId: "r-1" }]);
  // All of them are more than a page has.
  const { json } = await service.call("get_count", { project_id: "shop", ...RANGE });
  t.match(json, { count: 256 });
});

// A stream's buffer of 64 MiB holds hundreds of megabytes of lines.
t.test("a request whose records are large when decompressed", async (t) => {
  const service = await withProject(t);
  const blanks = gzipSync(Buffer.alloc(30 * MIB, " "));
  const events = eventsOf(...Array.from({ length: 3 }, (_, i) => `m${i}`));
  const records = events.map((event) => record(Buffer.concat([gzipSync(subscription([event])), blanks])));
  t.equal((await deliver(service, requestOf(records))).status, 200);
  t.same(
    (await stored(service)).map(({ message }) => message),
    events.map(({ message }) => message),
  );
  const broken = await deliver(service, requestOf([packed(eventsOf("other")), ...records, record("x")], "r-2"));
  t.match([broken.status, broken.json], [400, { errorMessage: /^records\[4\]/ }]);
  t.equal((await stored(service)).length, events.length, "nothing of a request whose last record cannot be read");
});
