// Bodies of add_events that are scanned rather than parsed: whatever they hold, the journal gets what parsing would give it.
import t from "tap";
import { RpcError } from "../../logservice/error.ts";
import { type EncodedEvent, encodeEvent } from "../../logservice/events/journal/line.ts";
import { LIMITS } from "../../logservice/limits.ts";
import { parseExactJson } from "../../logservice/rpc/parse-json.ts";
import { readNewEvents } from "../../logservice/rpc/read-events.ts";
import { readInput } from "../../logservice/rpc/read-input.ts";
import { type ScannedBatch, scanEvents } from "../../logservice/rpc/scan-events.ts";
import { bodyText, eventText } from "../support/events/body-fuzz.ts";
import { randomOf } from "../support/random.ts";

const NOW_MS = Date.parse("2024-05-01T14:00:00.123Z");

/** The reading of a body that the service used before there was a scan. */
function parsed(body: Buffer): ScannedBatch | RpcError {
  try {
    const input = readInput("add_events", parseExactJson(body.toString()));
    const { strict: isStrict = false, partial: isPartial = false } = input;
    const { events, errors } = readNewEvents(input.events, NOW_MS, { isStrict, isPartial });
    // A batch with something wrong in it is not scanned, whether it is partial or not.
    if (errors.length > 0) return new RpcError("invalid", errors[0]!.message);
    return { project: input.project_id, events: events.map(encodeEvent), isPartial };
  } catch (error) {
    if (error instanceof RpcError) return error;
    throw error;
  }
}

const comparable = (batch: ScannedBatch | RpcError | undefined) =>
  batch === undefined || batch instanceof RpcError
    ? String(batch)
    : {
        project: batch.project,
        isPartial: batch.isPartial,
        events: batch.events.map(({ id, ms, bytes, line }) => ({ id, ms, bytes, line })),
      };

const same = (a: ScannedBatch, b: ScannedBatch | RpcError) =>
  !(b instanceof RpcError) &&
  a.project === b.project &&
  a.isPartial === b.isPartial &&
  a.events.length === b.events.length &&
  a.events.every((one, i) => isSameEvent(one, b.events[i]!));

const isSameEvent = (a: EncodedEvent, b: EncodedEvent) =>
  a.id === b.id && a.ms === b.ms && a.bytes === b.bytes && a.line === b.line;

/** ASCII, and not all of it where it is long. */
const nameOf = (body: string) =>
  JSON.stringify(body.length > 200 ? `${body.slice(0, 200)}...` : body).replace(/[^ -~]/g, "?");

const bodyOf = (...events: string[]) => `{"project_id":"app","events":[${events.join(",")}]}`;
const event = (more: string) => `{"level":"info","message":"m"${more === "" ? "" : `,${more}`}}`;
const fields = (text: string) => event(`"fields":${text}`);
const keys = (count: number) => `{${Array.from({ length: count }, (_, i) => `"k${i}":1`).join()}}`;
const nested = (depth: number) => `${'{"a":'.repeat(depth - 1)}{}${"}".repeat(depth - 1)}`;
const listed = (depth: number) => `{"a":${"[".repeat(depth - 1)}${"]".repeat(depth - 1)}}`;
const message = (text: string) => `{"level":"info","message":"${text}"}`;
/** An event of exactly this size in bytes, by the message and the fields as JSON. */
const sized = (bytes: number) => fields(`{"a":"${"x".repeat(bytes - 1 - '{"a":""}'.length)}"}`);

