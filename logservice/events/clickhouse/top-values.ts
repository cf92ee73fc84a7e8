import { LEVELS, levelOf, type Target } from "../../../grammar/query/index.ts";
import { SQL_FALSE, type Sql, sql } from "../../../grammar/query/sql/condition.ts";
import { eachElement, fieldValueOf } from "../field-paths.ts";
import { compareText } from "../order.ts";
import { tooMuch } from "../store.ts";
import { fieldSql } from "./field-sql.ts";
import { sqlLiteral } from "./literal.ts";
import { divide, eachEvent, type Reading, selectAll } from "./reading.ts";
import { EVENTS_TABLE } from "./schema.ts";

interface TopValuesQuestion {
  readonly field: Target;
  readonly type: "string" | "boolean";
  readonly limit: number;
}

interface TopValue {
  /** A truth as `true` or `false`. */
  readonly value: string;
  /** Events that hold it. */
  readonly count: number;
  /** Their share of the events that hold any. */
  readonly percent: number;
}

/** The most frequent values of a field, then by their UTF-8 bytes. ClickHouse counts and cuts those of single values. */
export async function topValuesOf(reading: Reading, { field, type, limit }: TopValuesQuestion): Promise<TopValue[]> {
  if (field.at === "entry" && type === "boolean") return [];
  const isLevel = field.at === "entry" && field.name === "level";
  const ofSql = valueSql(field, type);
  const { counted, others } = divide(
    { ...reading, readsFields: reading.readsFields || field.at === "fields" },
    ofSql?.except,
  );
  const counts = new Map<string, number>();
  let [holding, length] = [0, 0];
  // Values of a list: an event has several.
  const remaining = ofSql === undefined ? (others === undefined ? counted : `(${counted} or ${others})`) : others;
  if (remaining !== undefined) {
    await eachEvent(reading, remaining, (event) => {
      const here = new Set<string>();
      eachElement(fieldValueOf(event, field), (element) => {
        if (typeof element === type) here.add(isLevel ? levelOf(element as string)! : String(element));
      });
      for (const value of here) {
        const before = counts.get(value);
        if (before === undefined) length += value.length;
        if (length > MOST_LENGTH) throw tooMuch();
        counts.set(value, (before ?? 0) + 1);
      }
      if (here.size > 0) holding++;
    });
  }
  if (ofSql !== undefined) {
    const ranked = counts.size === 0 ? "" : `value in (${[...counts.keys()].map(sqlLiteral).join(", ")}) DESC, `;
    // Those that were counted here, and as many others as may be among the most frequent ones.
    const rows = await selectAll(
      reading,
      `SELECT value, toFloat64(events), toFloat64(sum(events) OVER ()) FROM (
  SELECT ${ofSql.value} AS value, count() AS events FROM ${EVENTS_TABLE} WHERE ${counted} and ${ofSql.isThere} GROUP BY value
) ORDER BY ${ranked}events DESC, value LIMIT ${counts.size + limit}`,
    );
    for (const [value, events] of rows as [string, number][]) counts.set(value, (counts.get(value) ?? 0) + events);
    holding += (rows[0]?.[2] ?? 0) as number;
  }
  return [...counts]
    .sort(([a, m], [b, n]) => n - m || compareText(a, b))
    .slice(0, limit)
    .map(([value, count]) => ({ value, count, percent: count / holding }));
}

// A value may be nearly as long as an event.
const MOST_LENGTH = 16 * 1024 * 1024;

interface ValueSql {
  readonly value: string;
  readonly isThere: string;
  /** Events with several values. */
  readonly except: Sql;
}

/** Undefined where SQL cannot tell: few events have a time as text, all others have it made of nanoseconds. */
function valueSql(field: Target, type: "string" | "boolean"): ValueSql | undefined {
  if (field.at === "entry") {
    if (field.name === "timestamp") return undefined;
    const value = field.name === "level" ? `['${LEVELS.join("', '")}'][severity + 1]` : field.name;
    return { value, isThere: "true", except: SQL_FALSE };
  }
  const json = fieldSql(field.path);
  if (json === undefined) return undefined;
  const { raw, isText, text, isList } = json;
  const except = sql(isList);
  if (type === "string") return { value: text, isThere: isText, except };
  return { value: raw, isThere: `${raw} in ('true', 'false')`, except };
}
