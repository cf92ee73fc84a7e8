// Summaries made of the journal's bytes, and of other summaries: the same as of the events one by one.
import { deepStrictEqual, ok } from "node:assert/strict";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import t from "tap";
import { levelOf, severity } from "../../../grammar/query/index.ts";
import { minuteOf, nanosecondsOf } from "../../../logservice/events/instant.ts";
import { encodeBatch } from "../../../logservice/events/journal/batch-lines.ts";
import { encodeFrame } from "../../../logservice/events/journal/frame.ts";
import { decodeLine, encodeEvent } from "../../../logservice/events/journal/line.ts";
import type { NewEvent } from "../../../logservice/events/store.ts";
import { LineCounts, summarizeJournal } from "../../../logservice/events/summary/summarize.ts";
import {
  addToSummary,
  allFields,
  emptySummary,
  MAX_VALUES,
  mergeSummaries,
  printSummary,
  readSummary,
  type Summary,
} from "../../../logservice/events/summary/summary.ts";
import { oddEvents } from "../../support/events/generate.ts";
import { slow } from "../../support/slow.ts";

const BEGIN_MS = Date.parse("2024-05-01T10:00:00Z");

/** By the events as they are read back from their lines. */
function expected(lines: readonly string[]): Summary {
  const summary = emptySummary();
  for (const line of lines) {
    const bytes = Buffer.from(line);
    const { event } = decodeLine(bytes, 0, bytes.length);
    const minute = minuteOf(BigInt(nanosecondsOf(event.timestamp)));
    addToSummary(summary, minute, severity(levelOf(event.level)!), event.fields);
  }
  return summary;
}

function counted(lines: readonly string[]): Summary {
  const counts = new LineCounts();
  for (const line of lines) counts.add(Buffer.from(line), 0);
  return counts.summary;
}

const lineOf = (event: NewEvent, i: number, project = "app") =>
  encodeBatch(project, i + 1, [encodeEvent(event)]).body.toString();

/** Events of one level, so that a bound is reached, unless others are named. */
const withFields = (fields: Record<string, unknown>, i = 0, levels = ["info"]): string =>
  lineOf({ timestamp: "2024-05-01T10:00:00.000Z", level: levels[i % levels.length]!, message: 'a "b" \\', fields }, i);
const ofLevels = (fields: Record<string, unknown>, i: number) => withFields(fields, i, ["info", "error", "warning"]);

const asErrors = (line: string) => line.replace('"l":"info","v":1', '"l":"error","v":4');

/** The order of paths is none of its properties; a merge sums numbers in another order. */
const comparable = ({ fields, minutes, ...rest }: Summary, withSums = true) => ({
  ...rest,
  minutes: [...minutes].sort(([a], [b]) => a - b),
  fields: [...fields]
    .sort(([a], [b]) => a - b)
    .map(([severity, ofLevel]) => [
      severity,
      [...ofLevel]
        .sort(([a], [b]) => (a < b ? -1 : 1))
        .map(([key, { numbers, values, ...field }]) => [
          key,
          field,
          // JSON has one zero.
          withSums ? numbers : [numbers.count, numbers.min + 0, numbers.max + 0],
          values && [...values].sort(([a], [b]) => (String(a) < String(b) ? -1 : 1)),
        ]),
    ]),
});

/** Two orders of one addition differ by an ulp of the largest partial sum, at most, for each number. */
function sumsAreClose(one: Summary, other: Summary): boolean {
  const sums = allFields(other);
  return [...allFields(one)].every(([key, { numbers }]) => {
    const { count, min, max, sum } = numbers;
    const bound = count * count * Number.EPSILON * Math.max(Math.abs(min), Math.abs(max));
    // A sum past the largest double has no difference to compare.
    return count === 0 || !(Math.abs(sum - sums.get(key)!.numbers.sum) > bound);
  });
}

