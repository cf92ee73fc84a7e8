import type { Parsed, Problem, Span } from "../../problem.ts";
import { forEachTerm, type Pipe, type Query, target } from "../ast.ts";
import { printField } from "../print.ts";
import { type RowColumn, resultOf } from "./columns.ts";
import { functionOf } from "./functions.ts";
import { withLeading } from "./leading.ts";
import { parsePipeline } from "./parse.ts";
import { aggregatesOf, factsOf } from "./pipe-facts.ts";

/** The parsed query of an alert, and the value that it computes. */
export interface AlertQuery {
  /** Undefined selects everything. */
  readonly query: Query | undefined;
  /** Empty if events are counted. */
  readonly pipes: readonly Pipe[];
  /** The columns of the rows; empty without stages. */
  readonly columns: readonly RowColumn[];
  /**
   * The name of the value that is compared with the threshold, for people: `events`, or the column, and its unit or "".
   */
  readonly what: string;
  readonly unit: string;
  /** Whether a group without events has the value 0. Others, such as the mean of nothing, have none. */
  readonly isCount: boolean;
}

/**
 * Parses the query of an alert of the log service. What only an alert must not have is a problem `query/alert`, whose
 * message begins with "must" and is about the query: "must have no timeseries".
 */
export function parseAlertQuery(text: string): Parsed<AlertQuery> {
  const parsed = parsePipeline(text);
  if (!parsed.ok) return parsed;
  const saved = savedQueryIn(parsed.value.query);
  if (saved !== undefined) {
    const what = `must not name the saved query ${saved.name}, which only the command knows`;
    return refused(saved.span, what, "write its text");
  }
  const { query, pipes } = withLeading(parsed.value);
  const selected = query.expr === undefined ? undefined : query;
  if (pipes.length === 0) {
    const counted = { pipes, columns: [], what: "events", unit: "", isCount: true };
    return { ok: true, value: { query: selected, ...counted } };
  }
  return readPipes(selected, pipes);
}

/** The first word that looks like the name of a saved query, as the command takes them: `@slow`. */
export function savedQueryIn(query: Query): { readonly name: string; readonly span: Span } | undefined {
  let first: { readonly name: string; readonly span: Span } | undefined;
  forEachTerm(query.expr, (term) => {
    if (first !== undefined || term.kind !== "truthy" || target(term.field).at === "entry") return;
    const name = printField(term.field);
    if (name.startsWith("@")) first = { name, span: term.span };
  });
  return first;
}

function readPipes(query: Query | undefined, pipes: readonly Pipe[]): Parsed<AlertQuery> {
  const timed = pipes.find((pipe) => factsOf(pipe).gives === "steps");
  if (timed !== undefined) {
    const hint = "each interval is evaluated by itself, so write count or stats instead";
    return refused(timed.span, "must have no timeseries", hint);
  }
  const last = pipes.findLastIndex((pipe) => factsOf(pipe).gives === "groups");
  const grouping = pipes[last];
  if (grouping === undefined) {
    return refused(pipes.at(-1)!.span, "must have a stage that gives a number, such as | count by path");
  }
  const loser = pipes.slice(last).find((pipe) => factsOf(pipe).gives === "columns");
  if (loser !== undefined) {
    const what = `must have no ${loser.kind} after ${grouping.kind}`;
    return refused(loser.span, what, "the values that it groups by are needed");
  }
  const result = resultOf(pipes);
  const columns = result.kind === "rows" ? result.columns : [];
  const values = columns.filter(({ isGroup }) => !isGroup);
  const [value] = values;
  if (value === undefined || values.length > 1) {
    const names = values.map(({ name }) => name).join(", ");
    const what = "must give one number, which is compared with the threshold";
    return refused(grouping.span, what, `it gives ${names}`);
  }
  if (value.type !== "number") {
    const what = "must give a number, which is compared with the threshold";
    return refused(grouping.span, what, `${value.name} may be anything`);
  }
  const isPlainCount = aggregatesOf(grouping).length === 0;
  const what = isPlainCount ? "events" : value.name;
  return { ok: true, value: { query, pipes, columns, what, unit: value.unit ?? "", isCount: isCounted(grouping) } };
}

/** Whether the stage gives 0 for no events at all. */
function isCounted(pipe: Pipe): boolean {
  const [first] = aggregatesOf(pipe);
  if (first === undefined) return true;
  const kind = functionOf(first.call.name)?.name;
  return kind === "count" || kind === "distinct" || kind === "rate";
}

function refused(span: Span, message: string, hint?: string): Parsed<never> {
  const problem: Problem = {
    ...{ code: "query/alert", severity: "error", message, span },
    ...(hint !== undefined && { hint }),
  };
  return { ok: false, problems: [problem] };
}
