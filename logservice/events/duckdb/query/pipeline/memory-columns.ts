// Groups of the events of a memtable by its columns, without a look at any event.
import { target } from "../../../../../grammar/query/index.ts";
import type { ColumnFilter } from "../../../column-filter.ts";
import { Yielder } from "../../../event-loop.ts";
import { nanosecondsIn } from "../../../journal/line.ts";
import type { MemtableBatch } from "../../../memtable.ts";
import type { ColumnRequest, ValueColumn } from "../../../memtable-columns.ts";
import type { MemtableView } from "../../../memtables.ts";
import type { QueryContext } from "../query-context.ts";
import type { MemoryGroups } from "./memory-groups.ts";
import type { AggregateInput, GroupPlan } from "./plan.ts";

const SPAN = { start: 0, end: 0 };
const LEVEL: ColumnRequest = {
  column: { path: [{ kind: "key", key: "level", span: SPAN }], span: SPAN },
  use: "values",
};

const USES: Partial<Record<AggregateInput["use"], ColumnRequest["use"]>> = { number: "numbers", key: "values" };

interface Grouping {
  readonly plan: GroupPlan;
  readonly sums: MemoryGroups;
  /** The time at which the first step begins. */
  readonly firstMs: number;
}

/**
 * Adds the selected events of a memtable. Returns false, and adds none, if they should be read one by one: the columns take
 * too much memory, the query is not of columns, or it is asked for the first time and their lines are found by their bytes.
 */
export async function addColumns(
  { selection, signal }: QueryContext,
  { events, length }: MemtableView,
  { plan, sums, firstMs }: Grouping,
): Promise<boolean> {
  const { columns: columnFilter } = selection;
  if (columnFilter === undefined) return false;
  const by = plan.by.map((column): ColumnRequest => ({ column, use: "values" }));
  const inputs = plan.inputs.map(({ column, use }): ColumnRequest => ({ column, use: USES[use] ?? "presence" }));
  const requests = [...by, ...inputs, ...columnFilter.requests];
  if (selection.filter !== undefined && !isOfLevels(columnFilter) && !events.columns.isWorth(requests)) return false;
  // That of the levels comes with the first question: it costs little, and many questions are of some levels.
  const columns = await events.columns.read([...requests, LEVEL], length, signal);
  if (columns === undefined) return false;
  const adder = sums.adder(
    columns.slice(0, by.length) as ValueColumn[],
    columns.slice(by.length, by.length + inputs.length),
  );
  const isSelected = columnFilter.over(columns.slice(by.length + inputs.length));
  const { startMs } = selection;
  const { stopMs } = selection.range;
  const { stepMs } = plan;
  const yielder = new Yielder();
  for (const batch of events.batches) {
    if (batch.eventsBefore >= length) break;
    if (batch.lastMs < startMs || batch.firstMs > stopMs) continue;
    const { times } = batch.lines;
    for (let index = 0; index < times.length; index++) {
      const ms = times[index]!;
      const place = batch.eventsBefore + index;
      if (ms < startMs || ms > stopMs || !isSelected(place)) continue;
      adder.add(place, stepMs === undefined ? 0 : stepOf(batch, index, { firstMs, stepMs }));
    }
    if (yielder.isDue()) await yielder.rest(signal);
  }
  adder.finish();
  return true;
}

/** As good as all questions of groups have the column of levels. */
const isOfLevels = ({ requests }: ColumnFilter) =>
  requests.every(({ column }) => {
    const place = target(column);
    return place.at === "entry" && place.name === "level";
  });

/** The step of an event. Float64 rounds the last nanoseconds before a step up to its begin: these are looked at. */
function stepOf(
  batch: MemtableBatch,
  index: number,
  steps: { readonly firstMs: number; readonly stepMs: number },
): number {
  const { times, body, starts } = batch.lines;
  const offsetMs = times[index]! - steps.firstMs;
  const step = Math.floor(offsetMs / steps.stepMs);
  if (offsetMs !== step * steps.stepMs) return step;
  const nanoseconds = BigInt(nanosecondsIn(body, starts[index]!));
  return nanoseconds < BigInt(times[index]!) * 1_000_000n ? step - 1 : step;
}