const rows: readonly Record<string, unknown>[] = [
  {},
  { a: {} },
  { a: { b: {} }, c: [] },
  { a: 1, "a ": 2, "": 3, é: 4, "\u{1f600}": 5, 'quote"': 6, "back\\": 7, "line\n": { "\t": 8 } },
  { a: "", b: "text", c: 'say "hi"\\', d: "\\", e: "日本 \u{1f600}", f: "{[,]}" },
  {
    a: -0,
    b: 0.1,
    c: -1.5,
    d: 1e21,
    e: 5e-7,
    f: 123456789012345680,
    g: 0.30000000000000004,
    h: 1.7976931348623157e308,
  },
  { a: 999999999999999, b: 9007199254740991, c: 0.000001, d: 99999999.9999999, e: -12345678.1234567 },
  { a: true, b: false, c: null, d: [null], e: [true, true, "true", 1, [2, "}"]], f: [{ g: 1 }, { g: [2] }] },
  { a: { b: 1 } },
  { a: "b" },
  { a: ["b", "c", "b"] },
  { constructor: 1, ["__proto__"]: 2, toString: "x", 1: "one", 0: "zero" },
  { long: "x".repeat(200), short: "x" },
  { deep: Array.from({ length: 40 }).reduce<unknown>((below) => ({ d: below }), { x: 1 }) as object },
];

t.test("each form of value, by itself and together", async (t) => {
  for (const fields of rows) {
    const line = withFields(fields);
    t.strictSame(comparable(counted([line])), comparable(expected([line])), JSON.stringify(fields));
  }
  const lines = rows.map(ofLevels);
  t.strictSame(comparable(counted([...lines, ...lines])), comparable(expected([...lines, ...lines])));
});

const keys = fc.oneof(
  fc.constantFrom("a", "b", "c", "", 'q"', "\\", "é", "\u{1f600}"),
  fc.string({ unit: "grapheme" }),
);
const scalars = fc.oneof(
  fc.string({ unit: "grapheme" }),
  fc.constantFrom("x", "y", "\n", '"', "\u0000"),
  fc.double({ noNaN: true, noDefaultInfinity: true }),
  fc.integer(),
  fc.integer().map((number) => number / 100),
  fc.boolean(),
  fc.constant(null),
);
const { value } = fc.letrec((tie) => ({
  value: fc.oneof(
    { maxDepth: 4, withCrossShrink: true },
    scalars,
    fc.array(tie("value"), { maxLength: 4 }),
    fc.dictionary(keys, tie("value"), { maxKeys: 4 }),
  ),
}));
const someFields = fc.dictionary(keys, value, { maxKeys: 6 }) as fc.Arbitrary<Record<string, unknown>>;

t.test("of random fields", async (t) => {
  fc.assert(
    fc.property(fc.array(someFields, { maxLength: 8 }), (all) => {
      const lines = all.map(ofLevels);
      deepStrictEqual(comparable(counted(lines)), comparable(expected(lines)));
    }),
    { numRuns: 300 },
  );
  t.pass("alike");
});

t.test("merged is the same as of all events, whatever is in which part", async (t) => {
  fc.assert(
    fc.property(fc.array(fc.array(someFields, { maxLength: 5 }), { maxLength: 5 }), (parts) => {
      const lines = parts.map((part) => part.map(ofLevels));
      const merged = mergeSummaries(lines.map(expected).map((one) => readSummary(printSummary(one))));
      const all = expected(lines.flat());
      deepStrictEqual(comparable(merged, false), comparable(all, false));
      ok(sumsAreClose(merged, all), "sums");
    }),
    { numRuns: 200 },
  );
  t.pass("alike");
});

