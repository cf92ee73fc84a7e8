import type { Span } from "../../problem.ts";
import { formatDuration } from "../../units/duration.ts";
import type { Aggregate, Call, Column, Expr, Field, Pipe, Pipeline, SortKey } from "../ast.ts";
import { type Explanation, explain, explainAt, fieldDocs } from "../explain.ts";
import { KEYWORD_DOCS, PIPE_DOCS } from "../pipe-words.ts";
import { printField } from "../print.ts";
import { aboutColumn, aggregateName, columnIndex, columnName, columnOf, type PipeInput, resultOf } from "./columns.ts";
import { FUNCTIONS, functionOf } from "./functions.ts";
import { aggregatesOf, columnsNamed, givesRows, isAggregate, pipeCondition } from "./pipe-facts.ts";
import { printPipe } from "./print.ts";
import { typedCondition } from "./row-condition.ts";

/** Each stage in plain words, a sentence each. */
export const explainPipes = (pipes: readonly Pipe[]): string[] =>
  pipes.map((pipe, at) => `${inWords(pipe, resultOf(pipes.slice(0, at)))}.`);

function inWords(pipe: Pipe, input: PipeInput): string {
  switch (pipe.kind) {
    case "count":
      return `Then the count${by(pipe.by)}`;
    case "stats":
      return `Then ${pipe.aggregates.map(aggregate).join(", ")}${by(pipe.by)}`;
    case "timeseries": {
      const step = pipe.step?.kind === "number" ? spokenDuration(pipe.step.value) : "step of time";
      const values = pipe.aggregates.length === 0 ? "the count" : pipe.aggregates.map(aggregate).join(", ");
      const per = [step, ...pipe.by.map(printField)];
      return `Then ${values} per ${[per.slice(0, -1).join(", "), per.at(-1)].filter(Boolean).join(" and ")}`;
    }
    case "top":
      return `Then the ${pipe.count?.value ?? 10} most frequent values of ${printField(pipe.column)}`;
    case "where":
      return `Of those, the ones where ${explain({ source: "", expr: typedCondition(pipe.expr, input) })}`;
    case "sort":
      return `Sorted by ${pipe.keys.map((key) => `${printField(key.column)}${firstOf(key, input)}`).join(", then by ")}`;
    case "limit":
      return pipe.count.value === 1 ? "The first one" : `The first ${pipe.count.value}`;
    case "fields":
      return `Of those ${list(pipe.columns)}`;
    case "unique":
      return `Each different ${list(pipe.columns)} once`;
  }
}

/** Names the end that a key puts first; nothing for the usual order of usual values. */
function firstOf({ column, direction }: SortKey, input: PipeInput): string {
  const { type } = columnOf(column, input);
  const isDescending = direction === "desc";
  if (type === "time") return isDescending ? ", the newest first" : ", the oldest first";
  if (type === "level") return isDescending ? ", the most severe first" : ", the least severe first";
  return isDescending ? ", the greatest first" : "";
}

/** `5 min`, `1 h 30 min` */
const spokenDuration = (ms: number) =>
  formatDuration(ms)
    .replace(/(\d+)([a-z]+)/g, (_, count: string, unit: string) => `${count} ${unit === "m" ? "min" : unit} `)
    .trim();

const list = (columns: readonly Column[]) => columns.map(printField).join(", ");

const by = (columns: readonly Column[]) => (columns.length === 0 ? "" : ` for each ${list(columns)}`);

function aggregate({ call, as }: Aggregate): string {
  const of = call.argument === undefined ? "" : printField(call.argument);
  const kind = functionOf(call.name);
  const named = as === undefined ? "" : ` as ${as.name}`;
  switch (kind?.name) {
    case "count":
      return `${of === "" ? "the count" : `the number of those with ${of}`}${named}`;
    case "rate":
      return `the count per second${named}`;
    case "sum":
      return `the sum of ${of}${named}`;
    case "avg":
      return `the mean of ${of}${named}`;
    case "min":
      return `the least ${of}${named}`;
    case "max":
      return `the greatest ${of}${named}`;
    case "pNN":
      return `the ${kind.percent}th percentile of ${of}${named}`;
    case "distinct":
      return `the number of different ${of}${named}`;
    case "first":
    case "last":
    case undefined:
      return `the ${call.name} ${of}${named}`;
  }
}

