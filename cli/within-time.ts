import type { Clock } from "../grammar/units/clock.ts";

/**
 * Makes a request that ends when a time is over or `signal` is aborted: it then rejects with the reason, whatever the request
 * does. Once the headers have come, the garbage collector may take what joins `fetch` to its signal, or the signals of
 * `AbortSignal.any` and `AbortSignal.timeout`: a body that stalls would be waited for.
 */
export async function withinTime<T>(
  request: (signal: AbortSignal) => Promise<T>,
  {
    limitMs,
    signal,
    clock,
  }: { readonly limitMs: number; readonly signal?: AbortSignal | undefined; readonly clock: Clock },
): Promise<T> {
  const stop = new AbortController();
  const stopped = new Promise<never>((_, reject) => {
    stop.signal.addEventListener("abort", () => reject(stop.signal.reason));
  });
  const abort = () => stop.abort(signal?.reason);
  const timer = clock.after(limitMs, () => stop.abort(new DOMException("it takes too long", "TimeoutError")));
  signal?.addEventListener("abort", abort);
  if (signal?.aborted) abort();
  try {
    return await Promise.race([request(stop.signal), stopped]);
  } finally {
    timer.stop();
    signal?.removeEventListener("abort", abort);
  }
}
