// Which tables a statement may name: each row is judged, and what is accepted is run by an engine in which every other
// table holds a trap.
import { DuckDBInstance } from "@duckdb/node-api";
import t from "tap";
import { statementRefusal } from "../../../logservice/events/duckdb/sql/allowed.ts";
import { slow } from "../../support/slow.ts";
import { randomScopes } from "../../support/sql/random-scopes.ts";

const engine = await DuckDBInstance.create(":memory:", { threads: "1", autoload_known_extensions: "false" });
const connection = await engine.connect();
for (const name of ["a", "b", "c", "newest", "main.events", '"x.parquet"']) {
  await connection.run(`create table ${name} as select 'TRAP' as v`);
}
await connection.run("create temp table a as select 'TRAP' as v");
await connection.run("create temp view events as select * from (values ('one'), ('two')) t(v)");
t.teardown(() => connection.closeSync());

async function judge(sql: string): Promise<string | undefined> {
  const serialized = await connection.runAndReadAll("select json_serialize_sql($1::varchar)", [sql]);
  return statementRefusal(serialized.value(0, 0) as string);
}

async function run(sql: string): Promise<unknown[]> {
  return (await connection.runAndReadAll(sql)).getRowsJS().map((row) => (row.length === 1 ? row[0] : row));
}

const both = ["one", "two"];

const accepted: readonly (readonly [sql: string, rows: readonly unknown[]])[] = [
  // The view.
  ["from events", both],
  ["table events", both],
  ["select v from EVENTS", both],
  ['select v from "events"', both],
  ['select v from "Events" as e', both],
  ["select * from (from events)", both],
  ["select columns(*) from events", both],
  ["select v from events qualify row_number() over (order by v) = 1", ["one"]],
  ["select e.v from events e positional join events f", both],
  ["select v from events tablesample 100%", both],
  ["select e.v from events e, lateral (select e.v || '!' as w) l where w = 'one!'", ["one"]],
  ["select v from events where v in (select v from events) order by (select max(v) from events), v", both],
  ["select (select count(*)::int from events)", [2]],
  ["select 1 where exists (from events)", [1]],
  ["select v from events limit (select 1)", ["one"]],
  ["select array(select v from events order by v)", [both]],
  // No table.
  ["select 1", [1]],
  ["values (1), (2)", [1, 2]],
  ["from (values (1)) t(x)", [1]],
  ["from range(2) t(i) select i::int", [0, 1]],
  ["from range((select count(*) from events)) t(i) select i::int", [0, 1]],
  ["select [x + 1 for x in [1, 2] if x > 1]", [[3]]],
  ["select list_transform([1], lambda x: x + 1)", [[2]]],
  ["select unnest([1, 2])", [1, 2]],
  // One definition.
  ["with a as (select 1) from a", [1]],
  ["with a as (select 1) from A", [1]],
  ['with "A" as (select 1) from a', [1]],
  ['with "a b" as (select 1) from "A B"', [1]],
  ['with "x.parquet" as (select 1) from "x.parquet"', [1]],
  ["with \"x.parquet\" as (select 1) from 'x.parquet'", [1]],
  ['with "a.b" as (select 1) from "a.b"', [1]],
  ["with newest as (select 1) from newest", [1]],
  ["with pg_settings as (select 1) from pg_settings", [1]],
  ["with a as materialized (select 1) from a", [1]],
  ["with a as not materialized (select 1) from a", [1]],
  ["with a(x) as (select 1) select x from a", [1]],
  ["with a as (from events) from a", both],
  ["with a as (values (1)) from a x join a y on true select 1", [1]],
  // The view itself may be replaced.
  ["with events as (select 1) from events", [1]],
  ["with events as (from events where v = 'one') from events", ["one"]],
  ["with events as materialized (from events where v = 'one') from events", ["one"]],
  ["with a as (from events), events as (select 1) from a", both],
  // Several.
  ["with a as (select 1), b as (from a) from b", [1]],
  ["with a as (select 1), b as (from a), c as (from a, b) from c", [[1, 1]]],
  ["with a as (select 1), b as (with a as (select 2) from a) from a, b", [[1, 2]]],
  // Inside of each other: the outer names are known, the inner ones come first.
  ["with a as (select 1) from (with b as (from a) from b)", [1]],
  ["with a as (select 1) from (with a as (select 2) from a)", [2]],
  ["with a as (select 1) from (with a as (from a) from a)", [1]],
  ["with a as (with b as (select 1) from b) from a", [1]],
  ["with a as (select 1) select (with b as (select 2) select (from b) + (from a))", [3]],
  ["with a as (select 1) select 5 where exists (with b as (from a) from b)", [5]],
  ["with a as (select 1) select 5 in (with a as (select 5) from a)", [true]],
  ["select v from events e where v in (with a as (select e.v) from a)", both],
  ["with a as (select 1) from range((from a)) t(i) select i::int", [0]],
  ["with a as (select 1 as x) select x from a, lateral (with b as (select a.x as y) from b) where y = 1", [1]],
  // Set operations.
  ["with a as (select 1) from a union all from a", [1, 1]],
  ["with a as (select 1) (with b as (from a) from b) union all (with b as (select 2) from b)", [1, 2]],
  ["(with a as (select 1) from a) union all (with a as (select 2) from a)", [1, 2]],
  ["with a as (select 1 as x) from (from a union all select 2) order by (select max(x) from a) + x", [1, 2]],
  ["with a as (select 1) from a intersect from a except select 2", [1]],
  // Recursive.
  ["with recursive r(n) as (select 1 union all select n + 1 from r where n < 3) from r", [1, 2, 3]],
  ["with recursive r(n) as (select 1 union select n + 1 from R where n < 3) from r", [1, 2, 3]],
  ["with recursive r(n) as (select 1 union all select n + 1 from (from r) where n < 3) from r", [1, 2, 3]],
  ["with recursive a as (select 1) from a", [1]],
  [
    "with recursive events as (from events union select v || '!' from events where len(v) < 4) from events order by v",
    ["one", "one!", "two", "two!"],
  ],
  ["with recursive r(n) as (select 1 union all (with s as (from r) select n + 1 from s where n < 2)) from r", [1, 2]],
  ["with recursive r(n) as (select 1 union all select n + 1 from r where n < 2), s as (from r) from s", [1, 2]],
  [
    "with recursive r(k, n) using key (k) as (select 1, 1 union select k, n + 1 from r where n < 3) select n from r",
    [3],
  ],
];

