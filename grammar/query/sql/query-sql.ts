import {
  type Comparison,
  type Expr,
  type Field,
  type Query,
  type StringValue,
  type Target,
  target,
  type Value,
  type WordValue,
} from "../ast.ts";
import { LEVELS } from "../levels.ts";
import { isTimeUnit } from "../literals.ts";
import { compilePredicate } from "../predicate.ts";
import { parseMoment } from "../timestamp.ts";
import { type ColumnType, type EventColumns, jsonPath, sqlColumnOf } from "./columns.ts";
import {
  both,
  EVERY_EVENT,
  either,
  exactly,
  NO_EVENT,
  not,
  orFalse,
  type Sql,
  type SqlCondition,
  sql,
  UNKNOWN,
} from "./condition.ts";

export interface QuerySqlOptions {
  /** The clock that `timestamp > 1h` counts back from, in milliseconds since 1970. */
  readonly nowMs: number;
  readonly columns: EventColumns;
  /** The first value of the column `t` whose timestamp is at least, or above, `ms`, as the predicate compares. */
  readonly firstInstant: (ms: number, side: "at-least" | "above") => bigint;
}

/**
 * A query as conditions of DuckDB's SQL over the columns of a table of events. Values are bound, never part of the text.
 * See `SqlCondition` for what holds between them and the predicate.
 */
export function querySql(query: Query, options: QuerySqlOptions): SqlCondition {
  return query.expr === undefined ? EVERY_EVENT : translate(query.expr, options);
}

function translate(expr: Expr, options: QuerySqlOptions): SqlCondition {
  switch (expr.kind) {
    case "or":
      return either(expr.terms.map((term) => translate(term, options)));
    case "and":
      return both(expr.terms.map((term) => translate(term, options)));
    case "not":
      return not(translate(expr.term, options));
    case "level":
      return levelCondition(expr);
    case "stage":
      return textTest({ at: "fields", path: ["stage"] }, [expr.word.toLowerCase()], options);
    case "message":
      return matchesText("message", expr.text.chunks);
    default:
      return ofField(expr, target(expr.field), options);
  }
}

type FieldExpr = Extract<Expr, { field: Field }>;

function ofField(expr: FieldExpr, place: Target, options: QuerySqlOptions): SqlCondition {
  if (place.at === "entry" && place.name === "level") return levelCondition(expr);
  if (place.at === "entry" && place.name === "timestamp") return ofTimestamp(expr, options);
  switch (expr.kind) {
    case "exists":
      return reading(place, options, {
        column: (column) => orTrue(place, `(${column} is not null)`),
        json: (json) => exactly(sql(`(${json.value} is not null)`, json.path)),
      });
    case "truthy":
      return reading(place, options, {
        column: (column, type) =>
          exactly(orFalse(type === "boolean" ? column : `${column} <> ${type === "string" ? "''" : "0"}`)),
        // A zero may be written in several ways; whatever is not a number is not a zero.
        json: (json) =>
          exactly(
            sql(
              `(coalesce(${json.value}::varchar not in ('false', 'null', '""'), false) and coalesce(${json.number} <> 0, true))`,
              json.path,
              json.path,
            ),
          ),
      });
    case "comparison":
      if (expr.op === "=") return equals(place, expr.value, options);
      if (expr.op === "!=") return differs(place, expr.value, options);
      return ordered(place, expr, options);
    case "in":
      return either(expr.values.map((value) => equals(place, value, options)));
    case "contains": {
      const part = expr.text.chunks.join("*");
      return tested(place, options, { test: (text) => `contains(${text}, ?)`, values: [part] });
    }
    case "match": {
      const { source, flags } = expr.regex;
      if (!isSharedSyntax(source))
        return tested(place, options, { test: () => "true", values: [], otherwise: UNKNOWN });
      // The third argument also says that expressions are not literals and lines are not units, as everywhere in this
      // language.
      const test = (text: string) => `regexp_matches(${text}, ?, '${flags.includes("i") ? "i" : "c"}')`;
      return tested(place, options, { test, values: [source] });
    }
  }
}

/** Every event has a message and an id, but they may be empty. */
const orTrue = (place: Target, text: string): SqlCondition => (place.at === "entry" ? EVERY_EVENT : exactly(sql(text)));

/** All spellings of a level are equal, and only levels are stored, as numbers: the predicate says which of them pass. */
export function levelCondition(expr: Expr): SqlCondition {
  const selects = compilePredicate({ source: "", expr }, { nowMs: 0 });
  const passing = LEVELS.flatMap((level, severity) =>
    selects({ timestamp: "", level, message: "", fields: {} }) ? [severity] : [],
  );
  if (passing.length === 0) return NO_EVENT;
  return passing.length === LEVELS.length ? EVERY_EVENT : exactly(sql(`(severity in (${passing.join(", ")}))`));
}

