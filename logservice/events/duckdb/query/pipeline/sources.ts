// How SQL reads what stages name, of the events of a segment.
import type { Target } from "../../../../../grammar/query/index.ts";
import { type ColumnType, jsonPath, sqlColumnOf } from "../../../../../grammar/query/sql/columns.ts";
import { eitherSql, SQL_FALSE, type Sql, sql } from "../../../../../grammar/query/sql/condition.ts";
import { allFields, hasInside } from "../../../summary/summary.ts";
import type { Segment } from "../../segment.ts";
import { ID } from "../../segment-schema.ts";
import { pathKey } from "../field-values.ts";
import { segmentColumns } from "../query-context.ts";
import type { AggregateInput, GroupPlan } from "./plan.ts";

/**
 * An expression over the columns of a segment and those that `jsons` adds, NULL where the value is missing or null.
 * `absent`: no event has one. `json`: JSON text as it was written.
 */
export interface ColumnSource {
  readonly type: ColumnType | "level" | "absent" | "json";
  readonly text: string;
}

/** How the events of a segment are read: plain data, the same for segments of which the same is asked. */
export interface SegmentSources {
  /** Paths for DuckDB's JSON functions, of the columns j0, j1, ... */
  readonly jsons: readonly string[];
  readonly by: readonly ColumnSource[];
  readonly inputs: readonly ColumnSource[];
}

/**
 * The sources that SQL reads, and the condition of the events for which it would read them wrong. Undefined if all
 * events have to be looked at.
 */
export function sourcesOf(
  segment: Segment,
  { by, inputs }: Pick<GroupPlan, "inputs"> & { readonly by: readonly Target[] },
): { readonly reading: SegmentSources; readonly except: Sql } | undefined {
  const jsons: string[] = [];
  const except: Sql[] = [];
  const read = (place: Target, use: AggregateInput["use"] | "group"): ColumnSource | undefined => {
    const source = sourceOf(segment, place);
    if (source?.type !== "json") return source;
    const path = source.text;
    // Lists are groups each of their own elements; objects have no canonical text in SQL.
    const isSpecial = use === "group" || use === "key" ? "[{" : use === "number" ? "[" : "";
    if (isSpecial !== "" && mayBeSpecial(segment, place)) {
      const begins = [...isSpecial].map((sign) => `starts_with(json_extract(fields, ?)::varchar, '${sign}')`);
      except.push(sql(`coalesce(${begins.join(" or ")}, false)`, ...begins.map(() => path)));
    }
    const index = jsons.indexOf(path);
    return { type: "json", text: `nullif(j${index >= 0 ? index : jsons.push(path) - 1}, 'null')` };
  };
  const groups = by.map((place) => read(place, "group"));
  const values = inputs.map(({ target, use }) => read(target, use));
  if (![...groups, ...values].every((source) => source !== undefined)) return undefined;
  return {
    reading: { jsons, by: groups as ColumnSource[], inputs: values as ColumnSource[] },
    except: except.length === 0 ? SQL_FALSE : eitherSql(except),
  };
}

/** Few events store a time as text. All others are written as Date does. */
const TIMESTAMP = "coalesce(timestamp, strftime(make_timestamp(t // 1000), '%Y-%m-%dT%H:%M:%S.%gZ'))";

/** A source; in place of the text of JSON its path. Undefined where SQL cannot or must not read it. */
function sourceOf(segment: Segment, place: Target): ColumnSource | undefined {
  if (place.at === "entry") {
    switch (place.name) {
      case "level":
        return { type: "level", text: "severity" };
      case "message":
        return { type: "string", text: "message" };
      case "id":
        return { type: "string", text: ID };
      case "timestamp":
        return { type: "string", text: TIMESTAMP };
    }
  }
  const type = segmentColumns(segment).typeOf(place.path);
  if (type === "absent") return { type, text: "null" };
  if (type === "unread") return undefined;
  if (type !== undefined) return { type, text: sqlColumnOf(place.path, type) };
  const path = jsonPath(place.path);
  return path === undefined ? undefined : { type: "json", text: path };
}

/** Whether any event may have something else there than a text, a number or a boolean. */
function mayBeSpecial({ summary }: Segment, place: Target): boolean {
  const key = pathKey(place);
  if (key === undefined || place.at !== "fields") return true;
  const fieldSummary = summary.isCut ? undefined : allFields(summary).get(key);
  return fieldSummary === undefined || fieldSummary.plain < fieldSummary.present || hasInside(summary, place.path);
}