const refused: readonly (readonly [sql: string, named: string])[] = [
  ["from a", '"a"'],
  ["from newest", '"newest"'],
  ["from pg_settings", '"pg_settings"'],
  ["from duckdb_settings", '"duckdb_settings"'],
  ["from duckdb_views", '"duckdb_views"'],
  ["from sqlite_master", '"sqlite_master"'],
  ["from information_schema.tables", '"information_schema"."tables"'],
  ["from pg_catalog.pg_settings", '"pg_catalog"."pg_settings"'],
  ["from duckdb_settings()", "duckdb_settings"],
  ["from pragma_version()", "pragma_version"],
  ["from pragma_storage_info('events')", "pragma_storage_info"],
  // Qualified names are none of WITH, and not the view's.
  ["from main.events", '"main"."events"'],
  ["from temp.events", '"temp"."events"'],
  ["from temp.main.events", '"temp"."main"."events"'],
  ['from "main"."events"', '"main"."events"'],
  ['from "events".a', '"events"."a"'],
  ["from memory.main.a", '"memory"."main"."a"'],
  ["with a as (select 1) from main.a", '"main"."a"'],
  ["with a as (select 1) from memory.a", '"memory"."a"'],
  ["with a as (select 1) from temp.main.a", '"temp"."main"."a"'],
  ['with "main.a" as (select 1) from main.a', '"main"."a"'],
  ["with recursive r(k) using key (k) as (select 1 union select k from recurring.r) from r", '"recurring"."r"'],
  ["with a as (select 1) from a at (version => 1)", '"a"'],
  // A later definition.
  ["with a as (select * from pg_settings), pg_settings as (select 1) select * from a", '"pg_settings"'],
  ["with a as (from b), b as (select 1) from a", '"b"'],
  ["with a as (from b), b as (select 1) from b", '"b"'],
  ["with recursive a as (from b), b as (select 1) from a", '"b"'],
  ["with a as (with x as (from b) from x), b as (select 1) from a", '"b"'],
  ["with a as (select (from b)), b as (select 1) from a", '"b"'],
  ["with a as materialized (from b), b as (select 1) from a", '"b"'],
  ["with recursive r(v) as (select '' union select b.v from r, b), b as (select 1) from r", '"b"'],
  ["from (with a as (from b) from a), (with b as (select 1) from b)", '"b"'],
  // Its own definition.
  ["with a as (from a) from a", '"a"'],
  ["with recursive a as (from a) from a", '"a"'],
  ["with a as (select 1 union all from a) from a", '"a"'],
  ["with recursive a as (from a union all select 1) from a", '"a"'],
  ["with recursive a as (from a union all from a) from a", '"a"'],
  ["with newest as (from newest) from newest", '"newest"'],
  ["with a as (with a as (from a) from a) from a", '"a"'],
  // Outside of where it is known.
  ["from (with a as (select 1) from a), a", '"a"'],
  ["from (with a as (select 1) from a) union all from a", '"a"'],
  ["(with a as (select 1) from a) union all from a", '"a"'],
  ["from a union all (with a as (select 1) from a)", '"a"'],
  ["select (with a as (select 1) from a), (from a)", '"a"'],
  ["select (with a as (select 1) from a) from a", '"a"'],
  ["with b as (with a as (select 1) from a) from a", '"a"'],
  ["with b as (with a as (select 1) from a), c as (from a) from c", '"a"'],
  ["select v from events where exists (with a as (select 1) from a) and v in (from a)", '"a"'],
  ["with recursive r(n) as (select 1 union all (with a as (from r) from a)), s as (from a) from s", '"a"'],
  // Names that differ: the engine folds ASCII only.
  ['with "duc\u212adb_settings" as (select 1) from duckdb_settings', '"duckdb_settings"'],
  ['with "new\u017fettings" as (select 1) from newsettings', '"newsettings"'],
  ['with "a " as (select 1) from a', '"a"'],
  // Wherever a query may be.
  ["select (from a)", '"a"'],
  ["select array(from a)", '"a"'],
  ["select * from events where v = any (from a)", '"a"'],
  ["select v from events group by v having v in (from a)", '"a"'],
  ["select v from events qualify v in (from a)", '"a"'],
  ["select v from events order by (from a)", '"a"'],
  ["select v from events limit (from a)", '"a"'],
  ["select distinct on ((from a)) v from events", '"a"'],
  ["select sum(1) filter (where 1 in (from a)) from events", '"a"'],
  ["select row_number() over (partition by (from a)) from events", '"a"'],
  ["select case when true then (from a) end", '"a"'],
  ["select (from a)::varchar", '"a"'],
  ["select [(from a)]", '"a"'],
  ["select {'x': (from a)}", '"a"'],
  ["select list_transform([1], lambda x: (from a))", '"a"'],
  ["select [(from a) for x in [1]]", '"a"'],
  ["select 1 between 0 and (from a)", '"a"'],
  ["values ((from a))", '"a"'],
  ["from range((from a))", '"a"'],
  ["from unnest((from a))", '"a"'],
  ["from events, a", '"a"'],
  ["from events join a using (v)", '"a"'],
  ["from events e join events f on e.v = (from a)", '"a"'],
  ["from events asof join a using (v)", '"a"'],
  ["from events positional join a", '"a"'],
  ["from events, lateral (from a)", '"a"'],
  ["from events semi join a using (v)", '"a"'],
  // Files and other queries.
  ["from 'x.parquet'", '"x.parquet"'],
  ['from "/etc/passwd"', '"/etc/passwd"'],
  [`from "/etc/passwd".a`, '"/etc/passwd"."a"'],
  ["from query('from a')", "query"],
  ["from query_table('a')", "query_table"],
  ["from query_table(['events'])", "query_table"],
  ["from (from read_text('/etc/passwd'))", "read_text"],
  ["from histogram('a', 'v')", "histogram"],
  ["from (unpivot events on v)", "PIVOT"],
  ["from events pivot (count(*) for v in ('one'))", "PIVOT"],
  ["from (describe a)", "SHOW or DESCRIBE"],
  ["select (from (show tables))", "SHOW or DESCRIBE"],
  // Functions that tell of the engine.
  ["select pg_get_viewdef(1)", "pg_get_viewdef"],
  ["select system.pg_catalog.PG_GET_VIEWDEF(1)", "pg_get_viewdef"],
  ["select json_serialize_plan('from a')", "json_serialize_plan"],
  ["select v from events order by getvariable('x')", "getvariable"],
  ["select max(current_setting('threads')) over ()", "current_setting"],
  // The first in the order of the statement.
  ["with x as (from b) select (from c) from a", '"b"'],
  ["select (from c) from a where v in (from b)", '"c"'],
  ["from a union all from b order by (from c)", '"a"'],
];

