import { once } from "node:events";
import type { ServerResponse } from "node:http";
import { RpcError } from "../error.ts";
import type { TailItem } from "../events/store.ts";
import { wireEvent } from "../rpc/wire-event.ts";

/** Tells proxies and clients that the stream lives; shorter than the idle time of every usual proxy. */
const HEARTBEAT_MS = 15_000;

/**
 * Writes events as they come (server-sent events, HTML section 9.2): `data` is the event as JSON, `id` its id, so that
 * a client that comes back says in Last-Event-ID where it was. What was missed is an event `dropped` with a count, null
 * where nobody knows. Ends with the items, when the client leaves, when the signal is aborted, and then with an event
 * `error` of a type and a message if the signal's reason is an RpcError: coming back is of no use then.
 */
export async function sendTail(
  response: ServerResponse,
  items: AsyncIterableIterator<TailItem>,
  signal: AbortSignal,
): Promise<void> {
  response.writeHead(200, {
    "Content-Type": "text/event-stream",
    "Cache-Control": "no-store",
    "X-Accel-Buffering": "no",
  });
  response.write(": here\n\n");
  const heartbeat = setInterval(() => response.write(": here\n\n"), HEARTBEAT_MS);
  const stop = () => void items.return?.();
  signal.addEventListener("abort", stop, { once: true });
  try {
    for await (const item of items) {
      if (signal.aborted) break;
      // The store counts what comes meanwhile, and drops what gets too old.
      if (!response.write(frameOf(item))) await once(response, "drain", { signal }).catch(() => undefined);
    }
    const { aborted, reason } = signal;
    let isRead = !(aborted && response.writableNeedDrain);
    if (reason instanceof RpcError && !response.destroyed) isRead = response.write(errorFrame(reason));
    if (isRead) response.end();
    // The end is after what the client has not read yet, and it may never read that.
    else response.destroy();
  } finally {
    clearInterval(heartbeat);
    signal.removeEventListener("abort", stop);
    stop();
  }
}

function errorFrame({ type, message }: RpcError): string {
  return `event: error\ndata: ${JSON.stringify({ type, message })}\n\n`;
}

function frameOf(item: TailItem): string {
  if ("dropped" in item) return `event: dropped\ndata: ${JSON.stringify({ count: item.dropped })}\n\n`;
  const { id } = item.event;
  const data = JSON.stringify(wireEvent(item.event));
  // An id with a line end would end the field.
  return `${/[\r\n\0]/.test(id) ? "" : `id: ${id}\n`}data: ${data}\n\n`;
}
