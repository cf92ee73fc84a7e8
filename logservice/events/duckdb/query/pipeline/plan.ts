import {
  aggregatesOf,
  type Column,
  columnIndex,
  columnName,
  type Expr,
  FUNCTIONS,
  type FunctionKind,
  type FunctionName,
  functionOf,
  groupsOf,
  outputOf,
  type Pipe,
  type RowColumn,
  stepFor,
  type Target,
  target,
} from "../../../../../grammar/query/index.ts";

/** Stages of which SQL answers the first ones: groups, and the order and number of their rows. */
export interface GroupPlan {
  /** The columns that groups are formed by, in order; of `timeseries` without the step's time. */
  readonly by: readonly Column[];
  readonly inputs: readonly AggregateInput[];
  readonly aggregates: readonly PlannedAggregate[];
  /** For `unique`: rows come in the order of the first event of each, and lists are values. */
  readonly isUnique: boolean;
  /** For `timeseries`, in milliseconds. */
  readonly stepMs: number | undefined;
  /** The columns of the rows that the grouping gives, the step's time first. */
  readonly columns: readonly RowColumn[];
  /** Conditions of the rows' numbers. */
  readonly having: readonly Having[];
  /** Places of columns, before the usual order. */
  readonly order: readonly { readonly place: number; readonly isDescending: boolean }[];
  readonly limit: number | undefined;
  /** The stages that are left to do with the rows. */
  readonly rest: readonly Pipe[];
}

/** A condition of the column at a place, which is a function's. */
export interface Having {
  readonly place: number;
  readonly operator: "=" | "!=" | "<" | "<=" | ">" | ">=";
  readonly number: number;
}

/** The values of a field that functions need. Several of them may share one. */
export interface AggregateInput {
  /**
   * `number`: its numbers, those in lists too. `presence`: whether there is a value but null. `key`: its different values,
   * those in lists too. `first` and `last`: the outermost value in the order of events.
   */
  readonly use: "number" | "presence" | "key" | "first" | "last";
  readonly column: Column;
  readonly target: Target;
}

export interface PlannedAggregate {
  readonly kind: FunctionKind;
  /** Place in `inputs`; undefined for functions without an argument. */
  readonly input: number | undefined;
}

/** Whether it is a value of the first or last event, and so depends on the order of events. */
export const isOutermost = ({ use }: Pick<AggregateInput, "use">) => use === "first" || use === "last";

/** Whether groups are sorted by a time that tells them apart. */
export const isSortedByTime = ({ order, by, columns }: GroupPlan) =>
  order.some(({ place }) => place < by.length && columns[place]!.type === "time");

/** Whether rows need the places of their events. */
export const hasPositions = (plan: GroupPlan) => plan.isUnique || isSortedByTime(plan) || plan.inputs.some(isOutermost);

/** Whether a function needs the values themselves, and not only what is known of some of them. */
export const needsValues = ({ aggregates }: GroupPlan) =>
  aggregates.some(({ kind: { name } }) => name === "pNN" || name === "distinct");

/** A longest step or more would have no end of rows. */
const MOST_STEPS = 60;