function ofTimestamp(expr: FieldExpr, { nowMs, firstInstant }: QuerySqlOptions): SqlCondition {
  if (expr.kind === "exists" || expr.kind === "truthy") return EVERY_EVENT;
  // Only the event has it as text.
  if (expr.kind !== "comparison" || expr.op === "=" || expr.op === "!=") return UNKNOWN;
  const { operator, first } = instantCondition(expr, { nowMs, firstInstant });
  return exactly(sql(`(t ${operator} ?::bigint)`, first));
}

/** The instants that an ordering of `timestamp` selects: those from `first` on, or those before it. */
export function instantCondition(
  { value, op }: Comparison,
  { nowMs, firstInstant }: Pick<QuerySqlOptions, "nowMs" | "firstInstant">,
): { readonly operator: ">=" | "<"; readonly first: bigint } {
  const bound =
    value.kind === "number"
      ? value.unit !== undefined && isTimeUnit(value.unit)
        ? nowMs - value.value
        : undefined
      : parseMoment(value.kind === "string" || value.kind === "word" ? value.chunks.join("*") : "");
  if (bound === undefined) throw new Error("unchecked ordering of timestamp");
  const first = firstInstant(bound, op === ">" || op === "<=" ? "above" : "at-least");
  return { operator: op.startsWith(">") ? ">=" : "<", first };
}

interface Json {
  /** The value as JSON, NULL where it is missing. Takes the path. */
  readonly value: string;
  /** The value where it is a JSON number, else NULL. Takes the path. */
  readonly number: string;
  /** The decoded text of a JSON string, else NULL. Takes the path twice. */
  readonly text: string;
  readonly path: string;
}

interface Readers {
  /** The value has a column of its own, or is the text of the event that is named so. */
  readonly column: (column: string, type: ColumnType) => SqlCondition;
  readonly json: (json: Json) => SqlCondition;
}

/** How a value is read, where its place is not a level or timestamp. */
function reading(place: Target, { columns }: QuerySqlOptions, readers: Readers): SqlCondition {
  if (place.at === "entry") return readers.column(place.name === "id" ? columns.id : "message", "string");
  const type = columns.typeOf(place.path);
  // Nothing holds of a value that is missing: not even that it differs.
  if (type === "absent") return NO_EVENT;
  if (type === "unread") return UNKNOWN;
  if (type !== undefined) return readers.column(sqlColumnOf(place.path, type), type);
  const path = jsonPath(place.path);
  if (path === undefined) return UNKNOWN;
  const value = "json_extract(fields, ?)";
  return readers.json({
    value,
    // The JSON text of a string has quotation marks and of a list brackets: neither reads as a number.
    number: `try_cast(${value}::varchar as double)`,
    text: `(case when starts_with(${value}::varchar, '"') then json_extract_string(fields, ?) end)`,
    path,
  });
}

interface TextTest {
  readonly test: (text: string) => string;
  readonly values: readonly string[];
  readonly otherwise?: SqlCondition;
}

/** A test of a value and of the elements of a list: SQL says it of the value, and of lists that it may hold. */
function tested(place: Target, options: QuerySqlOptions, { test, values, otherwise }: TextTest): SqlCondition {
  if (otherwise !== undefined || !values.every(isBindable)) {
    // Where no text can be there at all, nothing is unknown.
    return reading(place, options, {
      column: (_column, type) => (type === "string" ? UNKNOWN : NO_EVENT),
      json: () => UNKNOWN,
    });
  }
  return reading(place, options, {
    column: (column, type) => (type === "string" ? exactly(orFalse(test(column), ...values)) : NO_EVENT),
    json: (json) => orInList(json, orFalse(test(json.text), json.path, json.path, ...values)),
  });
}

function orInList(json: Json, ofValue: Sql): SqlCondition {
  const isList = orFalse(`starts_with(${json.value}::varchar, '[')`, json.path);
  return either([exactly(ofValue), { upper: isList, lower: NO_EVENT.lower }]);
}