t.test("the bounds on values and paths", slow(), async (t) => {
  const some = (from: number, to: number, make: (i: number) => Record<string, unknown>) =>
    Array.from({ length: to - from }, (_, i) => withFields(make(from + i), from + i));
  const values = some(0, MAX_VALUES + 1, (i) => ({ most: `v${Math.min(i, MAX_VALUES - 1)}`, more: `v${i}` }));
  const summary = counted(values);
  t.strictSame(comparable(summary), comparable(expected(values)));
  t.equal(allFields(summary).get('["most"]')?.values?.size, MAX_VALUES);
  t.equal(allFields(summary).get('["more"]')?.values, undefined);
  const halves = [values.slice(0, 100), values.slice(100)].map(counted);
  t.strictSame(comparable(mergeSummaries(halves)), comparable(expected(values)), "merged");

  const paths = some(0, 5002, (i) => ({ [`k${i}`]: { deep: i }, last: i }));
  t.equal(counted(paths).isCut, true);
  t.strictSame(comparable(counted(paths)), comparable(expected(paths)), "the same paths are left out");
  const parts = [paths.slice(0, 3000), paths.slice(3000)].map(counted);
  t.strictSame(
    parts.map(({ isCut }) => isCut),
    [false, false],
  );
  t.equal(mergeSummaries(parts).isCut, true, "parts that fit may not fit together");
  const ofTwo = some(0, 5000, (i) => ({ [`k${i}`]: 1 })).concat(some(0, 5000, (i) => ({ [`k${i}`]: 2 })).map(asErrors));
  t.equal(counted(ofTwo).isCut, false, "a path counts once, whatever the levels");
  t.equal(mergeSummaries([counted(ofTwo), counted(ofTwo)]).isCut, false);
});

t.test("a journal file: its projects, from their sequences on, with the first and last time", async (t) => {
  const directory = await mkdtemp(join(tmpdir(), "events-summary-"));
  t.teardown(() => rm(directory, { recursive: true }));
  const all = [
    ...oddEvents(3000, 5, BEGIN_MS, 1000),
    { timestamp: "1969-12-31T23:59:59.999999999Z", level: "error", message: "before 1970", fields: { early: true } },
    // Longer than what is read at once.
    { timestamp: "2261-01-01T00:00:00.000000001Z", level: "debug", message: "x".repeat(2_500_000), fields: { big: 1 } },
  ];
  const projectOf = (i: number) => (i % 3 === 0 ? "other" : "app");
  const accepted = all.map((event, i) => ({
    event,
    sequence: i + 1,
    project: projectOf(i),
    line: lineOf(event, i, projectOf(i)),
  }));
  const pieces: Buffer[] = [];
  for (let from = 0; from < accepted.length; from += 100) {
    for (const project of ["app", "other"]) {
      const batch = accepted.slice(from, from + 100).filter((one) => one.project === project);
      const frame = {
        sequence: batch[0]!.sequence,
        project,
        lines: batch.length,
        atMs: 0,
        key: '"q',
        isDeletion: false,
      };
      const body = Buffer.from(batch.map(({ line }) => line).join(""));
      pieces.push(encodeFrame(frame, body), body);
    }
  }
  const path = join(directory, "journal");
  await writeFile(path, Buffer.concat(pieces));
  const shares = [
    { project: "other", first: 500, last: 1e6 },
    { project: "app", first: 1, last: 333 },
    { project: "app", first: 334, last: 1e6 },
  ];
  const summaries = await summarizeJournal(path, shares);
  for (const [i, share] of shares.entries()) {
    const { project } = share;
    const own = accepted.filter(
      ({ project, sequence }) => project === share.project && sequence >= share.first && sequence <= share.last,
    );
    const times = own.map(({ event }) => BigInt(nanosecondsOf(event.timestamp)));
    const [first, last] = [times.reduce((a, b) => (a < b ? a : b)), times.reduce((a, b) => (a > b ? a : b))];
    t.strictSame(comparable(summaries[i]!.summary), comparable(expected(own.map(({ line }) => line))), project);
    t.strictSame([summaries[i]!.first, summaries[i]!.last], [String(first), String(last)], `${project}, times`);
  }
  t.strictSame((await summarizeJournal(path, [{ project: "none", first: 0, last: 1 }]))[0]!.first, "0");
});

t.test("a line of another form is refused, not miscounted", async (t) => {
  for (const line of ['{"q":1,"f":{"a" :1}}\n', '{"q":1,"f":{"a":1]}\n', '{"q":1,"f":{a:1}}\n', '{"q":1,"f":{"a":"']) {
    t.throws(() => new LineCounts().add(Buffer.from(line), 0), line);
  }
});
