import type { Span } from "../../problem.ts";
import { formatDuration } from "../../units/duration.ts";
import type { Aggregate, Call, Column, Expr, Field, Pipeline, Stage } from "../ast.ts";
import { type Explanation, explain, explainAt, fieldDocs } from "../explain.ts";
import { printField } from "../print.ts";
import { KEYWORD_DOCS, STAGE_DOCS } from "../stage-words.ts";
import { aboutColumn, aggregateName, columnName, placeOf, resultOf } from "./columns.ts";
import { FUNCTIONS, functionOf } from "./functions.ts";
import { printStage } from "./print.ts";
import { aggregatesOf, columnsNamed, conditionOf, givesRows, isAggregate } from "./stage-facts.ts";

/** Each stage in plain words, a sentence each. */
export const explainStages = (stages: readonly Stage[]): string[] => stages.map((stage) => `${inWords(stage)}.`);

function inWords(stage: Stage): string {
  switch (stage.kind) {
    case "count":
      return `Then their number${by(stage.by)}`;
    case "stats":
      return `Then ${stage.aggregates.map(aggregate).join(", ")}${by(stage.by)}`;
    case "timeseries": {
      const step = stage.step?.kind === "number" ? `each ${formatDuration(stage.step.value)}` : "each step of time";
      const values = stage.aggregates.length === 0 ? "their number" : stage.aggregates.map(aggregate).join(", ");
      return `Then ${values} for ${step}${by(stage.by)}`;
    }
    case "top":
      return `Then the ${stage.count?.value ?? 10} most frequent values of ${printField(stage.column)}`;
    case "where":
      return `Of those, the ones where ${explain({ source: "", expr: stage.expr })}`;
    case "sort":
      return `Sorted by ${stage.keys.map(({ column, direction }) => `${printField(column)}${direction === "desc" ? ", the greatest first" : ""}`).join(", then by ")}`;
    case "limit":
      return stage.count.value === 1 ? "The first one" : `The first ${stage.count.value}`;
    case "fields":
      return `Of those ${list(stage.columns)}`;
    case "unique":
      return `Each different ${list(stage.columns)} once`;
  }
}

const list = (columns: readonly Column[]) => columns.map(printField).join(", ");

const by = (columns: readonly Column[]) => (columns.length === 0 ? "" : ` for each ${list(columns)}`);

function aggregate({ call, as }: Aggregate): string {
  const of = call.argument === undefined ? "" : printField(call.argument);
  const kind = functionOf(call.name);
  const named = as === undefined ? "" : ` as ${as.name}`;
  switch (kind?.name) {
    case "count":
      return `${of === "" ? "their number" : `the number of those with ${of}`}${named}`;
    case "rate":
      return `their number a second${named}`;
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
    default:
      return `the ${call.name} ${of}${named}`;
  }
}

/** What the stage, function, column or word at an offset means. Undefined before the first stage. */
export function explainStageAt({ source, stages }: Pipeline, offset: number): Explanation | undefined {
  const place = stages.findIndex(({ span }) => holds(span, offset));
  const stage = stages[place];
  if (stage === undefined) return undefined;
  const at = { source, offset, before: stages.slice(0, place) };
  return partAt(stage, at) ?? { span: stage.span, text: `${inWords(stage)}.` };
}

interface Place {
  readonly source: string;
  readonly offset: number;
  readonly before: readonly Stage[];
}

const holds = ({ start, end }: Span, offset: number) => offset >= start && offset < end;

function partAt(stage: Stage, place: Place): Explanation | undefined {
  const { source, offset, before } = place;
  if (holds(stage.word, offset)) return { span: stage.word, text: `${inWords(stage)}. ${STAGE_DOCS[stage.kind]}` };
  const condition = conditionOf(stage);
  if (condition !== undefined) return conditionAt(condition, place);
  for (const one of aggregatesOf(stage)) {
    const { call, as } = one;
    if (as !== undefined && holds(as.span, offset))
      return { span: as.span, text: `The column ${as.name}: ${aggregate({ ...one, as: undefined })}.` };
    if (holds(call.span, offset)) return callAt(call, place);
  }
  const column = columnsNamed(stage).find(({ span }) => holds(span, offset));
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
  const field = resultOf(before).kind === "rows" ? fieldAt(expr, offset) : undefined;
  if (field !== undefined) return { span: field.span, text: columnDocs(field, before) };
  return explainAt({ source, expr }, offset);
}

function fieldAt(expr: Expr, offset: number): Field | undefined {
  if (expr.kind === "not") return fieldAt(expr.term, offset);
  if (expr.kind === "and" || expr.kind === "or") {
    for (const term of expr.terms) if (holds(term.span, offset)) return fieldAt(term, offset);
    return undefined;
  }
  return "field" in expr && holds(expr.field.span, offset) ? expr.field : undefined;
}

function columnDocs(column: Column, before: readonly Stage[]): string {
  const input = resultOf(before);
  if (input.kind === "events") return fieldDocs(column);
  const found = input.columns[placeOf(input.columns, columnName(column))];
  if (found === undefined) return fieldDocs(column);
  return `The column ${found.name} (${aboutColumn(found)}): ${originOf(found.name, before)}.`;
}

/** What a column of the rows comes from. */
function originOf(name: string, stages: readonly Stage[]): string {
  const at = stages.findLastIndex(givesRows);
  const stage = stages[at]!;
  const earlier = stages.slice(0, at);
  const isOfEvents = resultOf(earlier).kind === "events";
  const made = aggregatesOf(stage).find((one) => aggregateName(one) === name);
  if (made !== undefined) return `${aggregate({ ...made, as: undefined })}, from ${printStage(stage)}`;
  if (columnsNamed(stage).some((column) => columnName(column) === name)) {
    if (!isOfEvents) return originOf(name, earlier);
    return isAggregate(stage) ? `the groups of ${printStage(stage)}` : `the field ${name}`;
  }
  return name === "time"
    ? `the beginning of each step of ${printStage(stage)}`
    : `how many there are in each row of ${printStage(stage)}`;
}
