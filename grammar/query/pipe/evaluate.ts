import type { Entry } from "../../entry.ts";
import {
  type Aggregate as AggregateNode,
  type Column,
  type Expr,
  type Field,
  type Pipe,
  type Pipeline,
  target,
} from "../ast.ts";
import { levelOf } from "../levels.ts";
import { compilePredicate, reader } from "../predicate.ts";
import { readTime } from "../timestamp.ts";
import { columnIndex, columnName, columnOf, outputOf, type PipeInput, type RowColumn, resultOf } from "./columns.ts";
import { type FunctionKind, functionOf } from "./functions.ts";
import {
  AggregateCollector,
  Budget,
  type CellRow,
  type Collector,
  type ComputedColumn,
  Grouped,
  type Grouping,
  Kept,
  Limit,
  type MutableNotes,
  type QueryRange,
  type Read,
  SelectColumns,
  type Sink,
  Sort,
  Timeseries,
  Unique,
  Where,
} from "./operators.ts";
import type { PackedState } from "./packed.ts";
import { factsOf, isAggregate } from "./pipe-facts.ts";
import { conditionByPlace } from "./row-condition.ts";
import { sortOrder } from "./sort-order.ts";
import type { Table } from "./table.ts";

export interface PipesOptions {
  /** The clock that `timestamp > 1h` counts back from, in milliseconds since 1970. */
  readonly nowMs: number;
  /** The range that was asked for, which steps of time cover and rates divide by; otherwise that of the entries. */
  readonly range?: QueryRange;
  /** Memory for groups and values, in bytes. */
  readonly budgetBytes?: number;
}

/** The final result of the stages. */
export type PipesResult =
  /** Entries, if there is no stage that makes rows. */
  { readonly kind: "entries"; readonly entries: readonly Entry[] } | ({ readonly kind: "table" } & Table);

/** Room for about two million groups, or sixty million numbers. */
const BUDGET_BYTES = 512 * 1024 * 1024;

/**
 * The stages of a query at work: entries that the query selects are pushed in their order, and `result` says what the stages
 * give of those that have come so far. Throws `TooManyGroups` from either when memory for groups and values is used up.
 */
export class PipesRun {
  readonly #chain: Chain;
  readonly #notes: MutableNotes = { leftOut: new Map(), withoutTime: 0, estimates: new Set() };

  constructor({ pipes }: Pick<Pipeline, "pipes">, { nowMs, range = {}, budgetBytes = BUDGET_BYTES }: PipesOptions) {
    this.#chain = new Chain(pipes, { kind: "events" }, { nowMs, range, notes: this.#notes, budgetBytes });
  }

  push(entry: Entry): void {
    this.#chain.push(entry as Item);
  }

  /** Whether nothing that comes can change the result. */
  get isDone(): boolean {
    return this.#chain.isDone;
  }

  /**
   * The place of the next entry in the input, of a run that `isMergeable`: parts of an input may be pushed in any order, or
   * into runs of their own.
   */
  get nextPlace(): number {
    return this.#chain.grouped.nextPlace;
  }

  set nextPlace(place: number) {
    this.#chain.grouped.nextPlace = place;
  }

  /** About how much memory the groups and values take. */
  get takenBytes(): number {
    return this.#chain.takenBytes;
  }

  /** The collected state, as plain data that `merge` of another run of these stages adds to its own. */
  pack(): PackedState {
    return this.#chain.grouped.pack();
  }

  merge(packed: PackedState): void {
    this.#chain.grouped.merge(packed);
  }

  /** Whether there are no groups. */
  get isEmpty(): boolean {
    const { grouped } = this.#chain;
    return grouped instanceof AggregateCollector && grouped.isEmpty;
  }

  /** `rows` are those of the first aggregate, if they were collected elsewhere, and this run `isEmpty`. */
  result(rows?: readonly CellRow[]): PipesResult {
    this.#notes.leftOut.clear();
    this.#notes.estimates.clear();
    return this.#chain.result(rows);
  }

  /** The result so far, which is forgotten: of stages that are `isStreaming`. */
  take(): PipesResult {
    const result = this.result();
    this.#chain.clear();
    return result;
  }
}

/** Whether rows are given as entries come, and never change. */
export const isStreaming = ({ pipes }: Pick<Pipeline, "pipes">) =>
  pipes.every((pipe) => !factsOf(pipe).collects) && resultOf(pipes).kind === "rows";

/** The result of stages for rows that earlier ones gave. Throws `TooManyGroups` as `PipesRun` does. */
export function pipesOver(
  pipes: readonly Pipe[],
  { columns, rows }: Pick<Table, "columns" | "rows">,
  { nowMs, range = {}, budgetBytes = BUDGET_BYTES }: PipesOptions,
): Table {
  const notes: MutableNotes = { leftOut: new Map(), withoutTime: 0, estimates: new Set() };
  const chain = new Chain(pipes, { kind: "rows", columns }, { nowMs, range, notes, budgetBytes });
  for (const row of rows) {
    if (chain.isDone) break;
    chain.push(row as Item);
  }
  // Stages over rows give rows.
  return chain.result() as Table & { readonly kind: "table" };
}

