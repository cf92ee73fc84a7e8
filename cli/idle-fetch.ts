import type { Clock } from "../grammar/units/clock.ts";
import { withinTime } from "./within-time.ts";

/**
 * `fetch` that gives up if nothing comes for a time: neither the headers, nor the next part of the body while it is read. It then
 * rejects with a TimeoutError, as reading the body does. Without it a peer that hangs is waited for until Node's own limit of five
 * minutes.
 */
export function idleFetch({ idleMs, clock }: { readonly idleMs: number; readonly clock: Clock }): typeof fetch {
  return async (input, init = {}) => {
    const { signal, ...rest } = init;
    const limits = { limitMs: idleMs, signal: signal ?? undefined, clock };
    const response = await withinTime((stop) => fetch(input, { ...rest, signal: stop }), limits);
    if (response.body === null) return response;
    const { status, statusText, headers } = response;
    return new Response(partsInTime(response.body.getReader(), limits), { status, statusText, headers });
  };
}

function partsInTime(
  reader: ReadableStreamDefaultReader<Uint8Array>,
  limits: Parameters<typeof withinTime>[1],
): ReadableStream<Uint8Array> {
  const cancel = (reason: unknown) => reader.cancel(reason).catch(() => undefined);
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        try {
          const { done, value } = await withinTime(() => reader.read(), limits);
          if (done) controller.close();
          else controller.enqueue(value);
        } catch (error) {
          void cancel(error);
          throw error;
        }
      },
      cancel,
    },
    // Nothing is read before somebody asks: a reader that takes its time is no peer that hangs.
    { highWaterMark: 0 },
  );
}
