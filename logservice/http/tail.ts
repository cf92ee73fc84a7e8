import { once } from "node:events";
import type { ServerResponse } from "node:http";
import type { Clock } from "../../grammar/units/clock.ts";
import { RpcError } from "../error.ts";
import { StoreError, type TailItem } from "../events/store.ts";
import { wireEvent } from "../rpc/wire-event.ts";

/** How often a comment keeps the stream alive: more often than usual proxies close idle connections. */
const HEARTBEAT_MS = 15_000;

/**
 * Streams events as server-sent events (HTML section 9.2). `data` is the event as JSON and `id` its id, so that a client
 * that reconnects sends in Last-Event-ID where it was. Missed events are reported by an event `dropped` with their count,
 * or null if it is unknown. Ends when the items end, the client disconnects or the signal is aborted. If the signal's reason
 * is an RpcError, or the items end with a StoreError, the last event is `error` with its type and message: reconnecting would
 * be of no use.
 */
export async function sendTail(
  response: ServerResponse,
  items: AsyncIterableIterator<TailItem>,
  signal: AbortSignal,
  clock: Clock,
): Promise<void> {
  response.writeHead(200, {
    "Content-Type": "text/event-stream",
    "Cache-Control": "no-store",
    "X-Accel-Buffering": "no",
  });
  response.write(": here\n\n");
  const heartbeat = clock.every(HEARTBEAT_MS, () => response.write(": here\n\n"));
  const stop = () => void items.return?.();
  signal.addEventListener("abort", stop, { once: true });
  // The credential may have ended since it was looked up.
  if (signal.aborted) stop();
  try {
    const failure = await sendItems(response, items, signal);
    const { aborted, reason } = signal;
    const error = aborted ? reason : failure;
    let isRead = !(aborted && response.writableNeedDrain);
    if (error instanceof RpcError && !response.destroyed) isRead = response.write(errorFrame(error));
    if (isRead) response.end();
    // The end would come after what the client has not read yet, and it may never read that.
    else response.destroy();
  } finally {
    heartbeat.stop();
    signal.removeEventListener("abort", stop);
    stop();
  }
}

/** Sends the items until they end. Returns why, if the store could not go on. */
async function sendItems(
  response: ServerResponse,
  items: AsyncIterableIterator<TailItem>,
  signal: AbortSignal,
): Promise<RpcError | undefined> {
  try {
    for await (const item of items) {
      if (signal.aborted) break;
      // The store buffers events meanwhile, and drops and counts those that do not fit.
      if (!response.write(frameOf(item))) await once(response, "drain", { signal }).catch(() => undefined);
    }
    return undefined;
  } catch (error) {
    if (error instanceof StoreError) return new RpcError(error.type, error.message, { cause: error });
    throw error;
  }
}

function errorFrame({ type, message }: RpcError): string {
  return `event: error\ndata: ${JSON.stringify({ type, message })}\n\n`;
}

function frameOf(item: TailItem): string {
  if ("dropped" in item) return `event: dropped\ndata: ${JSON.stringify({ count: item.dropped })}\n\n`;
  const { id } = item.event;
  const data = JSON.stringify(wireEvent(item.event));
  // A line break in the id would end the field.
  return `${/[\r\n\0]/.test(id) ? "" : `id: ${id}\n`}data: ${data}\n\n`;
}
