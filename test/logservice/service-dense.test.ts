// Small requests whose bodies would take long to read: everybody else waits meanwhile.
import { gzipSync } from "node:zlib";
import t from "tap";
import { readLines, readPlainLines } from "../../logservice/http/read-lines.ts";
import { LIMITS } from "../../logservice/limits.ts";
import { timesAsLong } from "../support/processor-time.ts";
import { startTestService } from "../support/service.ts";

const MOST = LIMITS.objectsPerBody;
const REFUSED = `there must be at most ${MOST} objects and lists at once: send them in parts`;
const NDJSON = "application/x-ndjson";
const JSON_TYPE = "application/json";

const nested = (depth: number) => "[".repeat(depth) + "]".repeat(depth);

t.test("bodies of many objects and lists, or of deep ones", async (t) => {
  const service = await startTestService(t);
  await service.call("add_project", { project: { id: "app", name: "app" } });
  const tooDeep = "must be at most 10 objects and lists deep";
  const rows: readonly [title: string, type: string, body: string, status: number, answer: object][] = [
    ["lists", JSON_TYPE, `[{},${"[],".repeat(MOST)}1]`, 413, { message: REFUSED }],
    ["objects", JSON_TYPE, `[${"{},".repeat(MOST)}1]`, 413, { message: REFUSED }],
    ["lists in each other", JSON_TYPE, nested(MOST + 1), 413, { message: REFUSED }],
    ["lists that do not end", JSON_TYPE, "[".repeat(MOST + 1), 413, { message: REFUSED }],
    [
      "a line between others",
      NDJSON,
      `a\n{"a":[${"{},".repeat(MOST)}1]}\nb`,
      200,
      { accepted: 2, errors: [{ index: 1, message: REFUSED }] },
    ],
    [
      "brackets in a text",
      NDJSON,
      `{"message":"${'[{\\"'.repeat(MOST)}"}\n{"message":"\\\\","a":[]}`,
      200,
      { accepted: 2, errors: [] },
    ],
    [
      "a deep list",
      JSON_TYPE,
      `[{"message":"m","a":${nested(20_000)}},{"message":"n"}]`,
      200,
      { accepted: 1, errors: [{ index: 0, message: `element 1.fields: ${tooDeep}` }] },
    ],
    [
      "a deep object without a message",
      JSON_TYPE,
      `[{"level":${'{"a":'.repeat(20_000)}1${"}".repeat(20_000)}}]`,
      200,
      { accepted: 0, errors: [{ index: 0, message: `element 1.fields: ${tooDeep}` }] },
    ],
  ];
  for (const [title, type, body, status, answer] of rows) {
    const headers = {
      authorization: `Bearer ${service.owner}`,
      "content-type": type,
      "content-encoding": "gzip",
    };
    const { json, ...got } = await service.send({ path: "/ingest/app", headers, body: gzipSync(body) });
    t.equal(got.status, status, title);
    t.match(json, answer, title);
  }
  t.same(service.logged, []);
});

t.test("lines of traces take hardly longer than lines of their own", (t) => {
  const lines = 9_000;
  const own = "x\n".repeat(lines);
  const rows: readonly [title: string, text: string][] = [
    ["frames", `Error: x\n${"\tx\n".repeat(2 * lines)}`],
    ["errors of Python", `Traceback (most recent call last):\n${" x\nE:\n".repeat(lines / 2)}`],
  ];
  for (const [title, text] of rows) {
    for (const read of [readLines, readPlainLines]) {
      const times = timesAsLong(
        () => read(text, 0),
        () => read(own, 0),
        4,
      );
      t.ok(times <= 4, `${title}: ${times.toFixed(1)} times as long`);
      t.equal(read(text, 0).events[0]!.message, text.trimEnd(), title);
    }
  }
  t.end();
});

t.test("a message of lines ends where it is full", (t) => {
  const line = `\t${"x".repeat(999)}`;
  const { events } = readLines(`Error: x\n${`${line}\n`.repeat(100)}`, 0);
  t.same(
    events.map(({ message }) => message.length),
    [8 + 65 * 1_001, 999 + 34 * 1_001],
  );
  t.end();
});
