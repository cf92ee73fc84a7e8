// How values of SQL are printed: each row is an expression and the JSON text of its value, to the letter.
import { mkdtempSync } from "node:fs";
import { rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import t from "tap";
import { openEventsStore } from "../../../logservice/events/open.ts";

const directory = mkdtempSync(join(tmpdir(), "sql-values-"));
const store = await openEventsStore({ directory, reserveBytes: 0 });
t.teardown(async () => {
  await store.close();
  await rm(directory, { recursive: true });
});
const never = new AbortController().signal;
const rowsOf = async (sql: string) => (await store.sql({ project: "app", text: sql, signal: never })).resultsJson;

const FIELDS = `{"__proto__":{"a":1},"id":12345678901234567890,"x":"1.50","n":1.5,"none":null}`;
await store.append("app", [
  {
    id: "one",
    timestamp: "2026-11-22T08:49:21.908Z",
    level: "info",
    message: "first",
    fields: JSON.parse(FIELDS),
    fieldsJson: FIELDS,
  },
]);

const values: readonly (readonly [sql: string, json: string])[] = [
  // Integers: numbers up to 2^53, then texts.
  ["count(*) from events", "1"],
  ["sum(i) from range(5) t(i)", "10"],
  ["(-128)::tinyint", "-128"],
  ["4294967295::uinteger", "4294967295"],
  ["9007199254740992::bigint", "9007199254740992"],
  ["9007199254740993::bigint", '"9007199254740993"'],
  ["-9007199254740992::bigint", "-9007199254740992"],
  ["-9007199254740993::bigint", '"-9007199254740993"'],
  ["18446744073709551615::ubigint", '"18446744073709551615"'],
  ["7::ubigint", "7"],
  ["7::hugeint", "7"],
  ["170141183460469231731687303715884105727::hugeint", '"170141183460469231731687303715884105727"'],
  ["7::uhugeint", "7"],
  ["7::bignum", "7"],
  ["(repeat('9', 40))::bignum", `"${"9".repeat(40)}"`],
  // Other numbers.
  ["0.5::double", "0.5"],
  ["1e300::double", "1e+300"],
  ["1::double", "1"],
  ["avg(i) from range(4) t(i)", "1.5"],
  ["1e400", '"Infinity"'],
  ["-1e400", '"-Infinity"'],
  ["[1e400, 2]", '["Infinity",2]'],
  ["'1e400 Infinity'", '"1e400 Infinity"'],
  ["'nan'::double", '"NaN"'],
  ["'inf'::double", '"Infinity"'],
  ["'-inf'::float", '"-Infinity"'],
  ["1.50", "1.50"],
  ["-0.05", "-0.05"],
  ["sum(x) from (values (0.1), (0.2)) t(x)", "0.3"],
  ["999999999999.999", "999999999999.999"],
  ["1000000000000.000", '"1000000000000.000"'],
  ["-12345678901234567.89", '"-12345678901234567.89"'],
  // Times: UTC, with as many digits as there are.
  ["timestamp from events", '"2026-11-22T08:49:21.908Z"'],
  ["date_trunc('minute', timestamp) from events", '"2026-11-22T08:49:00Z"'],
  ["timestamp '2026-11-22 08:49:21.000001'", '"2026-11-22T08:49:21.000001Z"'],
  ["timestamp '1969-12-31 23:59:59.5'", '"1969-12-31T23:59:59.5Z"'],
  ["timestamp '1600-02-29 00:00:00.25'", '"1600-02-29T00:00:00.25Z"'],
  ["timestamptz '2026-11-22 08:49:21.5+02'", '"2026-11-22T06:49:21.5Z"'],
  ["timestamp_ns '2026-11-22 08:49:21.000000001'", '"2026-11-22T08:49:21.000000001Z"'],
  ["timestamp_ms '2026-11-22 08:49:21.5'", '"2026-11-22T08:49:21.5Z"'],
  ["timestamp_s '2026-11-22 08:49:21'", '"2026-11-22T08:49:21Z"'],
  ["timestamp '0001-01-01'", '"0001-01-01T00:00:00Z"'],
  ["timestamp '9999-12-31 23:59:59.999999'", '"9999-12-31T23:59:59.999999Z"'],
  ["timestamp '12345-01-01'", '"12345-01-01 00:00:00"'],
  ["timestamp 'infinity'", '"infinity"'],
  ["timestamp_ns '-infinity'", '"-infinity"'],
  ["timestamp::date from events", '"2026-11-22"'],
  ["date '0900-01-02'", '"0900-01-02"'],
  ["date '12345-01-02'", '"12345-01-02"'],
  ["date 'infinity'", '"infinity"'],
  ["time '08:49:21.5'", '"08:49:21.5"'],
  ["timetz '08:49:21+02'", '"08:49:21+02"'],
  ["interval '1 month 2 days 3.5 seconds'", '"1 month 2 days 00:00:03.5"'],
  // Texts.
  ["'a\"\u00e9\n'", '"a\\"\u00e9\\n"'],
  ["'x'::enum('x', 'y')", '"x"'],
  ["'00000000-0000-0000-0000-000000000001'::uuid", '"00000000-0000-0000-0000-000000000001"'],
  ["'a\\x00b'::blob", '"a\\\\x00b"'],
  ["'0101'::bit", '"0101"'],
  ["true", "true"],
  ["null", "null"],
  ["null::timestamp", "null"],
  // JSON, as it is written.
  ["fields from events", FIELDS],
  ["fields->'id' from events", "12345678901234567890"],
  ["fields->'none' from events", "null"],
  ["fields->'missing' from events", "null"],
  ["fields->>'x' from events", '"1.50"'],
  ["fields::varchar from events", JSON.stringify(FIELDS)],
  ["'{\"a\":  [1e400]}'::json", '{"a":  [1e400]}'],
  ["'\"x\"'::json", '"x"'],
  ["'{\"a\":NaN}'::json", '"{\\"a\\":NaN}"'],
  ["'[1,]'::json", '"[1,]"'],
  ["json_object('n', 18446744073709551615)", '{"n":18446744073709551615}'],
  // Within each other.
  ["[1, null, 9007199254740993]", '[1,null,"9007199254740993"]'],
  ["[]::integer[]", "[]"],
  ["[1, 2]::integer[2]", "[1,2]"],
  ["[fields->'n'] from events", "[1.5]"],
  ["{'j': fields->'id', 't': [timestamp]} from events", '{"j":12345678901234567890,"t":["2026-11-22T08:49:21.908Z"]}'],
  ["map {'j': fields->'n'} from events", '[{"key":"j","value":1.5}]'],
  ["union_value(j := fields->'n') from events", '{"tag":"j","value":1.5}'],
  ["{'a': null, 'b': {'c': []}}", '{"a":null,"b":{"c":[]}}'],
  ["null::struct(a integer)", "null"],
  ["struct_pack(\"__proto__\" := {'a': 1}, b := 2)", '{"__proto__":{"a":1},"b":2}'],
  ["row(1, 'x')", '[1,"x"]'],
  ["[row(1, row(null))]", "[[1,[null]]]"],
  ["map {'a': row(1, 2)}", '[{"key":"a","value":[1,2]}]'],
  ["[row(1, 2)]::struct(a integer, b integer)[1]", '[{"a":1,"b":2}]'],
  ["map {'__proto__': 1}", '[{"key":"__proto__","value":1}]'],
  ["(fields->'__proto__')::variant from events", '{"a":1}'],
  ['\'{"__proto__":{"a":1},"b":[1,"x",null]}\'::json::variant', '{"__proto__":{"a":1},"b":[1,"x",null]}'],
  ["{'t': timestamp '2026-11-22'}::variant", '{"t":"2026-11-22T00:00:00Z"}'],
];

t.test("a value as JSON", async (t) => {
  // All in one statement: each takes a process.
  const text = await rowsOf(`select ${values.map(([sql], i) => `(select ${sql}) as "<${i}>"`).join(", ")}`);
  for (const [i, [sql, json]] of values.entries()) {
    const begin = text.indexOf(`"<${i}>":`) + `"<${i}>":`.length;
    const next = text.indexOf(`,"<${i + 1}>":`, begin);
    t.equal(text.slice(begin, next < 0 ? -"}]".length : next), json, sql);
  }
});

const columns: readonly (readonly [sql: string, json: string])[] = [
  ["select 1 as x, 2 as x, 3 as x", '[{"x":1,"x:1":2,"x:2":3}]'],
  ['select 1 as x, 2 as x, 3 as "x:1"', '[{"x":1,"x:2":2,"x:1":3}]'],
  ["select 1 as x, 2 as X", '[{"x":1,"X":2}]'],
  ['select 1 as "__proto__", 2 as "constructor", 3 as "a""b"', '[{"__proto__":1,"constructor":2,"a\\"b":3}]'],
  ["select a.id, b.id from events a, events b", '[{"id":"one","id:1":"one"}]'],
  ["select 1 as x where false", "[]"],
  ["select i from range(3) t(i)", '[{"i":0},{"i":1},{"i":2}]'],
];

t.test("columns and rows", async (t) => {
  for (const [sql, json] of columns) t.equal(await rowsOf(sql).catch(String), json, sql);
});