t.test("bodies that the service takes are scanned", async (t) => {
  const rows = [
    bodyOf(event("")),
    bodyOf(event(""), event(""), event("")),
    ` \t\r\n${JSON.stringify(JSON.parse(bodyOf(fields('{"a":[1,{"b":null}],"c":{}}'))), null, 2)}\n `,
    '{"events":[{"fields":{},"message":"m","level":"warning"}],"project_id":"A_b-9"}',
    bodyOf('{"level":"INFO","message":"m"}', '{"level":"eRRor","message":"m"}'),
    bodyOf(event(""), '{"message":"m"}'),
    bodyOf('{"level":null,"message":"m"}', '{"level":"","message":"m"}'),
    bodyOf(event('"id":"","timestamp":"","fields":null')),
    bodyOf(event('"id":null,"timestamp":null')),
    bodyOf(event('"timestamp":"0001-01-01T00:00:00Z"')),
    ...[
      "2024-05-01T11:00:00Z",
      "2024-05-01T11:00:00.000Z",
      "2024-05-01T11:00:00.1Z",
      "2024-05-01T11:00:00.123456789Z",
      "2024-05-01T11:00:00.1234567891Z",
      "2024-05-01T11:00:60Z",
      "2024-05-01 11:00:00z",
      "2024-02-29T23:59:59.999+02:30",
      "1969-12-31T23:59:59.999Z",
      "1970-01-01T00:00:00.000Z",
      "1970-01-01T00:00:00.069Z",
      "1678-01-01T00:00:00Z",
      "2261-12-31T23:59:59.999Z",
    ].map((time) => bodyOf(event(`"timestamp":"${time}"`), event(`"timestamp":"${time}"`))),
    ...[
      "é😀\u2028\ufeff\u007f\ufffd",
      '\\"\\\\\\b\\f\\n\\r\\t\\u001f',
      "\\/",
      "\\u00e9",
      "\\u001F",
      "\\ud83d\\ude00",
    ].map((text) => bodyOf(`{"level":"info","message":"${text}","fields":{"a":"${text}"}}`, event(`"id":"x${text}"`))),
    ...["\\ud83d", "\\ude00\\ud83d", "\\\\ud800"].map((text) =>
      bodyOf(message(text), fields(`{"${text}":["${text}"]}`)),
    ),
    ...[
      ...["0", "-1", "1.5", "-0.5", "0.1", "0.000001", "123456789012345", "0.30000000000000004", "100.25"],
      ...["-0", "1.0", "0.0000001", "1E2", "1e+21", "5e-324", "1e400", "-0.0", "12345678901234567890"],
      ...["9007199254740993", "9007199254740992", "1234567890123456.5", "123456789012345678901.5", "1.10"],
      ...["true", "false", "null", '""', "[]", "{}", "[ ]", "{ }", '[1,"a",{"b":[]}]'],
    ].map((value) => bodyOf(fields(`{"a":${value},"b":[${value}]}`))),
    ...['{"a":1,"a":2}', '{"1":1,"0":2}', '{"b":1,"":2}', '{"__proto__":{"a":1}}', '{"toJSON":1}'].map((text) =>
      bodyOf(fields(text)),
    ),
    // The same polynomial hash, base 31.
    bodyOf(fields('{"Aa":1,"BB":2}')),
    bodyOf(fields('{"a":{"x":1},"b":{"x":1},"x":1}')),
    bodyOf(fields('{"a":{"x":1},"a":{"y":1}}')),
    bodyOf(fields('{"\\u0061":1,"a":2}')),
    bodyOf(event('"level":"error","tags":[1,"]"]')),
    bodyOf(
      event('"id":"a","id":null,"fields":{"a":1},"fields":null,"timestamp":"2024-05-01T11:00:00Z","timestamp":""'),
    ),
    bodyOf(fields(keys(64))),
    bodyOf(fields(keys(LIMITS.fieldsPerEvent))),
    bodyOf(fields(nested(LIMITS.fieldsDepth))),
    bodyOf(fields(listed(LIMITS.fieldsDepth))),
    bodyOf(message("x".repeat(LIMITS.messageBytes))),
    bodyOf(message("é".repeat(LIMITS.messageBytes / 2))),
    bodyOf(message("\\n".repeat(LIMITS.messageBytes))),
    bodyOf(message("x".repeat(LIMITS.messageBytes + 1)), event("")),
    bodyOf(message(`x${"é".repeat(LIMITS.messageBytes / 2)}`)),
    bodyOf(message("")),
    bodyOf('{"level":"INFO","message":"m"}', '{"level":"Fatal","message":""}'),
    ...["true", "false"].flatMap((truth) => [
      `{"strict":${truth},"project_id":"app","events":[${event("")}]}`,
      `{"project_id":"app","events":[${event("")}], "partial" : ${truth} }`,
      `{"partial":${truth},"project_id":"app","events":[${message("x".repeat(LIMITS.messageBytes + 1))}],"strict":false}`,
    ]),
    bodyOf(event(`"id":"${"i".repeat(255)}"`)),
    bodyOf(event(`"id":"${"é".repeat(255)}"`)),
    bodyOf(sized(LIMITS.eventBytes)),
    bodyOf(...Array.from({ length: LIMITS.eventsPerBatch }, () => event(""))),
    bodyOf(...['"', "\\", "{", "}", "[", "]", ",", ":"].map((text) => message(JSON.stringify(text).slice(1, -1)))),
  ];
  for (const row of rows) {
    const body = Buffer.from(row);
    const [scan, expected] = [scanEvents(body, NOW_MS), parsed(body)];
    if (scan !== undefined && same(scan, expected)) t.pass(nameOf(row));
    else t.same(comparable(scan), comparable(expected), nameOf(row));
  }
});

