import {
  type Cell,
  canonicalValue,
  compareCells,
  factsOf,
  keyOf,
  LEVELS,
  type Pipe,
  periodSeconds,
  pipesOver,
  stepCount,
  stepStart,
  stepsOf,
  TooManyGroups,
  target,
} from "../../../../../grammar/query/index.ts";
import { yieldToLoop } from "../../../event-loop.ts";
import { nanosecondsOf } from "../../../instant.ts";
import { PAGE_BYTES } from "../../../page.ts";
import { answerOf, BUDGET_BYTES, cutTo, keepsEach, type PipesAnswer } from "../../../pipes-answer.ts";
import { hasSlowWhere } from "../../../slow-query.ts";
import type { Event } from "../../../store.ts";
import { stageRunHere } from "../../engine/query-process.ts";
import { gather } from "../aggregate.ts";
import { positionIn, type QueryContext } from "../query-context.ts";
import { search } from "../search.ts";
import { answerOfGroups, firstGroups, inPlansOrder } from "./memory-answer.ts";
import { addColumns } from "./memory-columns.ts";
import { MemoryGroups, needsGroupsOnly } from "./memory-groups.ts";
import { MemoryRows } from "./memory-rows.ts";
import { type GroupPlan, groupPlan, needsValues } from "./plan.ts";
import { sourcesOf } from "./sources.ts";
import {
  cellNames,
  cutOf,
  type Form,
  type Forms,
  formOfValue,
  formsOfCells,
  groupStatement,
  numberInputs,
} from "./statement.ts";
import { type SummaryRow, summaryReader } from "./summarized.ts";
import { topEvents } from "./top-events.ts";

export interface PipesQuestion {
  /** The stages without the leading `where`s, which are part of the context's query. */
  readonly pipes: readonly Pipe[];
  /** Rows of the answer. */
  readonly limit: number;
}

/** As many steps as `timeseries` has at most elsewhere. */
const MOST_STEPS = 100_000;

/** Computes the result of the stages of a query: of groups by SQL, otherwise by reading events in their order. */
export async function runPipes(context: QueryContext, question: PipesQuestion): Promise<PipesAnswer> {
  const { startMs, stopMs } = context.selection.range;
  const plan = groupPlan(question.pipes, { startMs, stopMs });
  return plan === undefined ? inOrder(context, question) : byGroups(context, plan, question);
}

// ---- events in their order

async function inOrder(context: QueryContext, { pipes, limit }: PipesQuestion): Promise<PipesAnswer> {
  const { selection, nowMs, signal } = context;
  const { startMs, stopMs } = selection.range;
  // One more tells whether there are more.
  const span = { start: 0, end: 0 };
  const cut: Pipe = { kind: "limit", count: { value: limit + 1, span }, span, word: span };
  const all = [...pipes, cut];
  const options = { nowMs, range: { fromMs: startMs, toMs: stopMs }, budgetBytes: BUDGET_BYTES };
  const isSlow = context.process !== undefined && pipes.some(hasSlowWhere);
  const run = isSlow ? await context.process.beginRun(all, options) : stageRunHere(all, options);
  const [sort] = pipes;
  const maxRows = maxRowsOf(pipes, limit);
  if (sort?.kind === "sort" && maxRows !== undefined) {
    await run.push((await topEvents(context, sort.keys, maxRows)).map(({ event }) => event));
    return answerOf(await run.result(), limit);
  }
  // Each event is a row then, and may be large.
  const isEach = pipes.every((pipe) => factsOf(pipe).keeps === "first" || keepsEach(pipe));
  let cursor: string | undefined;
  let bytes = 0;
  do {
    const page = await search(context, { limit: PAGE_EVENTS, order: "ascending", cursor });
    await run.push(page.events.map(({ event }) => event));
    for (const one of page.events) bytes += one.bytes;
    cursor = page.cursor;
    await yieldToLoop(signal);
  } while (cursor !== undefined && !run.isDone && !(isEach && bytes > PAGE_BYTES));
  const answer = answerOf(await run.result(), limit);
  return cursor !== undefined && !run.isDone ? { ...answer, isTruncated: true } : answer;
}

/** How many events of those that the first stage sorts are looked at afterwards; undefined if that may be all. */
function maxRowsOf([, ...rest]: readonly Pipe[], limit: number): number | undefined {
  const last = rest.findIndex((pipe) => !keepsEach(pipe));
  const next = last < 0 ? undefined : rest[last];
  if (next === undefined) return limit + 1;
  return next.kind === "limit" && next.count.value <= MOST_TOP ? next.count.value : undefined;
}

/** As many rows as an answer has at most. */
const MOST_TOP = 10_001;

/** Each page is a statement over what is left. */
const PAGE_EVENTS = 10_000;

