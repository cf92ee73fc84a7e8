import { describe } from "../../grammar/problem.ts";
import {
  aggregatesOf,
  factsOf,
  functionOf,
  parsePipeline,
  type Query,
  type RowColumn,
  readFields,
  resultOf,
  type Stage,
  withLeading,
} from "../../grammar/query/index.ts";

/** What an alert counts or computes. */
export interface AlertQuery {
  /** Undefined selects everything. */
  readonly query: Query | undefined;
  /** Empty if events are counted. */
  readonly stages: readonly Stage[];
  /** The columns of the rows; empty without stages. */
  readonly columns: readonly RowColumn[];
  /** What is compared with the threshold, for people: `events`, or the column, and its unit or "". */
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
  const { query, stages } = withLeading(parsed.value);
  const selected = query.expr === undefined ? undefined : query;
  if (stages.length === 0) {
    const counted = { stages, columns: [], what: "events", unit: "", isCount: true };
    return { ok: true, value: { query: selected, ...counted } };
  }
  return readStages(selected, stages);
}

/** What is wrong with the query of an alert; empty if nothing is. */
export function checkAlertQuery(text: string): readonly string[] {
  const read = readAlertQuery(text);
  return read.ok ? [] : read.problems;
}

function readStages(query: Query | undefined, stages: readonly Stage[]): ReadAlertQuery {
  if (stages.some((stage) => factsOf(stage).gives === "steps")) {
    return refused("must have no timeseries: each interval is evaluated by itself, so write count or stats instead");
  }
  const last = stages.findLastIndex((stage) => factsOf(stage).gives === "groups");
  const grouping = stages[last];
  if (grouping === undefined) return refused("must have a stage that gives a number, such as | count by path");
  const loser = stages.slice(last).find((stage) => factsOf(stage).gives === "columns");
  if (loser !== undefined) {
    return refused(`must have no ${loser.kind} after ${grouping.kind}: the values that it groups by are needed`);
  }
  const result = resultOf(stages);
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
  return { ok: true, value: { query, stages, columns, what, unit: value.unit ?? "", isCount: isCounted(grouping) } };
}

/** Whether the stage gives 0 for no events at all. */
function isCounted(stage: Stage): boolean {
  const [first] = aggregatesOf(stage);
  if (first === undefined) return true;
  const kind = functionOf(first.call.name)?.name;
  return kind === "count" || kind === "distinct" || kind === "rate";
}

const refused = (problem: string): ReadAlertQuery => ({ ok: false, problems: [problem] });
