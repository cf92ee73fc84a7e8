import type { Problem } from "../../problem.ts";
import { type Aggregate, type Column, type Expr, type Field, type Pipe, type Pipeline, target } from "../ast.ts";
import { checkQuery } from "../check.ts";
import { isTimeUnit } from "../literals.ts";
import { aggregateName, columnIndex, columnName, outputOf, type PipeInput, resultOf } from "./columns.ts";
import { FUNCTIONS, functionOf } from "./functions.ts";
import { aggregatesOf, columnsNamed } from "./pipe-facts.ts";
import { printCall } from "./print.ts";
import * as problems from "./problems.ts";
import { typedCondition } from "./row-condition.ts";
import { isStep } from "./steps.ts";

/**
 * Everything wrong with the stages of a query that the grammar accepts, in the order of the text. What a stage gives is
 * known even if something in it is wrong, so that one slip does not hide the next. `before`: stages that come first and
 * are right.
 */
export function checkPipes(
  { source, pipes }: Pick<Pipeline, "source" | "pipes">,
  before: readonly Pipe[] = [],
): Problem[] {
  const findings: Problem[] = [];
  let input: PipeInput = resultOf(before);
  for (const pipe of pipes) {
    const soFar = findings.length;
    checkPipe(pipe, { source, input, findings });
    const after = outputOf(pipe, input);
    if (findings.length === soFar && after !== input) checkNames(pipe, after, findings);
    input = after;
  }
  return findings.sort((a, b) => a.span.start - b.span.start);
}

interface Context {
  readonly source: string;
  readonly input: PipeInput;
  readonly findings: Problem[];
}

function checkPipe(pipe: Pipe, context: Context): void {
  const { source, input, findings } = context;
  switch (pipe.kind) {
    case "count":
      checkColumns(pipe.by, context);
      return;
    case "stats":
      for (const aggregate of pipe.aggregates) checkAggregate(aggregate, context);
      checkColumns(pipe.by, context);
      return;
    case "timeseries": {
      if (input.kind === "rows") findings.push(problems.noEvents(pipe.word, "timeseries"));
      const { step } = pipe;
      if (step !== undefined) {
        const isTime = step.kind === "number" && step.unit !== undefined && isTimeUnit(step.unit);
        if (!isTime || !isStep(step.value)) findings.push(problems.badStep(step.span, textOf(source, step)));
      }
      for (const aggregate of pipe.aggregates) checkAggregate(aggregate, context);
      checkColumns(pipe.by, context);
      return;
    }
    case "top":
      if (pipe.count?.value === 0) findings.push(problems.noRows(pipe.count.span, "top"));
      checkColumns([pipe.column], context);
      return;
    case "limit":
      if (pipe.count.value === 0) findings.push(problems.noRows(pipe.count.span, "limit"));
      return;
    case "sort":
      checkColumns(
        pipe.keys.map(({ column }) => column),
        context,
      );
      return;
    case "fields":
    case "unique":
      checkColumns(pipe.columns, context);
      return;
    case "where": {
      // The rest of the text is none of its business; positions stay those of the whole.
      const text = " ".repeat(pipe.word.end) + source.slice(pipe.word.end, pipe.span.end);
      for (const one of checkQuery({ source: text, expr: typedCondition(pipe.expr, input) })) {
        // A count has no unit: 1k
        const [, count] = /\bcount(?:\(\))?\W+(\d+)k$/.exec(text.slice(0, one.span.end)) ?? [];
        const at = { start: one.span.end - 1 - (count ?? "").length, end: one.span.end };
        const isThousands = count !== undefined && input.kind === "rows";
        findings.push(isThousands ? problems.foreignForm(at, `${count}k`, `${count}000`) : one);
      }
      checkNamed(pipe.expr, context);
      return;
    }
    default:
      pipe satisfies never;
  }
}

const textOf = (source: string, { span }: { readonly span: { readonly start: number; readonly end: number } }) =>
  source.slice(span.start, span.end);

function checkColumns(columns: readonly Column[], context: Context): void {
  for (const column of columns) checkColumn(column, context);
}

function checkColumn(column: Field, { source, input, findings }: Context, isCondition = false): void {
  if (input.kind === "events") {
    if (column.call === undefined) return;
    const wrong = isCondition ? problems.callInPredicate : problems.callAsField;
    findings.push(wrong(column.span, textOf(source, column), column.call.name));
    return;
  }
  const name = columnName(column);
  if (columnIndex(input.columns, name) < 0) findings.push(problems.unknownColumn(column.span, name, input.columns));
}

function checkAggregate({ call }: Aggregate, context: Context): void {
  const { input, findings } = context;
  const { name, nameSpan, argument } = call;
  const kind = functionOf(name);
  if (kind === undefined) {
    findings.push(problems.unknownFunction(nameSpan, name));
    return;
  }
  const facts = FUNCTIONS[kind.name];
  if (argument === undefined && facts.argument === "needed") findings.push(problems.missingArgument(call.span, name));
  if (argument !== undefined && facts.argument === "none") findings.push(problems.needlessArgument(call.span, name));
  if (kind.name === "rate" && input.kind === "rows") findings.push(problems.noEvents(call.span, "rate()"));
  if (argument === undefined) return;
  checkColumn(argument, context);
  const place = target(argument);
  if (facts.isOfNumbers && input.kind === "events" && place.at === "entry" && place.name !== "id")
    findings.push(problems.noNumbers(call.span, name, place.name));
}

/** Names in a predicate of rows are columns. */
function checkNamed(expr: Expr, context: Context): void {
  const { source, input, findings } = context;
  const bare = (column: string) => {
    if (input.kind === "rows" && columnIndex(input.columns, column) < 0)
      findings.push(problems.noSuchTerm(expr.span, textOf(source, expr), column));
  };
  switch (expr.kind) {
    case "or":
    case "and":
      for (const term of expr.terms) checkNamed(term, context);
      return;
    case "not":
      checkNamed(expr.term, context);
      return;
    case "level":
    case "stage":
    case "message":
      bare(expr.kind);
      return;
    default:
      checkColumn(expr.field, context, true);
  }
}

/** Two columns of one name. */
function checkNames(pipe: Pipe, output: PipeInput, findings: Problem[]): void {
  if (output.kind !== "rows") return;
  const seen = new Set<string>();
  const aggregates = aggregatesOf(pipe);
  const columns = columnsNamed(pipe);
  const double = output.columns.find(({ name }) => seen.size === seen.add(name).size);
  if (double === undefined) return;
  const aggregate = aggregates.findLast((one) => aggregateName(one) === double.name);
  const same = columns.filter((one) => columnName(one) === double.name);
  const column = same.at(-1);
  const before = same.length > 1 ? columns[columns.indexOf(column!) - 1]! : undefined;
  const at = aggregate?.span ?? column?.span ?? pipe.word;
  const canName = aggregate !== undefined && aggregate.as === undefined;
  const other = freeName(canName ? aggregate.call.name.replace(/[^\w]/g, "_") : "other", seen);
  findings.push(
    problems.duplicateColumn(at, canName ? printCall(aggregate.call) : double.name, {
      insertAt: canName ? at.end : undefined,
      needless: before && { start: before.span.end, end: at.end },
      other,
    }),
  );
}

function freeName(base: string, taken: ReadonlySet<string>): string {
  for (let number = 2; ; number++) if (!taken.has(`${base}_${number}`)) return `${base}_${number}`;
}