// ---- groups

async function byGroups(context: QueryContext, plan: GroupPlan, { limit }: PipesQuestion): Promise<PipesAnswer> {
  const { selection, nowMs } = context;
  const { startMs, stopMs } = selection.range;
  const { stepMs } = plan;
  if (stepMs !== undefined && stepCount(startMs, stopMs, stepMs) > MOST_STEPS)
    throw new TooManyGroups(MOST_STEPS, stepsOf(stepMs));
  const firstMs = stepMs === undefined ? 0 : stepStart(startMs, stepMs);
  const steps = stepMs === undefined ? undefined : { first: nanoseconds(firstMs), length: nanoseconds(stepMs) };
  const seconds = stepMs === undefined ? periodSeconds(startMs, stopMs) : stepMs / 1000;
  const { rows, isWhole, leftOut } = await groups(context, plan, { steps, firstMs, seconds, maxRows: limit });
  const all = stepMs === undefined ? rows : everyStep(rows, plan, { firstMs, startMs, stopMs, stepMs });
  const options = { nowMs, range: { fromMs: startMs, toMs: stopMs }, budgetBytes: BUDGET_BYTES };
  const table = { columns: plan.columns, rows: all };
  const isSlow = context.process !== undefined && plan.rest.some(hasSlowWhere);
  const {
    columns,
    rows: left,
    notes,
  } = isSlow ? await context.process.pipesOver(plan.rest, table, options) : pipesOver(plan.rest, table, options);
  const cut = cutTo(left, limit);
  return {
    columns,
    ...cut,
    isTruncated: cut.isTruncated || !isWhole,
    ...(stepMs !== undefined && { stepMs }),
    notes: { ...notes, leftOut: new Map([...leftOut, ...notes.leftOut]) },
  };
}

const nanoseconds = (ms: number) => BigInt(ms) * 1_000_000n;

interface Grouping {
  readonly steps: { readonly first: bigint; readonly length: bigint } | undefined;
  readonly firstMs: number;
  readonly seconds: number;
  readonly maxRows: number;
}

interface Grouped {
  readonly rows: readonly (readonly Cell[])[];
  readonly isWhole: boolean;
  readonly leftOut: ReadonlyMap<string, number>;
}

/** The rows of the groups in the plan's order and within its limit; those of `timeseries` as they come. */
async function groups(context: QueryContext, plan: GroupPlan, grouping: Grouping): Promise<Grouped> {
  const { steps, firstMs, seconds, maxRows } = grouping;
  const by = plan.by.map(target);
  const stepOf =
    steps && ((event: Event) => Number((BigInt(nanosecondsOf(event.timestamp)) - steps.first) / steps.length));
  const sums = needsGroupsOnly(plan) ? new MemoryGroups(plan, stepOf) : undefined;
  const memory = new MemoryRows(plan, stepOf);
  const readSummary = summaryReader(plan, by, firstMs);
  const summaries: SummaryRow[] = [];
  const parts = await gather(context, {
    summary: (summary, levels) => {
      const rows = readSummary(summary, levels);
      for (const row of rows ?? []) {
        if (sums === undefined) summaries.push(row);
        else sums.addSummary(row);
      }
      return rows !== undefined;
    },
    ask: (segment) => sourcesOf(segment, { by, inputs: plan.inputs }),
    event: ({ event }) => {
      if (sums === undefined) memory.add(event, () => positionIn(event));
      else sums.add(event);
    },
    ...(sums !== undefined && {
      memtable: (view) => addColumns(context, view, { plan, sums, firstMs }),
    }),
  });
  if (sums !== undefined && parts.length === 0) {
    const answer = inMemory(sums, plan, { seconds, maxRows });
    if (answer !== undefined) return answer;
  }
  const values = sums !== undefined && needsValues(plan) ? sums.valueRows() : [];
  if (sums !== undefined && !needsValues(plan)) for (const row of sums.rows()) summaries.push(row);
  const rowsInMemory = { memory: [...memory.rows()], summaries, values };
  const statement = groupStatement({ plan, parts, ...rowsInMemory, steps, seconds, maxRows });
  const rows: Cell[][] = [];
  const left = new Map<string, number>();
  const { text, values: bound } = statement.select;
  await context.pool.run(text, bound, context.signal, (columns) =>
    takeRows(columns, { plan, forms: statement.forms, rows, left }),
  );
  return cutGroups({ rows, left, ...statement }, plan);
}

/** Undefined if there are too many groups to sort them here. */
function inMemory(
  sums: MemoryGroups,
  plan: GroupPlan,
  { seconds, maxRows }: Pick<Grouping, "seconds" | "maxRows">,
): Grouped | undefined {
  const { order, most } = cutOf(plan, formsOfCells(plan, sums.groups), maxRows);
  const { rows, left } = answerOfGroups(sums.groups, plan, seconds);
  if (order === undefined) return cutGroups({ rows, left, isCut: false, most }, plan);
  const first = firstGroups(rows, plan, most + 1);
  return first && cutGroups({ rows: first, left, isCut: true, most }, plan);
}

