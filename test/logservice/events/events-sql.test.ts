// Queries as SQL: the conditions of DuckDB select at least what the predicate does.
import t from "tap";
import { parseQuery } from "../../../grammar/query/index.ts";
import { querySql } from "../../../grammar/query/sql/query-sql.ts";
import { parseTimestamp } from "../../../grammar/query/timestamp.ts";
import { firstNanosecond, millisecondsOf, nanosecondsOf } from "../../../logservice/events/instant.ts";
import { compareSql } from "../../support/events/sql-fuzz.ts";
import { randomOf } from "../../support/random.ts";
import { slow } from "../../support/slow.ts";

const columns = {
  id: "id",
  typeOf: (path: readonly (string | number)[]) =>
    (({ status: "number", method: "string", ok: "boolean", gone: "absent", large: "unread" }) as const)[
      String(path[0])
    ],
};

const rows: readonly {
  readonly query: string;
  readonly upper: string;
  readonly lower?: string;
  readonly values?: readonly unknown[];
}[] = [
  { query: "", upper: "true" },
  { query: "error", upper: "(severity in (4))" },
  {
    query: "level >= error and level != error",
    upper: "((severity in (4, 5, 6, 7)) and (severity in (0, 1, 2, 3, 5, 6, 7)))",
  },
  { query: "status >= 500", upper: 'coalesce("number:status" >= ?::double, false)', values: [500] },
  { query: "status = -0", upper: 'coalesce("number:status" = ?::double, false)', values: [0] },
  { query: "not status = 5", upper: '(not coalesce("number:status" = ?::double, false))', values: [5] },
  { query: "method = 5", upper: 'coalesce("string:method" = ?, false)', values: ["5"] },
  { query: "method > 5", upper: "false" },
  { query: "ok", upper: 'coalesce("boolean:ok", false)' },
  { query: 'method = "P*"', upper: 'coalesce(starts_with("string:method", ?), false)', values: ["P"] },
  {
    query: 'method = "a*%_*z"',
    upper: "coalesce(\"string:method\" like ? escape '\\', false)",
    values: ["a%\\%\\_%z"],
  },
  { query: '"*x*"', upper: "coalesce(contains(message, ?), false)", values: ["x"] },
  { query: '"\\ud83d"', upper: "true", lower: "false" },
  { query: "timestamp = x", upper: "true", lower: "false" },
  { query: 'timestamp > "2024-05-01T10:00:00Z"', upper: "(t >= ?::bigint)", values: [1714557600000000123n] },
  { query: "gone = 5 or gone != 5 or gone.at[0] ~ /x/ or exists gone", upper: "false" },
  { query: "not gone", upper: "true" },
  {
    query: "large = 5 and method = GET",
    upper: 'coalesce("string:method" = ?, false)',
    lower: "false",
    values: ["GET"],
  },
  { query: "exists other", upper: "(json_extract(fields, ?) is not null)", values: ['$."other"'] },
  { query: 'exists fields["a*b"]', upper: "true", lower: "false" },
];

t.test("conditions and their values", async (t) => {
  for (const { query, upper, lower = upper, values = [] } of rows) {
    const parsed = parseQuery(query);
    if (!parsed.ok) throw new Error(`${query}: ${parsed.problems[0]?.message}`);
    const said = querySql(parsed.value, { nowMs: 0, columns, firstInstant: firstNanosecond });
    t.strictSame([said.upper.text, said.lower.text, said.upper.values], [upper, lower, values], query || "everything");
    t.equal((said.upper.text.match(/\?/g) ?? []).length, said.upper.values.length, `${query}: a value for each mark`);
    // Row groups are left out by bits, in which it is another number.
    t.notOk(
      said.upper.values.some((value) => Object.is(value, -0)),
      `${query}: no negative zero`,
    );
  }
});

t.test("the first nanosecond of a time is where the predicate's milliseconds pass it", async (t) => {
  const random = randomOf(1);
  for (let i = 0; i < 2000; i++) {
    const ms = random.pick([0, 1714557600000, -1e12, 4e12]) + random.below(1000) / random.pick([1, 8, 1000, 7]);
    const at = firstNanosecond(ms, "at-least");
    const above = firstNanosecond(ms, "above");
    const isRight =
      millisecondsOf(at) >= ms &&
      millisecondsOf(at - 1n) < ms &&
      millisecondsOf(above) > ms &&
      millisecondsOf(above - 1n) <= ms;
    if (!isRight) t.fail(`${ms} ${at} ${above}`);
  }
  for (const text of [
    "1969-12-31T23:59:59.999999999Z",
    "2024-05-01T12:00:00.1+02:00",
    "2016-12-31T23:59:60.5Z",
    "1700-01-01T00:00:00Z",
  ]) {
    t.equal(millisecondsOf(BigInt(nanosecondsOf(text))), parseTimestamp(text), text);
  }
});

t.test("rows are selected by plain comparisons where nothing negates them", async (t) => {
  for (const [query, where] of [
    ["status = 5ms and method = GET", '(("number:status" = ?::double) and ("string:method" = ?))'],
    ["not method = GET", '(not coalesce("string:method" = ?, false))'],
  ] as const) {
    const parsed = parseQuery(query);
    if (!parsed.ok) throw new Error(query);
    const { upper } = querySql(parsed.value, { nowMs: 0, columns, firstInstant: firstNanosecond });
    t.equal(upper.where, where, query);
  }
});

const count = Number(process.env.FUZZ_COUNT ?? 300);
const seed = Number(process.env.FUZZ_SEED ?? 1);

t.test(`SQL and the predicate agree (${count} queries, seed ${seed})`, slow(), async (t) => {
  const { queries, pairs, selected, exact, columns, wrong } = await compareSql(count, seed);
  t.strictSame(wrong.slice(0, 5).map(ascii), []);
  // Else nothing was tested.
  t.ok(
    selected > pairs * 0.1 && exact > queries * 0.2 && columns > queries * 0.3,
    `${pairs} ${selected} ${exact} ${columns}`,
  );
  t.comment(`${queries} queries, ${pairs} pairs, ${selected} selected, ${exact} exact, ${columns} columns`);
});

const ascii = (text: string) =>
  text.replace(/[^ -~]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`);
