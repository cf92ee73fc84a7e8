import { parseTimestamp } from "../../grammar/query/timestamp.ts";
import type { Event } from "./store.ts";

/** An accepted event with what is asked of it again and again. */
export interface StoredEvent {
  /** Of all events of the directory, from 1, in the order of their acceptance. */
  readonly sequence: number;
  readonly event: Event;
  /** As the predicate reads the timestamp. */
  readonly ms: number;
  /** Of the event as JSON. */
  readonly bytes: number;
  /** Whether the id came with the event. */
  readonly hasOwnId: boolean;
}

/** An id of our own making, in the order of acceptance: the sequence in base 36, which SQL can make, too. */
export const madeId = (sequence: number) => sequence.toString(36).padStart(12, "0");

/** Reads a line of the journal, which encoded.ts describes. */
export function readEventLine(body: Buffer, start: number, end: number): StoredEvent {
  const { q, t, i, s, l, x, m, f } = JSON.parse(body.toString("utf8", start, end)) as JournalLine;
  // Nanoseconds are beyond what a JSON number reads as exactly, but a time without its own spelling has whole milliseconds.
  const timestamp = s ?? new Date(Math.round(t / 1_000_000)).toISOString();
  const event: Event = {
    id: i ?? madeId(q),
    timestamp,
    level: l,
    message: m,
    fields: f,
    ...(x === true && { truncated: x }),
  };
  // A text cannot hold the name of the member: its quotes were escaped.
  const messageAt = body.indexOf(MESSAGE, start) + MESSAGE.length;
  const idBytes = i === undefined ? MADE_ID_BYTES : Buffer.byteLength(JSON.stringify(i));
  const frameBytes = x === true ? FRAME_BYTES + TRUNCATED_BYTES : FRAME_BYTES;
  const bytes = frameBytes + idBytes + timestamp.length + l.length + (end - messageAt - BETWEEN_BYTES);
  return { sequence: q, event, ms: parseTimestamp(timestamp)!, bytes, hasOwnId: i !== undefined };
}

/** Of an event as JSON without its values. */
export const FRAME_BYTES = '{"id":,"timestamp":"","level":"","message":,"fields":}'.length;
/** What an event has more if its message is cut. */
export const TRUNCATED_BYTES = ',"truncated":true'.length;
export const MADE_ID_BYTES = '"000000000000"'.length;
const MESSAGE = Buffer.from(',"m":');
/** What a line has behind the name of the message and is neither message nor fields. */
const BETWEEN_BYTES = ',"f":}\n'.length;

export interface JournalLine {
  readonly q: number;
  readonly t: number;
  readonly i?: string;
  readonly s?: string;
  readonly l: string;
  readonly x?: true;
  readonly m: string;
  readonly f: Record<string, unknown>;
}