/** Explains the stage, function, column or word at an offset. Undefined before the first stage. */
export function explainPipeAt({ source, pipes }: Pipeline, offset: number): Explanation | undefined {
  const place = pipes.findIndex(({ span }) => holds(span, offset));
  const pipe = pipes[place];
  if (pipe === undefined) return undefined;
  const at = { source, offset, before: pipes.slice(0, place) };
  return partAt(pipe, at) ?? { span: pipe.span, text: `${inWords(pipe, resultOf(at.before))}.` };
}

interface Place {
  readonly source: string;
  readonly offset: number;
  readonly before: readonly Pipe[];
}

const holds = ({ start, end }: Span, offset: number) => offset >= start && offset < end;

function partAt(pipe: Pipe, place: Place): Explanation | undefined {
  const { source, offset, before } = place;
  if (holds(pipe.word, offset))
    return { span: pipe.word, text: `${inWords(pipe, resultOf(before))}. ${PIPE_DOCS[pipe.kind]}` };
  const condition = pipeCondition(pipe);
  if (condition !== undefined) return conditionAt(condition, place);
  for (const one of aggregatesOf(pipe)) {
    const { call, as } = one;
    if (as !== undefined && holds(as.span, offset))
      return { span: as.span, text: `The column ${as.name}: ${aggregate({ ...one, as: undefined })}.` };
    if (holds(call.span, offset)) return callAt(call, place);
  }
  const column = columnsNamed(pipe).find(({ span }) => holds(span, offset));
  if (column !== undefined) return { span: column.span, text: columnDocs(column, before) };
  const start = source.slice(0, offset).search(/[a-z]*$/);
  const [word = ""] = /^[a-z]*/.exec(source.slice(start))!;
  if (!Object.hasOwn(KEYWORD_DOCS, word) || offset >= start + word.length) return undefined;
  return { span: { start, end: start + word.length }, text: KEYWORD_DOCS[word as keyof typeof KEYWORD_DOCS] };
}

function callAt({ name, nameSpan, argument, span }: Call, { offset, before }: Place): Explanation {
  if (argument !== undefined && holds(argument.span, offset))
    return { span: argument.span, text: columnDocs(argument, before) };
  const kind = functionOf(name);
  const docs = kind === undefined ? name : FUNCTIONS[kind.name].documentation;
  return { span: holds(nameSpan, offset) ? nameSpan : span, text: docs };
}

/** Fields of entries as in any query; of rows, their columns. */
function conditionAt(expr: Expr, { source, offset, before }: Place): Explanation | undefined {
  const input = resultOf(before);
  const field = input.kind === "rows" ? fieldAt(expr, offset) : undefined;
  if (field !== undefined) return { span: field.span, text: columnDocs(field, before) };
  return explainAt({ source, expr: typedCondition(expr, input) }, offset);
}

function fieldAt(expr: Expr, offset: number): Field | undefined {
  if (expr.kind === "not") return fieldAt(expr.term, offset);
  if (expr.kind === "and" || expr.kind === "or") {
    for (const term of expr.terms) if (holds(term.span, offset)) return fieldAt(term, offset);
    return undefined;
  }
  return "field" in expr && holds(expr.field.span, offset) ? expr.field : undefined;
}

function columnDocs(column: Column, before: readonly Pipe[]): string {
  const input = resultOf(before);
  if (input.kind === "events") return fieldDocs(column);
  const rowColumn = input.columns[columnIndex(input.columns, columnName(column))];
  if (rowColumn === undefined) return fieldDocs(column);
  return `The column ${rowColumn.name} (${aboutColumn(rowColumn)}): ${originOf(rowColumn.name, before)}.`;
}

/** The origin of a column of the rows. */
function originOf(name: string, pipes: readonly Pipe[]): string {
  const at = pipes.findLastIndex(givesRows);
  const pipe = pipes[at]!;
  const earlier = pipes.slice(0, at);
  const isOfEvents = resultOf(earlier).kind === "events";
  const made = aggregatesOf(pipe).find((one) => aggregateName(one) === name);
  if (made !== undefined) return `${aggregate({ ...made, as: undefined })}, from ${printPipe(pipe)}`;
  if (columnsNamed(pipe).some((column) => columnName(column) === name)) {
    if (!isOfEvents) return originOf(name, earlier);
    return isAggregate(pipe) ? `the groups of ${printPipe(pipe)}` : `the field ${name}`;
  }
  return name === "time"
    ? `the beginning of each step of ${printPipe(pipe)}`
    : `how many there are in each row of ${printPipe(pipe)}`;
}
