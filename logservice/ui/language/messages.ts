import type { Problem } from "../../../grammar/problem.ts";
import type { CompletionItem, KnownField, KnownValue } from "../../../grammar/query/index.ts";

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
    };

export interface Answers {
  readonly problems: readonly Problem[];
  readonly complete: {
    readonly items: readonly CompletionItem[];
    /** Fields whose values were asked for and are not known yet. */
    readonly wanted: readonly string[];
  };
}

export interface Numbered<T> {
  readonly id: number;
  readonly it: T;
}
