import type { Comparison, Expr, Field, Query, Target, Value } from "../../../grammar/query/index.ts";
import { target } from "../../../grammar/query/index.ts";
import {
  both,
  EVERY_EVENT,
  either,
  exactly,
  NO_EVENT,
  not,
  type SqlCondition,
  sql,
  UNKNOWN,
} from "../../../grammar/query/sql/condition.ts";
import { instantCondition, isSharedSyntax, levelCondition } from "../../../grammar/query/sql/query-sql.ts";
import { firstNanosecond } from "../instant.ts";
import { type FieldSql, fieldSql } from "./field-sql.ts";
import { hasBytes, instantLiteral, sqlLiteral } from "./literal.ts";

/**
 * A query as conditions of ClickHouse's SQL over the columns of the table, with its values in the text. What it says of
 * `fields` holds of events that are `readable`. Between the bounds the predicate decides: mostly about lists.
 */
export function clickHouseCondition(query: Query, nowMs: number): SqlCondition {
  return query.expr === undefined ? EVERY_EVENT : translate(query.expr, nowMs);
}

function translate(expr: Expr, nowMs: number): SqlCondition {
  switch (expr.kind) {
    case "or":
      return either(expr.terms.map((term) => translate(term, nowMs)));
    case "and":
      return both(expr.terms.map((term) => translate(term, nowMs)));
    case "not":
      return not(translate(expr.term, nowMs));
    case "level":
      return levelCondition(expr);
    case "stage":
      return textTest({ at: "fields", path: ["stage"] }, [expr.word.toLowerCase()]);
    case "message":
      return textTest({ at: "entry", name: "message" }, expr.text.chunks);
    default:
      return ofField(expr, target(expr.field), nowMs);
  }
}

type FieldExpr = Extract<Expr, { field: Field }>;

function ofField(expr: FieldExpr, place: Target, nowMs: number): SqlCondition {
  if (place.at === "entry" && place.name === "level") return levelCondition(expr);
  if (place.at === "entry" && place.name === "timestamp") return ofTimestamp(expr, nowMs);
  switch (expr.kind) {
    case "exists":
      return exists(place);
    case "truthy":
      return reading(place, {
        text: (text) => `${text} != ''`,
        // A zero may be written in several ways; whatever is not a number is not a zero.
        json: ({ raw, number }) =>
          exactly(sql(`(${raw} not in ('', 'false', 'null', '""') and ifNull(${number} != 0, true))`)),
      });
    case "comparison":
      if (expr.op === "=") return equals(place, expr.value);
      if (expr.op === "!=") return both([exists(place), not(equals(place, expr.value))]);
      return ordered(place, expr);
    case "in":
      return either(expr.values.map((value) => equals(place, value)));
    case "contains": {
      const part = expr.text.chunks.join("*");
      return hasBytes(part) ? tested(place, (text) => `position(${text}, ${sqlLiteral(part)}) > 0`) : UNKNOWN;
    }
    case "match": {
      const { source, flags } = expr.regex;
      if (!isSharedSyntax(source)) return UNKNOWN;
      // By default a dot matches line breaks here.
      const pattern = sqlLiteral(`(?${flags.includes("i") ? "i" : ""}-s)${source}`);
      return tested(place, (text) => `match(${text}, ${pattern})`);
    }
  }
}

function ofTimestamp(expr: FieldExpr, nowMs: number): SqlCondition {
  if (expr.kind === "exists" || expr.kind === "truthy") return EVERY_EVENT;
  // Few events have it as text.
  if (expr.kind !== "comparison" || expr.op === "=" || expr.op === "!=") return UNKNOWN;
  const { operator, first } = instantCondition(expr, { nowMs, firstInstant: firstNanosecond });
  return exactly(sql(`(timestamp ${operator} ${instantLiteral(first)})`));
}

interface Readers {
  /** The value is a text of the event itself. */
  readonly text: (column: string) => string;
  readonly json: (json: FieldSql) => SqlCondition;
}

function reading(place: Target, readers: Readers): SqlCondition {
  if (place.at === "entry") return exactly(sql(`(${readers.text(place.name)})`));
  const json = fieldSql(place.path);
  return json === undefined ? UNKNOWN : readers.json(json);
}

/** Every event has a message and an id, but they may be empty. */
const exists = (place: Target): SqlCondition =>
  place.at === "entry"
    ? EVERY_EVENT
    : reading(place, { text: () => "", json: ({ raw }) => exactly(sql(`(${raw} != '')`)) });

/** A test of a text and of those in a list, of which SQL says only that there is one. */
const tested = (place: Target, test: (text: string) => string): SqlCondition =>
  reading(place, {
    text: test,
    json: ({ raw, isText, text }) => orInList(raw, `(${isText} and ${test(text)})`),
  });

function orInList(raw: string, ofValue: string): SqlCondition {
  return either([exactly(sql(ofValue)), { upper: sql(`startsWith(${raw}, '[')`), lower: NO_EVENT.lower }]);
}

function equals(place: Target, value: Value): SqlCondition {
  switch (value.kind) {
    case "string":
    case "word":
      return textTest(place, value.chunks);
    case "number": {
      const isNumber = numberTest(place, "=", value.value);
      // Without a unit the digits may also be a text: version = 5 finds "5".
      return value.unit === undefined ? either([isNumber, textTest(place, [value.text])]) : isNumber;
    }
    case "boolean":
    case "null": {
      const text = value.kind === "null" ? "null" : String(value.value);
      if (place.at === "entry") return NO_EVENT;
      return reading(place, { text: () => "", json: ({ raw }) => orInList(raw, `(${raw} = '${text}')`) });
    }
  }
}

function ordered(place: Target, { op, value }: Comparison): SqlCondition {
  // parseQuery has refused everything that has no rank.
  if (value.kind !== "number") throw new Error("unchecked ordering of a field");
  return numberTest(place, op, value.value);
}

function numberTest(place: Target, op: Comparison["op"], value: number): SqlCondition {
  if (place.at === "entry") return NO_EVENT;
  return reading(place, {
    text: () => "",
    json: ({ raw, number }) => orInList(raw, `ifNull(${number} ${op} ${sqlLiteral(value)}, false)`),
  });
}

/** A text with wildcards between its chunks. */
function textTest(place: Target, chunks: readonly string[]): SqlCondition {
  if (!chunks.every(hasBytes)) return UNKNOWN;
  const [first = ""] = chunks;
  if (chunks.length === 1) return tested(place, (text) => `${text} = ${sqlLiteral(first)}`);
  const pattern = sqlLiteral(chunks.map((chunk) => chunk.replace(/[\\%_]/g, "\\$&")).join("%"));
  return tested(place, (text) => `${text} like ${pattern}`);
}
