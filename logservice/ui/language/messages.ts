import type { Problem } from "../../../grammar/problem.ts";
import type { CompletionItem, KnownField, KnownValue } from "../../../grammar/query/index.ts";
import type { AlertGroupValue } from "../../../schema/rpc.generated.ts";
import type { Measured } from "../../notify/condition.ts";

/** What the page asks the worker that knows the whole language. Plain data both ways. */
export type Question =
  | { readonly kind: "problems"; readonly text: string }
  | {
      readonly kind: "complete";
      readonly text: string;
      readonly offset: number;
      readonly fields: readonly KnownField[];
      /** The values that are known, by the field's name. */
      readonly values: Readonly<Record<string, readonly KnownValue[]>>;
    }
  /** What an alert with this query compares, and which events belong to groups of it. */
  | { readonly kind: "alert"; readonly text: string; readonly groups?: readonly (readonly AlertGroupValue[])[] };

export interface Answers {
  readonly problems: readonly Problem[];
  readonly complete: {
    readonly items: readonly CompletionItem[];
    /** Fields whose values were asked for and are not known yet. */
    readonly wanted: readonly string[];
  };
  readonly alert: AlertAnswer;
}

export type AlertAnswer =
  | {
      readonly ok: true;
      readonly measured: Measured;
      /** Whether there is a number for each of several groups. */
      readonly isGrouped: boolean;
      /** The query of the events of each group that was asked for. */
      readonly queries: readonly string[];
    }
  /** Why no alert may have the query: "must have no timeseries". Empty if the text is no query at all. */
  | { readonly ok: false; readonly refusals: readonly string[] };

export interface Numbered<T> {
  readonly id: number;
  readonly it: T;
}
