import { describe } from "../../grammar/problem.ts";
import {
  aggregatesOf,
  factsOf,
  functionOf,
  type Pipe,
  parsePipeline,
  type Query,
  type RowColumn,
  readFields,
  resultOf,
  withLeading,
} from "../../grammar/query/index.ts";

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

export type ReadAlertQuery =
  | { readonly ok: true; readonly value: AlertQuery }
  | { readonly ok: false; readonly problems: readonly string[] };

/** Reads the query of an alert. The problems are whole sentences without what they are about: "must have no timeseries". */
export function readAlertQuery(text: string): ReadAlertQuery {
  const parsed = parsePipeline(text);
  if (!parsed.ok) return { ok: false, problems: parsed.problems.map(describe) };
  const saved = readFields(parsed.value.query).find(({ name, isAlone }) => isAlone && name.startsWith("@"));
  if (saved !== undefined) {
    return refused(`must not name the saved query ${saved.name}, which only the command knows: write its text`);
  }
  const { query, pipes } = withLeading(parsed.value);
  const selected = query.expr === undefined ? undefined : query;
  if (pipes.length === 0) {
    const counted = { pipes, columns: [], what: "events", unit: "", isCount: true };
    return { ok: true, value: { query: selected, ...counted } };
  }
  return readPipes(selected, pipes);
}

/** Returns the problems of the query of an alert; empty if it has none. */
export function checkAlertQuery(text: string): readonly string[] {
  const read = readAlertQuery(text);
  return read.ok ? [] : read.problems;
}

function readPipes(query: Query | undefined, pipes: readonly Pipe[]): ReadAlertQuery {
  if (pipes.some((pipe) => factsOf(pipe).gives === "steps")) {
    return refused("must have no timeseries: each interval is evaluated by itself, so write count or stats instead");
  }
  const last = pipes.findLastIndex((pipe) => factsOf(pipe).gives === "groups");
  const grouping = pipes[last];
  if (grouping === undefined) return refused("must have a stage that gives a number, such as | count by path");
  const loser = pipes.slice(last).find((pipe) => factsOf(pipe).gives === "columns");
  if (loser !== undefined) {
    return refused(`must have no ${loser.kind} after ${grouping.kind}: the values that it groups by are needed`);
  }
  const result = resultOf(pipes);
  const columns = result.kind === "rows" ? result.columns : [];
  const values = columns.filter(({ isGroup }) => !isGroup);
  const [value] = values;
  if (value === undefined || values.length > 1) {
    const names = values.map(({ name }) => name).join(", ");
    return refused(`must give one number, which is compared with the threshold: it gives ${names}`);
  }
  if (value.type !== "number") {
    return refused(`must give a number, which is compared with the threshold: ${value.name} may be anything`);
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

const refused = (problem: string): ReadAlertQuery => ({ ok: false, problems: [problem] });
