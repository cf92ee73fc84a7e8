import type { Clock } from "../../grammar/units/clock.ts";
import { RpcError } from "../error.ts";
import type { InTurn } from "../export/route.ts";
import { QuerySlots } from "../http/query-slots.ts";
import type { Limits } from "../limits.ts";

/** Runs the queries of each token in their turn, and each within its time. */
export function queriesInTurn(limits: Limits, clock: Clock): InTurn {
  const slots = new QuerySlots(limits, clock);
  return (grant, signal, query) =>
    withinQueryTime({ clock, limitMs: limits.queryMs, signal }, (timed) =>
      slots.run(grant.id, timed, () => query(timed)),
    );
}

interface QueryTime {
  readonly clock: Clock;
  readonly limitMs: number;
  readonly signal: AbortSignal;
}

/**
 * Runs a query with a signal that is aborted when the exchange ends or the time is up. Rejects at that moment: the query
 * may need a while to end, since its process has to be killed, and keeps its slot until then.
 */
async function withinQueryTime<T>(
  { clock, limitMs, signal }: QueryTime,
  run: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const timeout = new AbortController();
  const message = `the query took longer than ${limitMs / 1000} s: narrow the time range or the query`;
  const timer = clock.after(limitMs, () => timeout.abort(new RpcError("timeout", message)));
  const timed = AbortSignal.any([signal, timeout.signal]);
  let stop = () => {};
  const stopped = new Promise<never>((_, reject) => {
    stop = () => reject(timed.reason);
    timed.addEventListener("abort", stop, { once: true });
  });
  try {
    timed.throwIfAborted();
    return await Promise.race([run(timed), stopped]);
  } finally {
    timer.stop();
    timed.removeEventListener("abort", stop);
  }
}
