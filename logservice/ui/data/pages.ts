import { useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { type Loaded, useLoaded } from "./loaded.ts";

export interface PageOf<T> {
  readonly rows: readonly T[];
  /** The cursor by which the next page is requested; absent after the last one. */
  readonly cursor?: string | undefined;
}

/** A list that is asked for page by page, each when a person wants it. */
export interface Pages<T> {
  /** The first page, for what is shown while it is on its way. */
  readonly first: Loaded<PageOf<T>>;
  readonly rows: readonly T[];
  readonly hasMore: boolean;
  readonly isLoading: boolean;
  /** Why the next page could not be had. */
  readonly error: unknown;
  more(): Promise<void>;
  /** Asks for the first page again; the others are asked for again when they are wanted. */
  load(): Promise<void>;
}

/** `ask` takes the cursor of the page before; undefined asks for the first page. */
export function usePages<T>(
  ask: (cursor: string | undefined, signal: AbortSignal) => Promise<PageOf<T>>,
  depends: readonly unknown[],
): Pages<T> {
  const first = useLoaded((signal) => ask(undefined, signal), depends);
  const later = useSignal<readonly PageOf<T>[]>([]);
  const isLoading = useSignal(false);
  const error = useSignal<unknown>(undefined);
  const begun = first.value.value;
  // Rows that are new at the top would be in two pages, or in none.
  useEffect(() => {
    later.value = [];
    error.value = undefined;
  }, [begun]);
  const last = later.value.at(-1) ?? begun;
  return {
    first,
    rows: [...(begun?.rows ?? []), ...later.value.flatMap(({ rows }) => rows)],
    hasMore: last?.cursor !== undefined,
    isLoading: isLoading.value,
    error: error.value,
    async more() {
      if (last?.cursor === undefined || isLoading.value) return;
      isLoading.value = true;
      error.value = undefined;
      const at = begun;
      try {
        const page = await ask(last.cursor, new AbortController().signal);
        if (first.value.value === at) later.value = [...later.value, page];
      } catch (thrown) {
        error.value = thrown;
      } finally {
        isLoading.value = false;
      }
    },
    load: () => first.load(),
  };
}