/**
 * Whether runs over parts of an input give, merged, what one over all of it gives: nothing but `where` comes before the first
 * aggregate. What a limit or a sort keeps depends on all that comes before.
 */
export function isMergeable({ pipes }: Pick<Pipeline, "pipes">): boolean {
  const first = pipes.find(({ kind }) => kind !== "where");
  return first !== undefined && isAggregate(first);
}

interface ChainOptions {
  readonly nowMs: number;
  readonly range: QueryRange;
  readonly notes: MutableNotes;
  readonly budgetBytes: number;
}

// Items are entries or rows, as the input says.
type Item = never;

/** Stages up to the first that collects what comes. Those after it begin anew with each question for the result. */
class Chain {
  readonly #first: Sink<Item>;
  readonly #collector: Collector<Item, unknown>;
  readonly #output: PipeInput;
  readonly #rest: readonly Pipe[];
  readonly #limit: number;
  readonly #options: ChainOptions;
  readonly #budget: Budget;

  constructor(pipes: readonly Pipe[], input: PipeInput, options: ChainOptions) {
    const budget = new Budget(options.budgetBytes);
    this.#budget = budget;
    const at = pipes.findIndex((pipe) => factsOf(pipe).collects);
    const passing = at < 0 ? pipes : pipes.slice(0, at);
    const inputs: PipeInput[] = [input];
    for (const pipe of passing) inputs.push(outputOf(pipe, inputs.at(-1)!));
    const collecting = pipes[at];
    const last = inputs.at(-1)!;
    this.#output = collecting === undefined ? last : outputOf(collecting, last);
    this.#collector =
      collecting === undefined
        ? new Kept<Item>(budget)
        : collectorOf(collecting, {
            ...options,
            input: last,
            output: this.#output,
            budget,
            most: limitOf(pipes[at + 1]),
          });
    this.#limit = collecting?.kind === "top" ? (collecting.count?.value ?? TOP_ROWS) : Number.POSITIVE_INFINITY;
    this.#rest = at < 0 ? [] : pipes.slice(at + 1);
    this.#options = options;
    let next: Sink<Item> = this.#collector;
    for (let index = passing.length - 1; index >= 0; index--)
      next = passingOf(passing[index]!, { ...options, input: inputs[index]!, budget }, next);
    this.#first = next;
  }

  push(item: Item): void {
    this.#first.push(item);
  }

  get isDone(): boolean {
    return this.#first.isDone;
  }

