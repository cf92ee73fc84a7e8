import { LEVELS, levelOf, type Target } from "../../../../grammar/query/index.ts";
import { SQL_FALSE, type Sql, type SqlValue } from "../../../../grammar/query/sql/condition.ts";
import { eachElement, fieldValueOf } from "../../field-paths.ts";
import { compareText } from "../../order.ts";
import { tooMuch } from "../../store.ts";
import { type Fields, fieldsOfLevels, minutesOfLevels, type Summary } from "../../summary/summary.ts";
import { accumulate, type SelectStatement } from "./aggregate.ts";
import { ofField, pathKey } from "./field-values.ts";
import type { QueryContext } from "./query-context.ts";

export interface TopValue {
  /** A truth as `true` or `false`. */
  readonly value: string;
  /** Events that hold it. */
  readonly count: number;
  /** Their share of the events that hold any. */
  readonly percent: number;
}

/**
 * The most frequent values of a field, then by their UTF-8 bytes. They are counted and cut by the engine: the different
 * values of all segments may be more than memory has room for.
 */
export interface TopValuesQuestion {
  readonly field: Target;
  readonly type: "string" | "boolean";
  readonly limit: number;
}

export async function topValues(context: QueryContext, { field, type, limit }: TopValuesQuestion): Promise<TopValue[]> {
  const tally: Tally = { counts: new Map(), length: 0, holding: 0 };
  const isLevel = field.at === "entry" && field.name === "level";
  if (field.at === "entry" && type === "boolean") return [];
  const key = pathKey(field);
  const statements = await accumulate(context, {
    summary: (summary, levels) =>
      isLevel
        ? addLevels(tally, minutesOfLevels(summary, levels))
        : addField(tally, fieldsOfLevels(summary, levels), key, type),
    sql: (segment) =>
      isLevel
        ? grouped(LEVEL_NAME, [], SQL_FALSE)
        : ofField(field, segment, type, (value, list) => grouped(value.text, value.values, list)),
    event: ({ event }) => {
      const here = new Set<string>();
      eachElement(fieldValueOf(event, field), (element) => {
        if (typeof element === type) here.add(isLevel ? levelOf(element as string)! : String(element));
      });
      for (const value of here) add(tally, value, 1);
      if (here.size > 0) tally.holding++;
    },
  });
  if (statements.length === 0 && tally.counts.size <= MOST_SORTED) return sorted(tally, limit);
  return cutByEngine(context, statements, tally, limit);
}

// Sorting more in the service would stop it for longer than a few milliseconds.
const MOST_SORTED = 5000;

/** Counts that need no engine. */
interface Tally {
  readonly counts: Map<string, number>;
  /** Total length of the values in characters. */
  length: number;
  holding: number;
}

function add(tally: Tally, value: string, events: number): void {
  const before = tally.counts.get(value);
  tally.counts.set(value, (before ?? 0) + events);
  if (before !== undefined) return;
  tally.length += value.length;
  if (tally.length > MOST_KNOWN_LENGTH) throw tooMuch();
}

// A value may be nearly as long as an event.
const MOST_KNOWN_LENGTH = 256 * 1024 * 1024;

function addLevels(tally: Tally, minutes: Summary["minutes"]): true {
  for (const levels of minutes.values()) {
    levels.forEach((events, level) => {
      if (events === 0) return;
      add(tally, LEVELS[level]!, events);
      tally.holding += events;
    });
  }
  return true;
}

function addField(
  tally: Tally,
  levels: readonly Fields[] | undefined,
  key: string | undefined,
  type: "string" | "boolean",
): boolean {
  if (levels === undefined || key === undefined) return false;
  const fields = levels.flatMap((level) => level.get(key) ?? []).filter((field) => field[type] > 0);
  if (!fields.every(({ values }) => values !== undefined)) return false;
  for (const field of fields) {
    for (const [value, events] of field.values!) if (typeof value === type) add(tally, String(value), events);
    tally.holding += field[type];
  }
  return true;
}

const grouped = (value: string, before: readonly SqlValue[], except: Sql) => ({
  text: `value::varchar as value, count(*) as n from (select ${value} as value %) where value is not null group by value`,
  before,
  except,
});

const LEVEL_NAME = `['${LEVELS.join("', '")}'][severity + 1]`;

function sorted({ counts, holding }: Tally, limit: number): TopValue[] {
  return [...counts]
    .sort(([a, m], [b, n]) => n - m || compareText(a, b))
    .slice(0, limit)
    .map(([value, count]) => ({ value, count, percent: count / holding }));
}

/** Joins the known counts, as one bound text of JSON, with what the statements count. DuckDB orders texts by bytes. */
async function cutByEngine(
  { pool, signal }: QueryContext,
  statements: readonly SelectStatement[],
  { counts, holding }: Tally,
  limit: number,
): Promise<TopValue[]> {
  const parts = [...statements];
  let bound = 0;
  if (counts.size > 0) {
    const columns = { value: [...counts.keys()], n: [...counts.values()] };
    parts.push({ text: KNOWN_COUNTS, values: [JSON.stringify(columns)] });
    for (const events of counts.values()) bound += events;
  }
  const [only] = parts;
  const joined =
    parts.length === 1
      ? only!.text
      : `select value, sum(n) as n from (${parts.map(({ text }) => `(${text})`).join(" union all ")}) group by value`;
  const rows: { value: string; count: number; all: number }[] = [];
  await pool.run(
    `select value, n::double, (sum(n) over ())::double from (${joined}) order by n desc, value limit ${limit}`,
    parts.flatMap(({ values }) => values),
    signal,
    ([values, totals, alls]) => {
      values!.forEach((value, i) => {
        rows.push({ value: value as string, count: totals![i] as number, all: alls![i] as number });
      });
    },
  );
  // An event that holds several of the known values was counted for each of them.
  return rows.map(({ value, count, all }) => ({ value, count, percent: count / (all - bound + holding) }));
}

const KNOWN_COUNTS = `select unnest(known.value) as value, unnest(known.n) as n
  from (select from_json(?, '{"value":["VARCHAR"],"n":["UBIGINT"]}') as known)`;
