import type { Target } from "../../../../grammar/query/index.ts";
import { type ColumnType, jsonPath, sqlColumnOf } from "../../../../grammar/query/sql/columns.ts";
import { SQL_FALSE, type Sql, sql } from "../../../../grammar/query/sql/condition.ts";
import { allFields } from "../../summary/summary.ts";
import type { Segment } from "../segment.ts";
import { ID } from "../segment-schema.ts";
import { NOTHING, type StatementTemplate } from "./aggregate.ts";

/** A statement over a field's values of one type, NULL where it has none; lists are excepted. Undefined where SQL cannot. */
export function ofField(
  field: Target,
  segment: Segment,
  type: ColumnType,
  statement: (value: Sql, list: Sql) => StatementTemplate,
): StatementTemplate | undefined {
  if (field.at === "entry") {
    if (type !== "string") return NOTHING;
    // Few events store a time as text. The times of all others are made from nanoseconds.
    if (field.name === "timestamp") return undefined;
    return statement(sql(field.name === "id" ? ID : field.name), SQL_FALSE);
  }
  const column = segment.columns.get(JSON.stringify(field.path));
  if (column !== undefined) return column === type ? statement(sql(sqlColumnOf(field.path, type)), SQL_FALSE) : NOTHING;
  const path = jsonPath(field.path);
  if (path === undefined) return undefined;
  const key = pathKey(field);
  const fieldSummary = key === undefined || segment.summary.isCut ? undefined : allFields(segment.summary).get(key);
  if (key !== undefined && !segment.summary.isCut && fieldSummary === undefined) return NOTHING;
  const json = "json_extract(fields, ?)::varchar";
  const value =
    type === "string"
      ? sql(`(case when starts_with(${json}, '"') then json_extract_string(fields, ?) end)`, path, path)
      : type === "number"
        ? sql(`try_cast(${json} as double)`, path)
        : sql(`(case ${json} when 'true' then true when 'false' then false end)`, path);
  const hasLists = fieldSummary === undefined || fieldSummary.plain < fieldSummary.present;
  return statement(value, hasLists ? sql(`coalesce(starts_with(${json}, '['), false)`, path) : SQL_FALSE);
}

/** The key of a path in summaries; paths with an index have none. */
export const pathKey = (field: Target): string | undefined =>
  field.at === "fields" && field.path.every((key) => typeof key === "string") ? JSON.stringify(field.path) : undefined;
