import type { Pipe, PipesResult, PipesRun, Query, RowColumn, TooManyGroups } from "../../../../grammar/query/index.ts";
import type { SqlValue } from "../../../../grammar/query/sql/condition.ts";
import type { Event } from "../../store.ts";
import type { Columns } from "../connection-pool.ts";

/** The questions that a process of a query answers. */
export type EngineJob =
  /** Rows of a statement, in answers of `columns`, then `done`. */
  | { readonly kind: "statement"; readonly text: string; readonly values: readonly SqlValue[] }
  /** Places of the lines of the journal that the query selects. `ends` are the ends of the lines in the body. */
  | { readonly kind: "lines"; readonly by: Selecting; readonly body: Uint8Array; readonly ends: Uint32Array }
  /** Places of the events that the query selects. */
  | { readonly kind: "events"; readonly by: Selecting; readonly events: readonly Event[] }
  /** Begins a run of stages, to which `push` gives events; `done` has whether it needs no more. */
  | { readonly kind: "begin"; readonly pipes: readonly Pipe[]; readonly options: PipesOptions }
  | { readonly kind: "push"; readonly events: readonly Event[] }
  | { readonly kind: "result" }
  /** Runs stages over rows. */
  | {
      readonly kind: "rows";
      readonly pipes: readonly Pipe[];
      readonly table: { readonly columns: readonly RowColumn[]; readonly rows: PipesRows };
      readonly options: PipesOptions;
    };

type PipesOptions = ConstructorParameters<typeof PipesRun>[1];

type PipesRows = Extract<PipesResult, { kind: "table" }>["rows"];

/** The selection of a query, and the time of day that it is made at. */
export interface Selecting {
  readonly query: Query;
  readonly nowMs: number;
}

export type EngineRequest = EngineJob & { readonly number: number };

export type EngineAnswer =
  | { readonly number: number; readonly columns: Columns }
  | { readonly number: number; readonly done: unknown }
  | { readonly number: number; readonly error: string; readonly tooMany: TooManyParts | undefined };

/** The parts of an error of TooManyGroups. */
export interface TooManyParts {
  readonly count: number;
  readonly what: TooManyGroups["what"];
}
