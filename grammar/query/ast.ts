import type { Span } from "../problem.ts";

/** A parsed query. `expr` is undefined for the empty query, which selects everything. Spans point into `source`. */
export interface Query {
  readonly source: string;
  readonly expr: Expr | undefined;
}

/**
 * The meaning of a query as a tree. Every consumer (predicate, canonical text, and whatever reads queries later)
 * switches over `kind`. Parentheses leave no node: a span covers the node's own text without those around it.
 */
export type Expr =
  | Or
  | And
  | Not
  | Comparison
  | Membership
  | Containment
  | Match
  | Existence
  | Truthiness
  | LevelTerm
  | StageTerm
  | MessageTerm;

/** True if any term is. At least two terms, none of them an `Or`: nested ones are flattened. */
export interface Or {
  readonly kind: "or";
  readonly terms: readonly Expr[];
  /** The `or` and `||` tokens, in order. */
  readonly operators: readonly Span[];
  readonly span: Span;
}

/** True if all terms are. At least two terms, none of them an `And`: nested ones are flattened. */
export interface And {
  readonly kind: "and";
  readonly terms: readonly Expr[];
  /** The `and` and `&&` tokens, in order; fewer than the gaps between terms if some terms are merely side by side. */
  readonly operators: readonly Span[];
  readonly span: Span;
}

/** `not a`, `!a`; and `a not in (..)`, which is `not a in (..)` in which `operator` is inside the term. */
export interface Not {
  readonly kind: "not";
  readonly term: Expr;
  readonly operator: Span;
  readonly span: Span;
}

export type ComparisonOperator = "=" | "!=" | "<" | "<=" | ">" | ">=";

/** `field op value`. `==` is stored as `=`. False if the field is missing, for `!=` too. */
export interface Comparison {
  readonly kind: "comparison";
  readonly field: Field;
  readonly op: ComparisonOperator;
  readonly operator: Span;
  readonly value: Value;
  readonly span: Span;
}

/** `field in (a, b)`: equal to any of the values, of which there is at least one. */
export interface Membership {
  readonly kind: "in";
  readonly field: Field;
  readonly operator: Span;
  readonly values: readonly Value[];
  readonly span: Span;
}

/** `field contains "text"`: a substring. `text` has one chunk: a star stands for itself here. */
export interface Containment {
  readonly kind: "contains";
  readonly field: Field;
  readonly operator: Span;
  readonly text: StringValue | WordValue;
  readonly span: Span;
}

/** `field ~ /re/i` */
export interface Match {
  readonly kind: "match";
  readonly field: Field;
  readonly operator: Span;
  readonly regex: Regex;
  readonly span: Span;
}

/** `exists field`: present, whatever its value. */
export interface Existence {
  readonly kind: "exists";
  readonly operator: Span;
  readonly field: Field;
  readonly span: Span;
}

/** A bare field: present and not false, null, 0 or "". */
export interface Truthiness {
  readonly kind: "truthy";
  readonly field: Field;
  readonly span: Span;
}

/** `error`: the level is this one, by any of its names. `word` is as written, in lower or all-upper case. */
export interface LevelTerm {
  readonly kind: "level";
  readonly word: string;
  readonly span: Span;
}

/** `production`: `stage = production`. `word` is as written, in lower or all-upper case. */
export interface StageTerm {
  readonly kind: "stage";
  readonly word: string;
  readonly span: Span;
}

/** A bare quoted string: `message = "..."`. */
export interface MessageTerm {
  readonly kind: "message";
  readonly text: StringValue;
  readonly span: Span;
}

/** A name as written, at least one segment, the first of them a key. `target` says what it addresses. */
export interface Field {
  readonly path: readonly Segment[];
  /** The call that made the column `p99(duration)`: its path is one key then, the canonical text of the call. */
  readonly call?: Call;
  /** Set for a column of rows by what reads conditions of them: what its values are, whatever its name is. */
  readonly rowType?: ComparedType;
  readonly span: Span;
}

/** The way in which orderings read the values of a field: as times, levels, or numbers. */
export type ComparedType = "time" | "level" | "other";

/** `p99(duration)`: the name of the function as written, and what it is of. */
export interface Call {
  readonly name: string;
  readonly nameSpan: Span;
  readonly argument: Field | undefined;
  readonly span: Span;
}

/** `user`, `.user` and `["user"]` are keys, `[0]` is an index. The span covers the dot or the brackets. */
export type Segment =
  | { readonly kind: "key"; readonly key: string; readonly span: Span }
  | { readonly kind: "index"; readonly index: number; readonly span: Span };

export type Value = StringValue | WordValue | NumberValue | BooleanValue | NullValue;

/** A quoted string, escapes decoded. `chunks` is the literal text between the wildcards: one chunk has no wildcard. */
export interface StringValue {
  readonly kind: "string";
  readonly chunks: readonly string[];
  readonly span: Span;
}

/** Unquoted text (`GET`, `/account/*`): means what the quoted string of the same characters means. */
export interface WordValue {
  readonly kind: "word";
  readonly chunks: readonly string[];
  readonly span: Span;
}

/** `text` is the number as written, unit included; `value` is finite, in bytes or milliseconds where there is a unit. */
export interface NumberValue {
  readonly kind: "number";
  readonly text: string;
  readonly value: number;
  readonly unit?: NumberUnit;
  readonly span: Span;
}