function equals(place: Target, value: Value, options: QuerySqlOptions): SqlCondition {
  switch (value.kind) {
    case "string":
    case "word":
      return textTest(place, value.chunks, options);
    case "number": {
      const isNumber = reading(place, options, {
        column: (column, type) =>
          type === "number" && mayHold(place, "=", value.value, options)
            ? exactly(orFalse(`${column} = ?::double`, boundNumber(value)))
            : NO_EVENT,
        json: (json) => orInList(json, orFalse(`${json.number} = ?::double`, json.path, boundNumber(value))),
      });
      // Without a unit the digits may also be a text: version = 5 finds "5".
      return value.unit === undefined ? either([isNumber, textTest(place, [value.text], options)]) : isNumber;
    }
    case "boolean":
    case "null": {
      const text = value.kind === "null" ? "null" : String(value.value);
      return reading(place, options, {
        column: (column, type) =>
          value.kind === "boolean" && type === "boolean" ? exactly(orFalse(`${column} = ${text}`)) : NO_EVENT,
        json: (json) => orInList(json, orFalse(`${json.value}::varchar = '${text}'`, json.path)),
      });
    }
  }
}

/** Present and not equal; of a list, any element. */
function differs(place: Target, value: Value, options: QuerySqlOptions): SqlCondition {
  const isThere = reading(place, options, {
    column: (column) => orTrue(place, `(${column} is not null)`),
    json: (json) => exactly(sql(`(${json.value} is not null)`, json.path)),
  });
  const same = equals(place, value, options);
  // For a list `same` is unknown, and so is its opposite: any element may differ.
  return both([isThere, not(same)]);
}

function ordered(place: Target, { op, value }: Comparison, options: QuerySqlOptions): SqlCondition {
  // parseQuery has refused everything that has no rank.
  if (value.kind !== "number") throw new Error("unchecked ordering of a field");
  return reading(place, options, {
    column: (column, type) =>
      type === "number" && mayHold(place, op, value.value, options)
        ? exactly(orFalse(`${column} ${op} ?::double`, boundNumber(value)))
        : NO_EVENT,
    json: (json) => orInList(json, orFalse(`${json.number} ${op} ?::double`, json.path, boundNumber(value))),
  });
}

/** No negative zero: DuckDB leaves out row groups by the bits of a number, and would lose the zeros. */
const boundNumber = ({ value }: { readonly value: number }) => value + 0;

/** Whether any number of a column compares so, as far as is known. */
function mayHold(place: Target, op: Comparison["op"], value: number, { columns }: QuerySqlOptions): boolean {
  const bounds = place.at === "fields" ? columns.numbersOf?.(place.path) : undefined;
  if (bounds === undefined) return true;
  const { min, max } = bounds;
  switch (op) {
    case "<":
      return min < value;
    case "<=":
      return min <= value;
    case ">":
      return max > value;
    case ">=":
      return max >= value;
    default:
      return min <= value && value <= max;
  }
}

/** A text with wildcards between its chunks. */
function textTest(place: Target, chunks: readonly string[], options: QuerySqlOptions): SqlCondition {
  const texts = place.at === "fields" && chunks.length === 1 ? options.columns.textsOf?.(place.path) : undefined;
  if (texts !== undefined && !texts.has(chunks[0]!)) return NO_EVENT;
  const { test, values } = wildcards(chunks);
  return tested(place, options, { test, values });
}

function matchesText(column: string, chunks: (StringValue | WordValue)["chunks"]): SqlCondition {
  const { test, values } = wildcards(chunks);
  return values.every(isBindable) ? exactly(orFalse(test(column), ...values)) : UNKNOWN;
}

function wildcards(chunks: readonly string[]): { test: (text: string) => string; values: string[] } {
  const [first = "", ...rest] = chunks;
  if (rest.length === 0) return { test: (text) => `${text} = ?`, values: [first] };
  const between = chunks.slice(1, -1);
  const last = chunks.at(-1)!;
  if (between.every((chunk) => chunk === "")) {
    if (first === "" && last === "") return { test: (text) => `${text} is not null`, values: [] };
    if (last === "") return { test: (text) => `starts_with(${text}, ?)`, values: [first] };
    if (first === "") return { test: (text) => `ends_with(${text}, ?)`, values: [last] };
  }
  if (first === "" && last === "" && between.filter((chunk) => chunk !== "").length === 1) {
    return { test: (text) => `contains(${text}, ?)`, values: [between.join("")] };
  }
  const pattern = chunks.map((chunk) => chunk.replace(/[\\%_]/g, "\\$&")).join("%");
  return { test: (text) => `${text} like ? escape '\\'`, values: [pattern] };
}

/** UTF-8 has no halves of pairs, and a text may be cut at its first NUL on the way. */
const isBindable = (value: string) => !/[\p{Cs}\0]/u.test(value);

/**
 * Whether DuckDB's RE2 and ours read an expression alike: tables of scripts and categories differ by version, `\C` is a
 * byte there, and flags may make it read lines.
 */
export const isSharedSyntax = (source: string) => isBindable(source) && !/\\[pPCXQ]|\(\?[^:]/.test(source);