  get grouped(): Grouped<Item> {
    if (this.#collector instanceof Grouped) return this.#collector;
    throw new TypeError("these stages do not begin with an aggregate");
  }

  get takenBytes(): number {
    return this.#budget.takenBytes;
  }

  /** Forgets what was given, if the last stage keeps it only for that. */
  clear(): void {
    if (this.#collector instanceof Kept) this.#collector.clear();
  }

  result(rows?: readonly CellRow[]): PipesResult {
    const isElsewhere = rows !== undefined && this.#collector instanceof AggregateCollector;
    const all = isElsewhere ? this.#collector.resultsOf(rows) : this.#collector.results();
    const items = all.length > this.#limit ? all.slice(0, this.#limit) : all;
    const stepMs = this.#collector instanceof Timeseries ? this.#collector.stepMs : undefined;
    if (this.#rest.length > 0) {
      const rest = new Chain(this.#rest, this.#output, this.#options);
      for (const item of items) {
        if (rest.isDone) break;
        rest.push(item as Item);
      }
      const result = rest.result();
      return result.kind === "table" && stepMs !== undefined ? { stepMs, ...result } : result;
    }
    const { notes } = this.#options;
    if (this.#output.kind === "events") return { kind: "entries", entries: items as readonly Entry[] };
    const { columns } = this.#output;
    return {
      kind: "table",
      columns,
      rows: items as readonly CellRow[],
      ...(stepMs !== undefined && { stepMs }),
      notes,
    };
  }
}

interface Making {
  readonly input: PipeInput;
  readonly budget: Budget;
  readonly nowMs: number;
}

const limitOf = (pipe: Pipe | undefined) => (pipe?.kind === "limit" ? pipe.count.value : Number.POSITIVE_INFINITY);

interface Collecting extends Making {
  /** How many of the first items are wanted. */
  readonly most: number;
  readonly output: PipeInput;
  readonly notes: MutableNotes;
  readonly range: QueryRange;
}

function passingOf(pipe: Pipe, making: Making, next: Sink<Item>): Sink<Item> {
  const { input, budget } = making;
  const rows = next as Sink<CellRow>;
  const read = (column: Column) => readOf(column, input);
  switch (pipe.kind) {
    case "where":
      return new Where(testOf(pipe.expr, making), next);
    case "limit":
      return new Limit(pipe.count.value, next);
    case "fields":
      return new SelectColumns(pipe.columns.map(read), rows);
    case "unique":
      return new SelectColumns(pipe.columns.map(read), new Unique(budget, rows));
    case "count":
    case "stats":
    case "timeseries":
    case "top":
    case "sort":
      throw new TypeError(`the stage ${pipe.kind} collects`);
    default:
      return pipe satisfies never;
  }
}

function collectorOf(pipe: Pipe, making: Collecting): Collector<Item, unknown> {
  const { input, budget } = making;
  switch (pipe.kind) {
    case "sort":
      return new Sort(
        pipe.keys.map(({ column, direction }) => ({
          read: readOf(column, input),
          order: sortOrder(columnOf(column, input).type),
          isDescending: direction === "desc",
        })),
        budget,
        making.most,
      );
    case "count":
      return new AggregateCollector(groupingOf(pipe.by, [], making));
    case "top":
      return new AggregateCollector(groupingOf([pipe.column], [], making));
    case "stats":
      return new AggregateCollector(groupingOf(pipe.by, pipe.aggregates, making));
    case "timeseries": {
      const stepMs = pipe.step?.kind === "number" ? pipe.step.value : undefined;
      return new Timeseries(groupingOf(pipe.by, pipe.aggregates, making), stepMs);
    }
    case "where":
    case "limit":
    case "fields":
    case "unique":
      throw new TypeError(`the stage ${pipe.kind} collects nothing`);
    default:
      return pipe satisfies never;
  }
}

const TOP_ROWS = 10;

function groupingOf(by: readonly Column[], aggregates: readonly AggregateNode[], making: Collecting): Grouping<Item> {
  const { input, output, range, budget, notes } = making;
  const columns = output.kind === "rows" ? output.columns.slice(-Math.max(1, aggregates.length)) : [];
  const counted: ComputedColumn<Item>[] = [{ kind: COUNT, read: undefined, column: columns[0]! }];
  const named = aggregates.map(
    ({ call }, at): ComputedColumn<Item> => ({
      // checkStages has refused unknown ones.
      kind: functionOf(call.name)!,
      read: call.argument === undefined ? undefined : readOf(call.argument, input),
      column: columns[at]!,
    }),
  );
  return {
    by: by.map((column) => readOf(column, input)),
    aggregates: named.length === 0 ? counted : named,
    timeOf: input.kind === "events" ? (timeOfEntry as (item: Item) => number | undefined) : () => undefined,
    range,
    budget,
    notes,
  };
}

const COUNT: FunctionKind = { name: "count", percent: 0 };

const timeOfEntry = ({ timestamp }: Entry) => (typeof timestamp === "string" ? readTime(timestamp) : undefined);

function readOf(column: Column, input: PipeInput): Read<Item> {
  if (input.kind === "events") return readOfField(column) as Read<Item>;
  const place = columnIndex(input.columns, columnName(column));
  return ((row: CellRow) => row[place]) as Read<Item>;
}

/** All spellings of a level are one value, and an entry without a time has none. */
export function readOfField(field: Field): (entry: Entry) => unknown {
  const read = reader(field);
  const place = target(field);
  if (place.at === "entry" && place.name === "timestamp") return ({ timestamp }) => timestamp || undefined;
  if (place.at !== "entry" || place.name !== "level") return read;
  return (entry) => {
    const level = read(entry);
    return typeof level === "string" ? (levelOf(level) ?? level) : level;
  };
}

function testOf(expr: Expr, { input, nowMs }: Making): (item: Item) => boolean {
  if (input.kind === "events") return compilePredicate({ source: "", expr }, { nowMs }) as (item: Item) => boolean;
  const { columns } = input;
  const test = compilePredicate({ source: "", expr: conditionByPlace(expr, columns) }, { nowMs });
  return ((row: CellRow) => test(entryOf(row, columns))) as (item: Item) => boolean;
}

/** Columns that terms test without naming them, such as `error`. All others are fields by their place. */
const OWN = new Set(["level", "message"]);

function entryOf(row: CellRow, columns: readonly RowColumn[]): Entry {
  const own: Record<string, unknown> = {};
  const fields: Record<string, unknown> = {};
  for (const [at, { name }] of columns.entries()) {
    const value = row[at];
    // A missing value is null in a row.
    if (value === null) continue;
    if (name === "stage") fields[name] = value;
    else if (OWN.has(name)) own[name] = value;
    fields[`${at}`] = value;
  }
  return { ...own, fields } as Entry;
}
