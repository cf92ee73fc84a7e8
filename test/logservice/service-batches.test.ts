// Batches that are not as they should be: messages that are empty or too long, events that are wrong among others that are
// right.
import { connect } from "node:net";
import t, { type Test } from "tap";
import { LIMITS } from "../../logservice/limits.ts";
import { type Answer, startTestService, type TestService } from "../support/service.ts";
import { slow } from "../support/slow.ts";
import { until } from "../support/until.ts";

const RANGE = { start: "2020-01-01T00:00:00Z", stop: "2100-01-01T00:00:00Z" };
const short = ({ status, text }: Answer) => `${status} ${text}`.trim();

async function withProject(t: Test, options: Parameters<typeof startTestService>[1] = { engine: "duckdb" }) {
  const service = await startTestService(t, options);
  await service.call("add_project", { project: { id: "app", name: "app" } });
  return service;
}

interface Upkeep {
  flush(): Promise<void>;
  compact(): Promise<void>;
}

const upkeepOf = ({ events }: TestService) => events as unknown as Upkeep;

const search = async (service: TestService) =>
  (await service.call("search", { project_id: "app", ...RANGE, order: "ascending", limit: 1000 })).json.events as {
    id: string;
    message: string;
    truncated?: true;
  }[];

/** The stored form of a long message: as much of it as the limit takes, in whole characters. */
const CUT: readonly [title: string, message: string, kept: string][] = [
  ["of ASCII", "a".repeat(300 * 1024), "a".repeat(LIMITS.messageBytes)],
  ["one byte too long", "b".repeat(LIMITS.messageBytes + 1), "b".repeat(LIMITS.messageBytes)],
  ["of two bytes each", `c${"é".repeat(LIMITS.messageBytes / 2)}`, `c${"é".repeat(LIMITS.messageBytes / 2 - 1)}`],
  ["of pairs", `dd${"😀".repeat(LIMITS.messageBytes / 4)}`, `dd${"😀".repeat(LIMITS.messageBytes / 4 - 1)}`],
];

t.test("a message that is too long is cut, wherever the event is read, and stays so", slow(), async (t) => {
  let service = await withProject(t);
  const timeOf = (i: number) => `2026-01-01T00:00:0${i}.000Z`;
  const events = CUT.map(([, message], i) => ({ id: `cut-${i}`, timestamp: timeOf(i), level: "info", message }));
  const whole = { id: "whole", timestamp: timeOf(8), level: "info", message: "m", fields: { truncated: false } };
  const socket = connect(service.running.port, "127.0.0.1").setEncoding("utf8");
  t.teardown(() => socket.destroy());
  let tailed = "";
  socket.on("data", (chunk) => {
    tailed += chunk;
  });
  socket.write(`GET /tail?project_id=app HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${service.owner}\r\n\r\n`);
  await until("the head", () => tailed.includes("\r\n\r\n"));
  for (const event of [...events, whole]) {
    const answer = await service.call("add_events", { project_id: "app", events: [event] });
    t.equal(short(answer), "204");
  }
  await until("the last event", () => tailed.includes('"id":"whole"'));
  t.equal(tailed.match(/"truncated":true,"fields":\{\}\}/g)?.length, CUT.length, "the tail says so");
  socket.destroy();

  const expected = [
    ...CUT.map(([, , message], i) => ({ id: `cut-${i}`, message, truncated: true })),
    { id: "whole", message: "m", truncated: undefined },
  ];
  const look = async (when: string) => {
    const results = await search(service);
    t.strictSame(
      results.map(({ id, message, truncated }) => ({ id, message, truncated })),
      expected,
      `search, ${when}`,
    );
    t.notOk("truncated" in results.at(-1)!, "absent from an event that is whole");
    const { json } = await service.call("query", {
      project_id: "app",
      query: "select id, strlen(message) as bytes, truncated from events order by id",
    });
    t.strictSame(
      json.results,
      expected.map(({ id, message, truncated = false }) => ({ id, bytes: Buffer.byteLength(message), truncated })),
      `SQL, ${when}`,
    );
    const stats = await service.call("get_project_stats", { project_id: "app" });
    const bytes = results.reduce((sum, event) => sum + Buffer.byteLength(JSON.stringify(event)), 0);
    t.equal(stats.json.bytes_total, bytes, `the bytes, ${when}`);
  };
  const restart = async () => {
    await service.stop();
    service = await startTestService(t, { engine: "duckdb", directory: service.directory });
  };
  await look("in memory");
  await restart();
  await look("from the journal");
  await upkeepOf(service).flush();
  await look("from a segment");
  await restart();
  await look("from a segment after a start");
  // Merged with segments that have no such column, on either side.
  for (const name of ["x1", "x2"]) {
    const event = { id: name, timestamp: timeOf(9), level: "info", message: name };
    await service.call("add_events", { project_id: "app", events: [event] });
    await upkeepOf(service).flush();
    expected.push({ id: name, message: name, truncated: undefined });
  }
  await look("from a segment beside others");
  await upkeepOf(service).compact();
  await look("from a merged segment");
  await restart();
  await look("from a merged segment after a start");
});

