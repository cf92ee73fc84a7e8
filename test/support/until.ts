import { inspect } from "node:util";

/**
 * Time in which this process itself ran, not that of the machine, before what is waited for counts as never coming. It is there
 * only to end a test that hangs: no test depends on it, and none sets another one.
 */
const BOUND_MS = 60_000;
/** Between two questions: as long as the last one took, so that asking a browser takes no more than half of a core. */
const MIN_PAUSE_MS = 10;
const MAX_PAUSE_MS = 100;
/** So much of a question, with its pause, counts at most: beyond that the process, or the machine, was stopped. */
const MAX_COUNTED_MS = 1_000;
const MAX_SHOWN_LENGTH = 2_000;

/**
 * Asks until the answer is truthy, and returns it: the one way in which tests wait for what they cannot be told of. An error
 * that `ask` throws ends the wait. One that hangs says what it waited for and what it last saw: the answer, or what `seen`
 * says. Long work gives a cheap `seen` that tells how far it is, as the bound begins anew whenever that changes.
 */
export async function until<T>(what: string, ask: () => T | Promise<T>, seen?: () => unknown): Promise<NonNullable<T>> {
  let last = "";
  for (let ranMs = 0; ; ) {
    const startMs = performance.now();
    const answer = await ask();
    if (answer) return answer;
    const now = textOf(seen === undefined ? answer : await seen());
    if (seen !== undefined && now !== last) ranMs = 0;
    last = now;
    if (ranMs > BOUND_MS) throw new Error(`waited in vain for: ${what}; seen last: ${last}`);
    const pauseMs = Math.min(Math.max(performance.now() - startMs, MIN_PAUSE_MS), MAX_PAUSE_MS);
    await new Promise((resolve) => setTimeout(resolve, pauseMs));
    ranMs += Math.min(performance.now() - startMs, MAX_COUNTED_MS);
  }
}

/** Resolves as the promise does; fails with an error as that of `until` if it is never settled. */
export function within<T>(what: string, promise: Promise<T>, seen?: () => unknown): Promise<T> {
  let isSettled = false;
  const hung = until(what, () => isSettled, seen).then(() => promise);
  return Promise.race([promise, hung]).finally(() => {
    isSettled = true;
  });
}

function textOf(value: unknown): string {
  const text = typeof value === "string" ? value : inspect(value, { depth: 6 });
  return text.length > MAX_SHOWN_LENGTH ? `${text.slice(0, MAX_SHOWN_LENGTH)} ...` : text;
}
