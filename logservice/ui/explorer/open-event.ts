import type { Event } from "../../../schema/rpc.generated.ts";
import { call } from "../data/call.ts";

/** The event that an address names: its time and its id. */
export interface EventPlace {
  readonly timeMs: number;
  readonly timestamp: string;
  readonly id: string;
}

/** How the address names an event. */
export const eventText = ({ timestamp, id }: Pick<Event, "timestamp" | "id">) => `${timestamp}~${id}`;

export function eventPlace(text: string): EventPlace | undefined {
  const at = text.indexOf("~");
  const timestamp = text.slice(0, at);
  const timeMs = Date.parse(timestamp);
  return at > 0 && !Number.isNaN(timeMs) ? { timeMs, timestamp, id: text.slice(at + 1) } : undefined;
}

/** So many events of one moment are looked through. */
const MOST = 10_000;

/** Reads the event at a place, whatever the query is; undefined if it is not there any more. */
export async function readEventAt(
  projectId: string,
  { timestamp, id }: EventPlace,
  signal: AbortSignal,
): Promise<Event | undefined> {
  const input = { project_id: projectId, start: timestamp, stop: timestamp, limit: MOST };
  const { events } = await call("search", input, { signal });
  return events.find((event) => event.id === id);
}
