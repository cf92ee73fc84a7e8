import { type ReadonlySignal, signal } from "@preact/signals";
import { useEffect, useMemo } from "preact/hooks";
import { isAborted, isSignedOut, isUnreachable, onceSignedIn } from "./call.ts";

/** Something that is asked of the service, and how far that is. */
export interface Loaded<T> {
  /** The last answer; it stays while another one is on its way. */
  readonly value: ReadonlySignal<T | undefined>;
  readonly error: ReadonlySignal<unknown>;
  readonly isLoading: ReadonlySignal<boolean>;
  /** Asks again. */
  load(): Promise<void>;
  /** Shows another answer than the last, such as one that a change of ours has made. Ends a load, which may be of before. */
  set(value: T): void;
  cancel(): void;
}

/** How long to wait before a service that did not answer is asked again. */
const RETRY_MS = 3_000;

/** Loads something once and by `load`. A load ends the one before. Nobody answering is asked again until somebody does, and a session that ended once there is another. */
export function loaded<T>(ask: (signal: AbortSignal) => Promise<T>, first?: T): Loaded<T> {
  const value = signal<T | undefined>(first);
  const error = signal<unknown>(undefined);
  const isLoading = signal(false);
  let running: AbortController | undefined;
  let retry: ReturnType<typeof setTimeout> | undefined;
  let unwait = (): void => {};
  const cancel = (): void => {
    clearTimeout(retry);
    unwait();
    running?.abort();
    running = undefined;
    isLoading.value = false;
  };
  const load = async (): Promise<void> => {
    cancel();
    const own = new AbortController();
    running = own;
    isLoading.value = true;
    try {
      const answer = await ask(own.signal);
      if (running !== own) return;
      value.value = answer;
      error.value = undefined;
    } catch (thrown) {
      if (running !== own || isAborted(thrown)) return;
      error.value = thrown;
      if (isUnreachable(thrown)) retry = setTimeout(load, RETRY_MS);
      else if (isSignedOut.peek()) unwait = onceSignedIn(load);
    } finally {
      if (running === own) isLoading.value = false;
    }
  };
  return {
    ...{ value, error, isLoading, load, cancel },
    set: (answer) => {
      cancel();
      value.value = answer;
      error.value = undefined;
    },
  };
}

/** Something that a component loads when it is first shown, and again when what it depends on changes. */
export function useLoaded<T>(ask: (signal: AbortSignal) => Promise<T>, depends: readonly unknown[]): Loaded<T> {
  const it = useMemo(() => loaded(ask), depends);
  useEffect(() => {
    void it.load();
    return () => it.cancel();
  }, [it]);
  return it;
}