t.test("an accepted statement runs and reads no other table", async (t) => {
  for (const [sql, rows] of accepted) {
    t.equal(await judge(sql), undefined, sql);
    t.strictSame(await run(sql).catch(String), rows, sql);
  }
});

t.test("a refusal names what may not be read", async (t) => {
  for (const [sql, named] of refused) {
    const reason = (await judge(sql)) ?? "accepted";
    t.ok(
      reason.startsWith(`reads ${named}: `) || new RegExp(`^(calls|has) ${named}, `).test(reason),
      `${sql}: ${reason}`,
    );
  }
});

t.test("macros that read tables are refused", async (t) => {
  const macros = await run(
    "select distinct function_name from duckdb_functions() where function_type = 'macro' and macro_definition ilike '%from %'",
  );
  t.ok(macros.length >= 4, `${macros.length} of them`);
  for (const name of macros) t.match(await judge(`select "${name}"(1)`), /^calls .* not allowed/, String(name));
});

const count = Number(process.env.FUZZ_COUNT ?? 300);
const seed = Number(process.env.FUZZ_SEED ?? 1);

t.test(`no scope lets a trap through (${count} statements, seed ${seed})`, slow(), async (t) => {
  let [answered, refusals] = [0, 0];
  for (const sql of randomScopes(count, seed)) {
    if ((await judge(sql)) !== undefined) {
      refusals++;
      continue;
    }
    const rows = await run(sql).catch(() => undefined);
    if (rows === undefined) continue;
    answered++;
    if (JSON.stringify(rows).includes("TRAP")) t.fail(sql);
  }
  t.ok(answered > count * 0.1 && refusals > count * 0.1, `${answered} answered, ${refusals} refused`);
  t.comment(`${answered} answered, ${refusals} refused`);
});
