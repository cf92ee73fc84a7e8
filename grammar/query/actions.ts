import type { Span } from "../problem.ts";
import type {
  Aggregate,
  Call,
  Column,
  ColumnName,
  ComparisonOperator,
  Expr,
  Field,
  Pipe,
  Regex,
  RowCount,
  Segment,
  SortKey,
  StringValue,
  Value,
  WordValue,
} from "./ast.ts";
import { decodeString, readNumber } from "./literals.ts";
import { printField } from "./print.ts";

/**
 * The meaning of each rule of query.ohm: a function of the text, of where the rule matched, and of the values of its
 * children (a repetition is an array, an option its value or undefined, a literal undefined). The generated parser
 * calls these while it reads, so they are pure: what was read may be given up again.
 */
export const actions = {
  Query: (_source: string, _start: number, _end: number, or: Expr | undefined) => or,

  Pipeline: (_source: string, _start: number, _end: number, or: Expr | undefined, pipes: Pipe[]): ReadPipeline => ({
    expr: or,
    pipes,
  }),
  Piped: (_source: string, _start: number, _end: number, _bar: undefined, pipe: Pipe) => pipe,
  Count: (_source: string, start: number, end: number, word: Span, by: Column[] | undefined): Pipe => ({
    kind: "count",
    by: by ?? [],
    word,
    span: { start, end },
  }),
  Stats: (
    _source: string,
    start: number,
    end: number,
    word: Span,
    aggregates: Aggregate[],
    by: Column[] | undefined,
  ): Pipe => ({ kind: "stats", aggregates, by: by ?? [], word, span: { start, end } }),
  Timeseries: (
    _source: string,
    start: number,
    end: number,
    word: Span,
    step: Value | undefined,
    aggregates: Aggregate[],
    by: Column[] | undefined,
  ): Pipe => ({ kind: "timeseries", step, aggregates, by: by ?? [], word, span: { start, end } }),
  Top: (
    _source: string,
    start: number,
    end: number,
    word: Span,
    count: RowCount | undefined,
    column: Column,
  ): Pipe => ({ kind: "top", count, column, word, span: { start, end } }),
  Where: (_source: string, start: number, end: number, word: Span, expr: Expr): Pipe => ({
    kind: "where",
    expr,
    word,
    span: { start, end },
  }),
  Sort: (_source: string, start: number, end: number, word: Span, keys: SortKey[]): Pipe => ({
    kind: "sort",
    keys,
    word,
    span: { start, end },
  }),
  Limit: (_source: string, start: number, end: number, word: Span, count: RowCount): Pipe => ({
    kind: "limit",
    count,
    word,
    span: { start, end },
  }),
  Fields: (_source: string, start: number, end: number, word: Span, columns: Column[]): Pipe => ({
    kind: "fields",
    columns,
    word,
    span: { start, end },
  }),
  Unique: (_source: string, start: number, end: number, word: Span, columns: Column[]): Pipe => ({
    kind: "unique",
    columns,
    word,
    span: { start, end },
  }),
  By: (_source: string, _start: number, _end: number, _word: undefined, columns: Column[]) => columns,
  Aggregate: (_source: string, start: number, end: number, call: Call, as: ColumnName | undefined): Aggregate => ({
    call,
    as,
    span: { start, end },
  }),
  As: (_source: string, _start: number, _end: number, _word: undefined, name: ColumnName) => name,
  SortKey: (_source: string, start: number, end: number, column: Column, direction: SortKey["direction"]): SortKey => ({
    column,
    direction,
    span: { start, end },
  }),
  direction: (source: string, start: number, end: number) => source.slice(start, end),
  rowCount: (source: string, start: number, end: number): RowCount => ({
    value: Number(source.slice(start, end)),
    span: { start, end },
  }),
  countWord: spanOf,
  statsWord: spanOf,
  timeseriesWord: spanOf,
  topWord: spanOf,
  whereWord: spanOf,
  sortWord: spanOf,
  limitWord: spanOf,
  fieldsWord: spanOf,
  uniqueWord: spanOf,
  columnName: named,
  callName: named,
  argument: (_source: string, _start: number, _end: number, field: Field, _spaces: undefined[]) => field,
  call: (
    _source: string,
    start: number,
    end: number,
    name: ColumnName,
    _open: undefined,
    _spaces: undefined[],
    argument: Field | undefined,
    _close: undefined,
  ): Call => ({ name: name.name, nameSpan: name.span, argument, span: { start, end } }),
  column: (_source: string, _start: number, _end: number, column: Field | Call): Column =>
    "path" in column ? column : fieldOfCall(column),
  Or: (_source: string, start: number, end: number, first: Expr, operators: Span[], rest: Expr[]) =>
    chain("or", { start, end }, first, operators, rest),
  And: (_source: string, start: number, end: number, first: Expr, operators: (Span | undefined)[], rest: Expr[]) =>
    chain("and", { start, end }, first, operators, rest),
  Unary: (_source: string, _start: number, end: number, nots: Span[], primary: Expr): Expr => {
    let term = primary;
    for (let at = nots.length - 1; at >= 0; at--) {
      const operator = nots[at]!;
      term = { kind: "not", term, operator, span: { start: operator.start, end } };
    }
    return term;
  },
  Primary_group: (_source: string, _start: number, _end: number, _open: undefined, or: Expr, _close: undefined) => or,

  Exists: (_source: string, start: number, end: number, operator: Span, field: Field): Expr => ({
    kind: "exists",
    operator,
    field,
    span: { start, end },
  }),
  Condition_comparison: (
    _source: string,
    start: number,
    end: number,
    field: Field,
    { op, operator }: Operator,
    value: Value,
  ): Expr => ({ kind: "comparison", field, op, operator, value, span: { start, end } }),
  Condition_membership: (
    _source: string,
    start: number,
    end: number,
    field: Field,
    not: Span | undefined,
    operator: Span,
    _open: undefined,
    values: Value[],
    _close: undefined,
  ): Expr => {
    const span = { start, end };
    const term: Expr = { kind: "in", field, operator, values, span };
    return not === undefined ? term : { kind: "not", term, operator: not, span };
  },
  Condition_contains: (
    source: string,
    start: number,
    end: number,
    field: Field,
    operator: Span,
    text: StringValue | WordValue,
  ): Expr => {
    // A star stands for itself here.
    const raw = source.slice(text.span.start, text.span.end);
    const chunks = text.kind === "word" ? [raw] : decodeString(raw.slice(1, -1), false);
    return { kind: "contains", field, operator, text: { ...text, chunks }, span: { start, end } };
  },
  Condition_match: (_source: string, start: number, end: number, field: Field, operator: Span, regex: Regex): Expr => ({
    kind: "match",
    field,
    operator,
    regex,
    span: { start, end },
  }),

  levelTerm: (source: string, start: number, end: number): Expr => ({
    kind: "level",
    word: source.slice(start, end),
    span: { start, end },
  }),
  stageTerm: (source: string, start: number, end: number): Expr => ({
    kind: "stage",
    word: source.slice(start, end),
    span: { start, end },
  }),
  messageTerm: (_source: string, start: number, end: number, text: StringValue): Expr => ({
    kind: "message",
    text,
    span: { start, end },
  }),
  TruthyTerm: (_source: string, _start: number, _end: number, field: Field): Expr => ({
    kind: "truthy",
    field,
    span: field.span,
  }),

  orOp: spanOf,
  andOp: spanOf,
  notOp: spanOf,
  notWord: spanOf,
  inWord: spanOf,
  containsWord: spanOf,
  existsWord: spanOf,
  matchOp: spanOf,
  comparisonOp: (source: string, start: number, end: number): Operator => {
    const text = source.slice(start, end);
    return { op: text === "==" ? "=" : (text as ComparisonOperator), operator: { start, end } };
  },

  field: (_source: string, start: number, end: number, first: Segment, rest: Segment[]): Field => ({
    path: [first, ...rest],
    span: { start, end },
  }),
  name: (source: string, start: number, end: number): Segment => key(source.slice(start, end), start, end),
  segment_name: (source: string, start: number, end: number): Segment => key(source.slice(start + 1, end), start, end),
  segment_index: (source: string, start: number, end: number): Segment => ({
    kind: "index",
    index: Number(source.slice(start + 1, end - 1)),
    span: { start, end },
  }),
  segment_key: (source: string, start: number, end: number): Segment =>
    key(decodeString(source.slice(start + 2, end - 2), false)[0] ?? "", start, end),

  string: (source: string, start: number, end: number): StringValue => ({
    kind: "string",
    chunks: decodeString(source.slice(start + 1, end - 1), true),
    span: { start, end },
  }),
  number: (source: string, start: number, end: number): Value => {
    const text = source.slice(start, end);
    const { value, unit } = readNumber(text);
    // No JSON number is as large: such digits (12e4567) are a name that happens to look like one.
    if (!Number.isFinite(value)) return word(source, start, end);
    return unit === undefined
      ? { kind: "number", text, value, span: { start, end } }
      : { kind: "number", text, value, unit, span: { start, end } };
  },
  boolean: (source: string, start: number, end: number): Value => ({
    kind: "boolean",
    value: source.slice(start, end).toLowerCase() === "true",
    span: { start, end },
  }),
  null: (_source: string, start: number, end: number): Value => ({ kind: "null", span: { start, end } }),
  word,
  regex: (source: string, start: number, end: number): Regex => {
    // The flags are letters, so the last slash is the one that closes.
    const close = source.lastIndexOf("/", end - 1);
    return { source: source.slice(start + 1, close), flags: source.slice(close + 1, end), span: { start, end } };
  },

  NonemptyListOf: (
    _source: string,
    _start: number,
    _end: number,
    first: Value,
    _commas: undefined[],
    rest: Value[],
  ): Value[] => [first, ...rest],
  EmptyListOf: (_source: string, _start: number, _end: number): Value[] => [],
};

