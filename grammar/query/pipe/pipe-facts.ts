import type { Aggregate, Column, Expr, Pipe } from "../ast.ts";

export interface PipeFacts {
  /**
   * The output: the input, unchanged; rows of the columns that it names; a row for each group, or for each step of time
   * and group.
   */
  readonly gives: "input" | "columns" | "groups" | "steps";
  /** How much of what comes is in what it gives: all, the first ones, some, or nothing but what was computed of it. */
  readonly keeps: "all" | "first" | "some" | "none";
  /** Whether it gives nothing before it has seen all that comes, as any row may change with the next. */
  readonly collects: boolean;
  /** Whether what it gives is in another order than what comes. */
  readonly reorders: boolean;
  /** Whether functions, such as `avg(duration)`, may be written in it. */
  readonly takesFunctions: boolean;
}

const PASSING = { gives: "input", collects: false, reorders: false, takesFunctions: false } as const;
const CHOOSING = { gives: "columns", collects: false, reorders: false, takesFunctions: false } as const;
const GROUPING = { gives: "groups", keeps: "none", collects: true, reorders: true } as const;

/** Facts of each stage, for code that treats stages alike. What differs is a switch over all kinds elsewhere. */
export const PIPE_FACTS = {
  count: { ...GROUPING, takesFunctions: false },
  stats: { ...GROUPING, takesFunctions: true },
  // Steps come in the order of time, as entries do.
  timeseries: { gives: "steps", keeps: "none", collects: true, reorders: false, takesFunctions: true },
  top: { ...GROUPING, takesFunctions: false },
  where: { ...PASSING, keeps: "some" },
  sort: { ...PASSING, keeps: "all", collects: true, reorders: true },
  limit: { ...PASSING, keeps: "first" },
  fields: { ...CHOOSING, keeps: "all" },
  unique: { ...CHOOSING, keeps: "some" },
} as const satisfies Record<Pipe["kind"], PipeFacts>;

export const factsOf = ({ kind }: Pick<Pipe, "kind">): PipeFacts => PIPE_FACTS[kind];

/** Whether it computes rows of groups, with or without steps of time. */
export function isAggregate(pipe: Pick<Pipe, "kind">): boolean {
  const { gives } = factsOf(pipe);
  return gives === "groups" || gives === "steps";
}

/** Whether what comes after it sees rows, whatever came to it. */
export const givesRows = (pipe: Pick<Pipe, "kind">) => factsOf(pipe).gives !== "input";

/** Whether a word is that of a stage in which functions may be written. */
export const isOfFunctions = (word: string) =>
  Object.hasOwn(PIPE_FACTS, word) && PIPE_FACTS[word as Pipe["kind"]].takesFunctions;

/** The columns that tell its groups apart; undefined if it makes no groups. */
export function groupsOf(pipe: Pipe): readonly Column[] | undefined {
  switch (pipe.kind) {
    case "count":
    case "stats":
    case "timeseries":
      return pipe.by;
    case "top":
      return [pipe.column];
    case "where":
    case "sort":
    case "limit":
    case "fields":
    case "unique":
      return undefined;
    default:
      return pipe satisfies never;
  }
}

/** The columns that a stage names outside of functions and conditions. */
export function columnsNamed(pipe: Pipe): readonly Column[] {
  switch (pipe.kind) {
    case "count":
    case "stats":
    case "timeseries":
    case "top":
      return groupsOf(pipe)!;
    case "sort":
      return pipe.keys.map(({ column }) => column);
    case "fields":
    case "unique":
      return pipe.columns;
    case "where":
    case "limit":
      return [];
    default:
      return pipe satisfies never;
  }
}

/** Its functions; those that count without being written are none. */
export const aggregatesOf = (pipe: Pipe): readonly Aggregate[] => ("aggregates" in pipe ? pipe.aggregates : []);

/** The condition of a stage that does nothing but select. */
export const pipeCondition = (pipe: Pipe): Expr | undefined => ("expr" in pipe ? pipe.expr : undefined);

/** Whether it depends on the time of entries, or on the period that was asked for. */
export const isTimed = (pipe: Pipe) =>
  factsOf(pipe).gives === "steps" || aggregatesOf(pipe).some(({ call }) => call.name === "rate");
