import type { Aggregate, Column, Expr, Stage } from "../ast.ts";

export interface StageFacts {
  /**
   * What it gives: what comes to it, unchanged; rows of the columns that it names; a row for each group, or for each step of
   * time and group.
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

/** What each stage is, for all that treats stages alike. What differs for each is a switch over all kinds elsewhere. */
export const STAGE_FACTS = {
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
} as const satisfies Record<Stage["kind"], StageFacts>;

export const factsOf = ({ kind }: Pick<Stage, "kind">): StageFacts => STAGE_FACTS[kind];

/** Whether it computes rows of groups, with or without steps of time. */
export function isAggregate(stage: Pick<Stage, "kind">): boolean {
  const { gives } = factsOf(stage);
  return gives === "groups" || gives === "steps";
}

/** Whether what comes after it sees rows, whatever came to it. */
export const givesRows = (stage: Pick<Stage, "kind">) => factsOf(stage).gives !== "input";

/** Whether a word is that of a stage in which functions may be written. */
export const isOfFunctions = (word: string) =>
  Object.hasOwn(STAGE_FACTS, word) && STAGE_FACTS[word as Stage["kind"]].takesFunctions;

/** The columns that tell its groups apart; undefined if it makes no groups. */
export function groupsOf(stage: Stage): readonly Column[] | undefined {
  switch (stage.kind) {
    case "count":
    case "stats":
    case "timeseries":
      return stage.by;
    case "top":
      return [stage.column];
    case "where":
    case "sort":
    case "limit":
    case "fields":
    case "unique":
      return undefined;
    default:
      return stage satisfies never;
  }
}

/** The columns that a stage names outside of functions and conditions. */
export function columnsNamed(stage: Stage): readonly Column[] {
  switch (stage.kind) {
    case "count":
    case "stats":
    case "timeseries":
    case "top":
      return groupsOf(stage)!;
    case "sort":
      return stage.keys.map(({ column }) => column);
    case "fields":
    case "unique":
      return stage.columns;
    case "where":
    case "limit":
      return [];
    default:
      return stage satisfies never;
  }
}

/** Its functions; those that count without being written are none. */
export const aggregatesOf = (stage: Stage): readonly Aggregate[] => ("aggregates" in stage ? stage.aggregates : []);

/** The condition of a stage that does nothing but select. */
export const conditionOf = (stage: Stage): Expr | undefined => ("expr" in stage ? stage.expr : undefined);

/** Whether it depends on the time of entries, or on the period that was asked for. */
export const isTimed = (stage: Stage) =>
  factsOf(stage).gives === "steps" || aggregatesOf(stage).some(({ call }) => call.name === "rate");