/** Rules that have neither an action nor a child whose value they pass on, each with the reason. */
export const withoutValue = {
  bar: "only separates",
  byWord: "the columns after it say all",
  asWord: "the name after it says all",
};

/** The value of the rule Pipeline. */
export interface ReadPipeline {
  readonly expr: Expr | undefined;
  readonly pipes: readonly Pipe[];
}

interface Operator {
  readonly op: ComparisonOperator;
  readonly operator: Span;
}

function chain(
  kind: "and" | "or",
  span: Span,
  first: Expr,
  operators: readonly (Span | undefined)[],
  rest: readonly Expr[],
): Expr {
  if (rest.length === 0) return first;
  const terms: Expr[] = [];
  const own: Span[] = [];
  for (let at = -1; at < rest.length; at++) {
    const operator = operators[at];
    if (operator !== undefined) own.push(operator);
    const term = at < 0 ? first : rest[at]!;
    if (term.kind === kind) {
      terms.push(...term.terms);
      own.push(...term.operators);
    } else {
      terms.push(term);
    }
  }
  return { kind, terms, operators: own, span };
}

function key(text: string, start: number, end: number): Segment {
  return { kind: "key", key: text, span: { start, end } };
}

function word(source: string, start: number, end: number): WordValue {
  return { kind: "word", chunks: source.slice(start, end).split("*"), span: { start, end } };
}

function named(source: string, start: number, end: number): ColumnName {
  return { name: source.slice(start, end), span: { start, end } };
}

/** The column that a call makes, by its canonical name. */
function fieldOfCall(call: Call): Field {
  const { name, argument, span } = call;
  const text = `${name}(${argument === undefined ? "" : printField(argument)})`;
  return { path: [{ kind: "key", key: text, span }], call, span };
}

function spanOf(_source: string, start: number, end: number): Span {
  return { start, end };
}