export type NumberUnit = "b" | "kb" | "mb" | "gb" | "tb" | "ms" | "s" | "m" | "h" | "d";

export interface BooleanValue {
  readonly kind: "boolean";
  readonly value: boolean;
  readonly span: Span;
}

export interface NullValue {
  readonly kind: "null";
  readonly span: Span;
}

/** `/source/i`: RE2 syntax, as written between the slashes. `flags` too is as written; `i` is the only one. */
export interface Regex {
  readonly source: string;
  readonly flags: string;
  readonly span: Span;
}

/**
 * A query with stages: `query` selects events, each stage makes rows of what the one before it gives. Without stages it is
 * the query alone. Spans point into `source`.
 */
export interface Pipeline {
  readonly source: string;
  readonly query: Query;
  readonly pipes: readonly Pipe[];
}

/** Every consumer switches over `kind`. */
export type Pipe =
  | CountPipe
  | StatsPipe
  | TimeseriesPipe
  | TopPipe
  | WherePipe
  | SortPipe
  | LimitPipe
  | FieldsPipe
  | UniquePipe;

interface PipePart {
  /** The stage without its bar. */
  readonly span: Span;
  /** Its word. */
  readonly word: Span;
}

/** `count by path, method`: a row for each group, with the column `count`. */
export interface CountPipe extends PipePart {
  readonly kind: "count";
  readonly by: readonly Column[];
}

/** `stats avg(duration) as mean, max(size) by path` */
export interface StatsPipe extends PipePart {
  readonly kind: "stats";
  readonly aggregates: readonly Aggregate[];
  readonly by: readonly Column[];
}

/** `timeseries 5m count() by level`: a row for each step of time. Without a step it is chosen by the range. */
export interface TimeseriesPipe extends PipePart {
  readonly kind: "timeseries";
  /** A number with a unit of time. */
  readonly step: Value | undefined;
  readonly aggregates: readonly Aggregate[];
  readonly by: readonly Column[];
}

/** `top 5 path`: the most frequent values. */
export interface TopPipe extends PipePart {
  readonly kind: "top";
  readonly count: RowCount | undefined;
  readonly column: Column;
}

/** `where count > 10`: a predicate of events before the first aggregate, of rows after it. */
export interface WherePipe extends PipePart {
  readonly kind: "where";
  readonly expr: Expr;
}

/** `sort count desc, path` */
export interface SortPipe extends PipePart {
  readonly kind: "sort";
  readonly keys: readonly SortKey[];
}

/** `limit 10` */
export interface LimitPipe extends PipePart {
  readonly kind: "limit";
  readonly count: RowCount;
}

/** `fields path, status`: these columns, in this order. */
export interface FieldsPipe extends PipePart {
  readonly kind: "fields";
  readonly columns: readonly Column[];
}

/** `unique user.id, path`: the first row of each combination; these columns. */
export interface UniquePipe extends PipePart {
  readonly kind: "unique";
  readonly columns: readonly Column[];
}

/** A field of an event, or a column of a row by its name: `path`, `p99(duration)`. */
export type Column = Field;

export interface RowCount {
  readonly value: number;
  readonly span: Span;
}

export interface SortKey {
  readonly column: Column;
  /** Undefined where neither `asc` nor `desc` is written, which is ascending. */
  readonly direction: "asc" | "desc" | undefined;
  readonly span: Span;
}

/** `p99(duration) as slow` */
export interface Aggregate {
  readonly call: Call;
  readonly as: ColumnName | undefined;
  readonly span: Span;
}

export interface ColumnName {
  readonly name: string;
  readonly span: Span;
}

/** The part of an entry that a field addresses. */
export type Target =
  /** A property of the entry itself. An `id` that the entry lacks is looked up in its fields. */
  | { readonly at: "entry"; readonly name: "level" | "message" | "timestamp" | "id" }
  /** Own properties below `fields`, from the outside in. */
  | { readonly at: "fields"; readonly path: readonly (string | number)[] };

/** How orderings read the values of a field. */
export function comparedType(field: Field): ComparedType {
  if (field.rowType !== undefined) return field.rowType;
  const place = target(field);
  if (place.at !== "entry") return "other";
  return place.name === "timestamp" ? "time" : place.name === "level" ? "level" : "other";
}

/** `level`, `message`, `timestamp` and `id` come first; `fields.level` is the way past them. */
export function target(field: Field): Target {
  const path = field.path.map((segment) => (segment.kind === "key" ? segment.key : segment.index));
  const first = path[0];
  if (path.length === 1) {
    if (first === "level" || first === "message" || first === "timestamp" || first === "id") {
      return { at: "entry", name: first };
    }
  } else if (first === "fields") {
    return { at: "fields", path: path.slice(1) };
  }
  return { at: "fields", path };
}

/** Calls back for each term of an expression, those below a `not` included, in the order of the text. */
export function forEachTerm(expr: Expr | undefined, visit: (term: Expr) => void): void {
  if (expr === undefined) return;
  if (expr.kind === "and" || expr.kind === "or") for (const term of expr.terms) forEachTerm(term, visit);
  else if (expr.kind === "not") forEachTerm(expr.term, visit);
  else visit(expr);
}