t.test("a strict batch refuses what is too long, and only that", async (t) => {
  const service = await withProject(t, {});
  const add = (message: string, more: object) =>
    service.call("add_events", {
      project_id: "app",
      events: [
        { level: "info", message: "m" },
        { level: "info", message },
      ],
      ...more,
    });
  const long = "x".repeat(LIMITS.messageBytes + 1);
  const refused = '413 {"type":"too_large","message":"events[1].message: must be at most 65536 bytes"}';
  t.equal(short(await add(long, { strict: true })), refused);
  t.equal(short(await add(`${"é".repeat(LIMITS.messageBytes)}`, { strict: true })), refused);
  t.same(await search(service), [], "and all of the batch");
  t.equal(short(await add("", { strict: true })), "204", "an empty message is not too long");
  t.equal(short(await add(long, { strict: false })), "204");
  t.equal(short(await add(long, { strict: null })), "204", "a zero is not strict");
  t.equal(
    short(await add(long, { strict: "yes" })),
    '400 {"type":"invalid","message":"strict: must be true or false"}',
  );
  const partial = await add(long, { strict: true, partial: true });
  t.strictSame(
    [partial.status, partial.json],
    [200, { accepted: 1, errors: [{ index: 1, message: "events[1].message: must be at most 65536 bytes" }] }],
  );
});

t.test("an event that is wrong among others", async (t) => {
  const service = await withProject(t, {});
  const good = (message: string) => ({ level: "info", message });
  const events = [
    good("first"),
    { level: "info" },
    good(""),
    { level: "loud", message: "m" },
    7,
    { ...good("m"), fields: { a: "x".repeat(LIMITS.eventBytes) } },
    good("last"),
  ];
  const whole = await service.call("add_events", { project_id: "app", events });
  t.equal(short(whole), '400 {"type":"invalid","message":"events[1].message: is required"}');
  t.same(await search(service), [], "a batch stays whole");
  const levels =
    "debug, info, notice, warning, error, critical, alert, emergency, trace, verbose, err, crit, emerg, fatal, warn";
  const report = {
    accepted: 3,
    errors: [
      { index: 1, message: "events[1].message: is required" },
      { index: 3, message: `events[3].level: must be one of: ${levels}` },
      { index: 4, message: "events[4]: must be an object" },
      { index: 5, message: "events[5]: must be at most 262144 bytes" },
    ],
  };
  const partial = await service.call("add_events", { project_id: "app", events, partial: true });
  t.strictSame([partial.status, partial.json], [200, report]);
  t.same((await search(service)).map(({ message }) => message).sort(), ["", "first", "last"]);
  const all = await service.call("add_events", { project_id: "app", events: [good("a"), good("b")], partial: true });
  t.strictSame([all.status, all.json], [200, { accepted: 2, errors: [] }], "nothing wrong");
  const none = await service.call("add_events", { project_id: "app", events: [7], partial: true });
  t.strictSame([none.status, none.json.accepted], [200, 0], "nothing right");
  const nobody = await service.call("add_events", { project_id: "nobody", events: [7], partial: true });
  t.equal(nobody.status, 404, "a project that is not there");
  const many = Array(10_001).fill(good("m"));
  t.equal((await service.call("add_events", { project_id: "app", events: many, partial: true })).status, 413);
});

t.test("lines that are wrong among others", async (t) => {
  const service = await withProject(t, {});
  const headers = { authorization: `Bearer ${service.owner}`, "content-type": "application/x-ndjson" };
  const keys = Object.fromEntries(Array.from({ length: 251 }, (_, i) => [`k${i}`, i]));
  const lines = [
    "one",
    "",
    JSON.stringify({ level: "info", message: "m", ...keys }),
    '{"message":""}',
    "x".repeat(70_000),
  ];
  const answer = await service.send({ path: "/ingest/app", headers, body: lines.join("\n") });
  const errors = [{ index: 2, message: "line 3.fields: must hold at most 250 fields" }];
  t.strictSame([answer.status, answer.json], [200, { accepted: 3, errors }]);
  const lengths = (await search(service)).map(({ message, truncated }) => [message.length, truncated]);
  t.strictSame(
    lengths.sort(),
    [
      [14, undefined],
      [3, undefined],
      [LIMITS.messageBytes, true],
    ].sort(),
  );
});

t.test("the same Idempotency-Key gives the same report, also after a flush and a start", async (t) => {
  let service = await withProject(t);
  const bodies: readonly [path: string, body: string, report: object][] = [
    [
      "/add_events",
      JSON.stringify({
        project_id: "app",
        partial: true,
        events: [{ level: "info", message: "a" }, { level: "info" }],
      }),
      { accepted: 1, errors: [{ index: 1, message: "events[1].message: is required" }] },
    ],
    [
      "/ingest/app",
      `one\n{"message":"m","fields":${"[".repeat(2)}${"]".repeat(2)},"deep":${'{"a":'.repeat(11)}1${"}".repeat(11)}}\ntwo`,
      { accepted: 2, errors: [{ index: 1, message: "line 2.fields: must be at most 10 objects and lists deep" }] },
    ],
    ["/ingest/app", "one\ntwo", { accepted: 2, errors: [] }],
  ];
  const look = async (when: string) => {
    for (const [i, [path, body, report]] of bodies.entries()) {
      const headers = { authorization: `Bearer ${service.owner}`, "idempotency-key": `key ${i}` };
      const first = await service.send({ path, headers, body });
      t.strictSame([first.status, first.json], [200, report], `${path}, ${when}`);
      const other = await service.send({ path, headers, body: `${body} ` });
      t.equal(other.status, 409, `another body, ${when}`);
    }
    t.equal((await service.call("get_count", { project_id: "app", ...RANGE })).json.count, 5, `counted once, ${when}`);
  };
  const restart = async () => {
    await service.stop();
    service = await startTestService(t, { engine: "duckdb", directory: service.directory });
  };
  await look("at once");
  await look("again");
  await restart();
  await look("after a start");
  await upkeepOf(service).flush();
  await look("after a flush");
  await restart();
  await look("after a flush and a start");
});
