export interface Keeping {
  /** How long a value is kept. */
  readonly valueMs: number;
  /** How long a failure is: callers within this time get the same error. */
  readonly failureMs: number;
  /** A clock that is never set back. */
  readonly nowMs: () => number;
}

/** A function that loads a value when it is first asked for, once for all who ask meanwhile, and keeps it for a time. */
export function keeping<T>({ valueMs, failureMs, nowMs }: Keeping, load: () => Promise<T>): () => Promise<T> {
  let entry: { readonly value: Promise<T>; untilMs: number } | undefined;
  return () => {
    if (entry !== undefined && nowMs() < entry.untilMs) return entry.value;
    // While it loads there is no end: whoever asks waits for the same value.
    const loading = { value: load(), untilMs: Number.POSITIVE_INFINITY };
    entry = loading;
    const keepFor = (ms: number) => () => {
      loading.untilMs = nowMs() + ms;
    };
    loading.value.then(keepFor(valueMs), keepFor(failureMs));
    return loading.value;
  };
}
