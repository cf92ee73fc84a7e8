import type { RowColumn } from "./columns.ts";
import type { Cell } from "./values.ts";

/** The rows that the stages of a query give. */
export interface Table {
  readonly columns: readonly RowColumn[];
  readonly rows: readonly (readonly Cell[])[];
  /** For the rows of `timeseries`: the length of a step. */
  readonly stepMs?: number;
  readonly notes: TableNotes;
}

/** Notes for a reader of the rows. */
export interface TableNotes {
  /** By the column: how many values were no numbers and were left out. */
  readonly leftOut: ReadonlyMap<string, number>;
  /** Entries that `timeseries` left out as they have no time. */
  readonly withoutTime: number;
  /** Columns with values that are estimates, as there were too many to keep. */
  readonly estimates: ReadonlySet<string>;
}

/** More groups, rows or values than memory is given for, or more steps of time than anybody reads. */
export class TooManyGroups extends Error {
  readonly count: number;
  readonly what: "groups" | "sorted rows" | "rows" | "steps" | "weeks";

  /** `what`: weeks are the longest steps. */
  constructor(count: number, what: TooManyGroups["what"] = "groups") {
    super(tooMany(count.toLocaleString("en"), what));
    this.count = count;
    this.what = what;
  }

  /** Advice on how to stay below the limit. */
  get hint(): string {
    return HINTS[this.what];
  }
}

const HINTS: Readonly<Record<TooManyGroups["what"], string>> = {
  groups: "narrow the query or the period, or group by a field with fewer values",
  "sorted rows":
    "write a limit right after the sort, such as | limit 100, which keeps no more than it needs, or narrow the query or the period",
  rows: "write a limit, such as | limit 1000, or narrow the query or the period",
  steps: "narrow the period, or write a longer step",
  weeks: "narrow the period",
};

function tooMany(count: string, what: TooManyGroups["what"]): string {
  switch (what) {
    case "groups":
      return `more than ${count} groups, which is more than fits into memory`;
    case "sorted rows":
      return `sort holds all that it sorts, and more than ${count} rows do not fit into memory`;
    case "rows":
      return `more than ${count} rows, which is more than fits into memory`;
    case "steps":
    case "weeks":
      return `more than ${count} steps of time`;
  }
}