interface Uncut {
  /** One more than wanted if there are more. */
  readonly rows: readonly (readonly Cell[])[];
  readonly left: ReadonlyMap<string, number>;
  readonly isCut: boolean;
  readonly most: number;
}

function cutGroups({ rows, left, isCut, most }: Uncut, plan: GroupPlan): Grouped {
  const isWhole = rows.length <= most;
  if (isCut) {
    // The stages that are left need all rows.
    if (!isWhole && most !== plan.limit && plan.rest.length > 0) throw new TooManyGroups(most);
    return { rows: rows.slice(0, most), isWhole: isWhole || most === plan.limit, leftOut: left };
  }
  if (!isWhole) throw new TooManyGroups(most);
  if (plan.stepMs !== undefined) return { rows, isWhole: true, leftOut: left };
  return { rows: inPlansOrder(rows, plan).slice(0, plan.limit), isWhole: true, leftOut: left };
}

interface Taken {
  readonly plan: GroupPlan;
  readonly forms: Forms;
  readonly rows: Cell[][];
  readonly left: Map<string, number>;
}

/** A chunk of the statement's answer. */
function takeRows(columns: readonly (readonly unknown[])[], { plan, forms, rows, left }: Taken): void {
  const { by, aggregates } = plan;
  const cells = cellNames(plan).length;
  const offset = cells - by.length;
  const read: Form[] = [
    ...(offset > 0 ? (["number"] as const) : []),
    ...forms.by,
    ...aggregates.map((one) => formOfValue(one, plan, forms)),
  ];
  const length = columns[0]!.length;
  for (let at = 0; at < length; at++) rows.push(read.map((form, n) => cellIn(form, columns[n]![at])));
  if (length === 0) return;
  for (const [n, input] of numberInputs(plan).entries()) {
    const total = columns[read.length + n]![0] as number | null;
    if (total === null || total === 0) continue;
    for (const [at, one] of aggregates.entries()) {
      if (one.input === input) left.set(plan.columns[cells + at]!.name, total);
    }
  }
}

function cellIn(form: Form, value: unknown): Cell {
  if (value === null || value === undefined) return null;
  switch (form) {
    case "number":
      return value === 0 ? 0 : value;
    case "level":
      return LEVELS[value as number];
    case "json":
      return canonicalValue(JSON.parse(value as string));
    default:
      return value;
  }
}

interface Range {
  readonly firstMs: number;
  readonly startMs: number;
  readonly stopMs: number;
  readonly stepMs: number;
}

/** A row for each step and group, also for steps in which nothing was. */
function everyStep(
  rows: readonly (readonly Cell[])[],
  { by, aggregates }: GroupPlan,
  { firstMs, startMs, stopMs, stepMs }: Range,
): readonly (readonly Cell[])[] {
  const rowsByGroup = new Map<string, Map<number, readonly Cell[]>>();
  const cells = new Map<string, readonly Cell[]>();
  for (const row of rows) {
    const group = row.slice(1, 1 + by.length);
    const key = keyOf(group);
    cells.set(key, group);
    const steps = rowsByGroup.get(key) ?? new Map<number, readonly Cell[]>();
    rowsByGroup.set(key, steps.set(row[0] as number, row));
  }
  if (by.length === 0 && cells.size === 0) cells.set("", []);
  const count = stepCount(startMs, stopMs, stepMs);
  if (count * cells.size > MOST_STEPS) throw new TooManyGroups(MOST_STEPS, stepsOf(stepMs));
  const groups = [...cells].sort(([, a], [, b]) => compareGroups(a, b));
  const nothing = aggregates.map(({ kind: { name } }): Cell => (IS_ZERO.has(name) ? 0 : null));
  const all: (readonly Cell[])[] = [];
  for (let step = 0; step < count; step++) {
    const time = new Date(firstMs + step * stepMs).toISOString();
    for (const [key, group] of groups) {
      const values =
        rowsByGroup
          .get(key)
          ?.get(step)
          ?.slice(1 + by.length) ?? nothing;
      all.push([time, ...group, ...values]);
    }
  }
  return all;
}

/** Functions that are 0 of nothing. */
const IS_ZERO: ReadonlySet<string> = new Set(["count", "distinct", "rate"]);

function compareGroups(a: readonly Cell[], b: readonly Cell[]): number {
  for (const [at, cell] of a.entries()) {
    const order = compareCells(cell, b[at]);
    if (order !== 0) return order;
  }
  return 0;
}
