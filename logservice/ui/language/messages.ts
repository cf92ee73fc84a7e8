import type { Problem } from "../../../grammar/problem.ts";
import type {
  CompletionItem,
  DiscoveredValues,
  KnownField,
  KnownValue,
  NearQuery,
} from "../../../grammar/query/index.ts";
import type { AlertGroupValue } from "../../../schema/rpc.generated.ts";
import type { Measured } from "../../notify/condition.ts";

/** A question of the page to the worker that knows the whole language. Plain data both ways. */
export type LanguageQuestion =
  | { readonly kind: "problems"; readonly text: string }
  | {
      readonly kind: "complete";
      readonly text: string;
      readonly offset: number;
      readonly fields: readonly KnownField[];
      /** The values that are known, by the field's name. */
      readonly values: Readonly<Record<string, readonly KnownValue[]>>;
    }
  /** Asks for the measure of an alert with this query, and for the events that belong to groups of it. */
  | { readonly kind: "alert"; readonly text: string; readonly groups?: readonly (readonly AlertGroupValue[])[] }
  /** Asks for the conditions that can never hold with these types of fields. */
  | { readonly kind: "types"; readonly text: string; readonly fields: readonly DiscoveredValues[] }
  /** Asks for the likely meanings of a query that finds nothing, with the names of the existing fields and their types. */
  | {
      readonly kind: "near";
      readonly text: string;
      readonly fields: readonly string[];
      readonly types: readonly DiscoveredValues[];
    };

export interface Answers {
  readonly problems: readonly Problem[];
  readonly complete: {
    readonly items: readonly CompletionItem[];
    /** Fields whose values were asked for and are not known yet. */
    readonly wanted: readonly string[];
  };
  readonly alert: AlertAnswer;
  readonly types: readonly Problem[];
  readonly near: NearAnswer;
}

export interface NearAnswer {
  /** Why the query may find nothing, in sentences: two conditions that exclude each other, a slip. */
  readonly reasons: readonly string[];
  /** The words of the query that are no field, though a word alone is one. */
  readonly words: readonly string[];
  /** The fields of the query that no event has, but those words. */
  readonly unknown: readonly string[];
  /** Similar queries, the likeliest first. */
  readonly queries: readonly NearQuery[];
  /** The texts that are looked for in messages, to be looked for in fields. */
  readonly texts: readonly NearText[];
}

export interface NearText {
  readonly text: string;
  /** The query that looks for it in all fields. */
  readonly anywhere: string;
  /** The queries that look for it in each: for fields that are the text, and for those that contain it. */
  readonly fields: readonly { readonly name: string; readonly is: NearQuery; readonly has: NearQuery }[];
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
  | { readonly ok: false; readonly problems: readonly string[] };

export interface Numbered<T> {
  readonly id: number;
  readonly it: T;
}
