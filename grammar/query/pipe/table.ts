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

/** More groups or values than memory is given for, or more steps of time than anybody reads. */
export class TooManyGroups extends Error {
  readonly count: number;
  readonly what: "groups" | "steps" | "weeks";

  /** `what`: weeks are the longest steps. */
  constructor(count: number, what: TooManyGroups["what"] = "groups") {
    super(
      `more than ${count.toLocaleString("en")} ${what === "groups" ? "groups, which is more than fits into memory" : "steps of time"}`,
    );
    this.count = count;
    this.what = what;
  }

  /** Advice on how to stay below the limit. */
  get hint(): string {
    if (this.what === "groups") return "narrow the query or the period, or group by a field with fewer values";
    return `narrow the period${this.what === "steps" ? ", or write a longer step" : ""}`;
  }
}
