// Queries with stages over the fields of odd events, and how two answers to one differ.

import type { AggregateResult } from "../../../logservice/events/store.ts";
import type { Random } from "../random.ts";

const FIELDS = [
  "status",
  "duration",
  "method",
  "path",
  "cached",
  "user.id",
  "user.email",
  "user",
  "stage",
  "tags",
  "tags[0]",
  "mixed",
  "mixed.deep",
  'fields["odd key"]["a.b"]',
  "level",
  "timestamp",
  "fields.level",
  "message",
  "error.message",
  "rare1",
  "big",
  "nothing",
] as const;
const NUMBERS = ["status", "duration", "user.id", "mixed", "tags", "big", "rare1", "method", "cached", "nothing", "id"];
const PREDICATES = [
  "",
  "",
  "",
  "level >= error",
  "status >= 500",
  "method = POST and duration > 5000",
  "path = /account/*",
  "not cached",
  "mixed = 5",
  "exists tags",
  "timeout",
  "level = warn or level = info",
];

/** Most of them are right; some name a column twice or a function of texts. */
export function randomPipeline(random: Random): string {
  const some = (most: number, from: readonly string[] = FIELDS) =>
    Array.from({ length: random.below(most + 1) }, () => random.pick(from));
  const by = (most: number) => {
    const fields = [...new Set(some(most))];
    return fields.length === 0 ? "" : ` by ${fields.join(", ")}`;
  };
  const call = () =>
    random.pick([
      () => "count()",
      () => `count(${random.pick(FIELDS)})`,
      () => `sum(${random.pick(NUMBERS)})`,
      () => `avg(${random.pick(NUMBERS)})`,
      () => `min(${random.pick(NUMBERS)})`,
      () => `max(${random.pick(NUMBERS)})`,
      () => `${random.pick(["p50", "p99", "p0", "p100", "p99.9", "p33.3"])}(${random.pick(NUMBERS)})`,
      () => `distinct(${random.pick(FIELDS)})`,
      () => `first(${random.pick(FIELDS)})`,
      () => `last(${random.pick(FIELDS)})`,
      () => "rate()",
    ])();
  const calls = (least: number) =>
    Array.from({ length: least + random.below(3) }, (_, at) => `${call()} as a${at}`).join(", ");
  const grouping = random.pick([
    () => ({ stage: `count${by(3)}`, columns: ["count"] }),
    () => ({ stage: `count by ${random.pick(["level", "timestamp"])}`, columns: ["level", "timestamp"] }),
    () => ({
      stage: `stats ${random.pick(["first", "last"])}(${random.pick(["timestamp", "level"])}) as a0, ${calls(1).replaceAll(" as a", " as b")}${by(2)}`,
      columns: ["a0"],
    }),
    () => ({ stage: `stats ${calls(1)}${by(2)}`, columns: ["a0"] }),
    () => ({
      stage: `top ${random.chance(0.5) ? `${1 + random.below(5)} ` : ""}${random.pick(FIELDS)}`,
      columns: ["count"],
    }),
    () => ({
      stage: `timeseries${random.pick(["", " 5m", " 1h", " 90s", " 30s"])}${random.chance(0.5) ? ` ${calls(1)}` : " count() as a0"}${by(1)}`,
      columns: ["time", "a0"],
    }),
    () => ({ stage: `unique ${random.pick(FIELDS)}, status | count by status`, columns: ["count"] }),
    () => ({
      stage: `sort ${random.pick([...FIELDS, "timestamp", "level"])}${random.pick(["", " desc", " asc"])}, ${random.pick(["duration", "status desc", "tags", "mixed desc", "timestamp desc", "level", "level desc"])}${random.pick(["", " | limit 5", ` | limit ${1 + random.below(30)}`])}`,
      columns: ["duration"],
    }),
    () => ({ stage: `limit ${1 + random.below(3000)} | stats ${calls(1)}${by(1)}`, columns: ["a0"] }),
    () => ({
      stage: `fields status, duration, ${random.pick(["path", "tags", "level"])} | limit 40`,
      columns: ["status"],
    }),
  ])();
  const column = random.pick(grouping.columns);
  const rest = random.pick([
    "",
    ` | where ${column} ${random.pick(["> 3h", '<= "2024-05-01T10:30:00.5Z"', ">= warn", "= warning", "< 220m"])}`,
    "",
    ` | limit ${1 + random.below(10)}`,
    ` | sort ${column} desc | limit ${1 + random.below(10)}`,
    ` | sort ${column}`,
    column === "time" ? "" : ` | where ${column} > ${random.below(100)}`,
    ` | count by ${column}`,
    ` | stats count(), max(${column}) as b`,
    ` | fields ${column}`,
    column === "time" ? "" : ` | where ${column} > ${random.below(20)} and ${column} != 30 | limit 5`,
  ]);
  const leading = random.chance(0.2) ? `| where ${random.pick(PREDICATES.filter(Boolean))} ` : "";
  return `${random.pick(PREDICATES)} ${leading}| ${grouping.stage}${rest}`;
}

/** Undefined if they are the same, but for the last digits of sums. */
export function differenceOf(expected: AggregateResult, actual: AggregateResult): string | undefined {
  const [names, own] = [expected, actual].map(({ columns }) => JSON.stringify(columns));
  if (names !== own) return `columns: ${names} but ${own}`;
  if (expected.isTruncated !== actual.isTruncated) return `truncated: ${expected.isTruncated}`;
  if (expected.rows.length !== actual.rows.length)
    return `${expected.rows.length} rows but ${actual.rows.length}\n${JSON.stringify(expected.rows.slice(0, 5))}\n${JSON.stringify(actual.rows.slice(0, 5))}`;
  for (const [at, row] of expected.rows.entries()) {
    const other = actual.rows[at]!;
    if (row.length !== other.length || !row.every((cell, n) => isSame(cell, other[n])))
      return `row ${at}: ${JSON.stringify(row)} but ${JSON.stringify(other)}`;
  }
  const [left, mine] = [expected, actual].map(({ notes }) => JSON.stringify([...notes.leftOut].sort()));
  return left === mine ? undefined : `left out: ${left} but ${mine}`;
}

function isSame(a: unknown, b: unknown): boolean {
  if (typeof a === "number" && typeof b === "number") return Math.abs(a - b) <= 1e-9 * Math.max(1e-300, Math.abs(a));
  return JSON.stringify(a) === JSON.stringify(b);
}