t.test("bodies that are refused, or unusual as a whole, are not scanned", async (t) => {
  const rows = [
    "",
    "{}",
    "[]",
    "null",
    `\ufeff${bodyOf(event(""))}`,
    `${bodyOf(event(""))}}`,
    `${bodyOf(event(""))},`,
    bodyOf(event("")).slice(0, -1),
    bodyOf(event("")).slice(0, -2),
    bodyOf(event(""), ""),
    bodyOf(`${event("")}${event("")}`),
    '{"project_id":"app","events":[]}',
    `{"events":[${event("")}]}`,
    `{"project_id":"app"}`,
    `{"project_id":"","events":[${event("")}]}`,
    `{"project_id":7,"events":[${event("")}]}`,
    `{"project_id":"${"p".repeat(65)}","events":[${event("")}]}`,
    `{"project_id":"app","project_id":"b","events":[${event("")}]}`,
    `{"project_id":"app","events":[${event("")}],"events":[]}`,
    `{"project_id":"app","events":[${event("")}],"other":1}`,
    ...["null", "[]", "7", "{}", '{"level":"info"}', '{"level":"info","message":null}'].map((text) =>
      bodyOf(event(""), text),
    ),
    bodyOf('{"level":"LOUD","message":"m"}'),
    bodyOf('{"level":"info","message":0}'),
    `{"strict":1,"project_id":"app","events":[${event("")}]}`,
    `{"project_id":"app","events":[${event("")}],"partial":null}`,
    `{"partial":true,"partial":true,"project_id":"app","events":[${event("")}]}`,
    `{"strict":true,"project_id":"app","events":[${message("x".repeat(LIMITS.messageBytes + 1))}]}`,
    `{"project_id":"app","events":[${message("é".repeat(LIMITS.messageBytes))}],"strict":true}`,
    bodyOf('{"level":"constructor","message":"m"}'),
    bodyOf('{"level":7,"message":"m"}'),
    bodyOf('{"level":"info","message":7}'),
    ...[
      "yesterday",
      "2024-02-30T00:00:00Z",
      "1677-12-31T23:59:59Z",
      "2262-01-01T00:00:00Z",
      "2024-05-01T11:00:61Z",
    ].map((time) => bodyOf(event('"timestamp":"2024-05-01T11:00:00Z"'), event(`"timestamp":"${time}"`))),
    bodyOf(event('"timestamp":"2261-12-31T23:59:00Z"'), event('"timestamp":"2261-12-31T23:59:59.9995Z"')),
    ...["01", "+1", "1.", ".5", "1e", "-", "NaN", "tru", "nulll", "'a'", "[1,]", '{"a":1,}', "{a:1}", '"a', "\t"].map(
      (value) => bodyOf(fields(`{"a":${value}}`)),
    ),
    ...["\\x", "\\u12", "\\", "\n", "\u0000", "\t"].map((text) => bodyOf(message(text), fields(`{"a":"${text}"}`))),
    bodyOf(fields('{"a\n":1}')),
    bodyOf(fields("[]")),
    bodyOf(fields("7")),
    bodyOf(event(`"id":"${"i".repeat(256)}"`)),
    bodyOf(event('"id":7')),
    bodyOf(fields(keys(LIMITS.fieldsPerEvent + 1))),
    bodyOf(fields(nested(LIMITS.fieldsDepth + 1))),
    bodyOf(fields(listed(LIMITS.fieldsDepth + 1))),
    bodyOf(sized(LIMITS.eventBytes + 1)),
    bodyOf(...Array.from({ length: LIMITS.eventsPerBatch + 1 }, () => event(""))),
  ];
  for (const row of rows) {
    t.equal(scanEvents(Buffer.from(row), NOW_MS), undefined, nameOf(row));
  }
  t.equal(scanEvents(Buffer.from(bodyOf(message("\xff")), "latin1"), NOW_MS), undefined, "no UTF-8");
});