/** Undefined if the first stage makes no groups: then events have to be read in their order. */
export function groupPlan(
  pipes: readonly Pipe[],
  { startMs, stopMs }: { readonly startMs: number; readonly stopMs: number },
): GroupPlan | undefined {
  const [first] = pipes;
  if (first === undefined) return undefined;
  const calls = aggregatesOf(first).map(({ call }) => call);
  const isUnique = first.kind === "unique";
  const by = isUnique ? first.columns : groupsOf(first);
  if (by === undefined) return undefined;
  const output = outputOf(first, { kind: "events" });
  if (output.kind !== "rows") return undefined;
  const inputs: AggregateInput[] = [];
  const aggregates = calls.map(({ name, argument }): PlannedAggregate => {
    const kind = functionOf(name)!;
    if (argument === undefined) return { kind, input: undefined };
    const use = USES[kind.name];
    const name_ = columnName(argument);
    const index = inputs.findIndex((input) => input.use === use && columnName(input.column) === name_);
    if (index >= 0) return { kind, input: index };
    return { kind, input: inputs.push({ use, column: argument, target: target(argument) }) - 1 };
  });
  const isSeries = first.kind === "timeseries";
  const writtenStep = isSeries && first.step?.kind === "number" ? first.step.value : undefined;
  const { columns } = output;
  const plan = {
    by,
    inputs,
    aggregates: aggregates.length === 0 && !isUnique ? [COUNT] : aggregates,
    isUnique,
    stepMs: isSeries ? (writtenStep ?? stepFor(startMs, stopMs, MOST_STEPS)) : undefined,
    columns,
  };
  const rest = pipes.slice(1);
  switch (first.kind) {
    case "timeseries":
      return { ...plan, having: [], order: [], limit: undefined, rest };
    case "top":
      return { ...plan, having: [], order: [], limit: first.count?.value ?? TOP_ROWS, rest };
    case "unique": {
      const [limit] = rest;
      const isCut = limit?.kind === "limit";
      return {
        ...plan,
        having: [],
        order: [],
        limit: isCut ? limit.count.value : undefined,
        rest: isCut ? rest.slice(1) : rest,
      };
    }
    // Those that make no groups were left to events in their order above.
    case "where":
    case "sort":
    case "limit":
    case "fields":
    case "count":
    case "stats":
      break;
    default:
      return first satisfies never;
  }
  const [where] = rest;
  const isNumber = (place: number) => {
    const name = plan.aggregates[place - by.length]?.kind.name;
    return name !== undefined && FUNCTIONS[name].gives !== "value";
  };
  // Values that were left out are told even if no row is.
  const canFilter = inputs.every(({ use }) => use !== "number");
  const having = where?.kind === "where" && canFilter ? havingOf(where.expr, columns, isNumber) : undefined;
  return { ...plan, having: having ?? [], ...ordering(having === undefined ? rest : rest.slice(1), columns) };
}

const COUNT: PlannedAggregate = { kind: { name: "count", percent: 0 }, input: undefined };

/** Comparisons of numbers with numbers, joined by and; undefined if there is anything else. */
function havingOf(
  expr: Expr,
  columns: readonly RowColumn[],
  isNumber: (place: number) => boolean,
): readonly Having[] | undefined {
  if (expr.kind === "and") {
    const parts = expr.terms.map((term) => havingOf(term, columns, isNumber));
    return parts.every((part) => part !== undefined) ? parts.flat() : undefined;
  }
  if (expr.kind !== "comparison" || expr.value.kind !== "number") return undefined;
  const place = columnIndex(columns, columnName(expr.field));
  return isNumber(place) ? [{ place, operator: expr.op, number: expr.value.value }] : undefined;
}

const USES: Readonly<Record<FunctionName, AggregateInput["use"]>> = {
  count: "presence",
  sum: "number",
  avg: "number",
  min: "number",
  max: "number",
  pNN: "number",
  distinct: "key",
  first: "first",
  last: "last",
  // It has no argument.
  rate: "presence",
};

const TOP_ROWS = 10;

/** One `sort`, and the `limit` after it. */
function ordering(pipes: readonly Pipe[], columns: readonly RowColumn[]): Pick<GroupPlan, "order" | "limit" | "rest"> {
  const [sort] = pipes;
  const order =
    sort?.kind === "sort"
      ? sort.keys.map(({ column, direction }) => ({
          place: columnIndex(columns, columnName(column)),
          isDescending: direction === "desc",
        }))
      : [];
  const rest = order.length > 0 ? pipes.slice(1) : pipes;
  const [limit] = rest;
  if (limit?.kind === "limit") return { order, limit: limit.count.value, rest: rest.slice(1) };
  return { order, limit: undefined, rest };
}