t.test("the usual event is not parsed", async (t) => {
  const usual = {
    id: "0190f1c2",
    timestamp: "2024-05-01T11:00:00.123Z",
    level: "warning",
    message: 'GET "/" took 12 ms\n',
    fields: {
      status: 200,
      duration: 12.25,
      ok: true,
      none: null,
      user: { id: 7, name: "\u00e9" },
      order: { id: 8, tags: ["a"] },
      name: "n",
    },
  };
  const batch = { project_id: "app", events: Array.from({ length: 100 }, () => usual) };
  const bodies = [JSON.stringify(batch), JSON.stringify(batch, null, 2)].map((text) => Buffer.from(text));
  const { parse } = JSON;
  let calls = 0;
  JSON.parse = (...input: Parameters<typeof parse>) => {
    calls++;
    return parse(...input);
  };
  t.teardown(() => {
    JSON.parse = parse;
  });
  const scanned = bodies.map((body) => scanEvents(body, NOW_MS)!.events.length);
  JSON.parse = parse;
  t.same({ scanned, calls }, { scanned: [100, 100], calls: 0 });
});

t.test("any body is scanned as it is parsed, or not at all", async (t) => {
  const random = randomOf(Number(process.env.FUZZ_SEED ?? 11));
  const count = Number(process.env.FUZZ_COUNT ?? 6_000);
  let scanned = 0;
  for (let i = 0; i < count; i++) {
    const body = Buffer.from(bodyText(random, i % 4 !== 0));
    // Every other one is damaged somewhere.
    for (let damages = random.chance(0.5) ? 0 : 1 + random.below(2); damages > 0; damages--) {
      body[random.below(body.length)] = random.chance(0.5) ? random.pick(SYNTAX) : random.below(256);
    }
    const scan = scanEvents(body, NOW_MS);
    if (scan === undefined) continue;
    scanned++;
    const expected = parsed(body);
    if (!same(scan, expected)) t.same(comparable(scan), comparable(expected), nameOf(body.toString("latin1")));
  }
  t.ok(scanned > count / 4, `${scanned} of ${count} were scanned`);
});

const SYNTAX = [...Buffer.from('{}[]:,"\\ 0e.-n')];

t.test("an encoded event is the event, in its parts and in its size", async (t) => {
  const random = randomOf(5);
  for (let i = 0; i < 300; i++) {
    const text = eventText(random, true);
    const scan = scanEvents(Buffer.from(bodyOf(text)), NOW_MS);
    if (scan === undefined) continue;
    const [encoded] = scan.events;
    const [read] = readNewEvents([parseExactJson(text)], NOW_MS).events;
    const { id, timestamp, level, message, fields, truncated } = encoded!;
    const cut = truncated && { truncated };
    const parts = { ...(id !== undefined && { id }), timestamp, level, message, fields, ...cut };
    const { fieldsJson: _, ...wanted } = read!;
    t.same(parts, wanted);
    const whole = { id: id ?? "000000000000", timestamp, level, message, fields, ...cut };
    t.equal(encoded!.bytes, Buffer.byteLength(JSON.stringify(whole)));
  }
});
