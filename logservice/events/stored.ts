import { parseTimestamp } from "../../grammar/query/timestamp.ts";
import type { Event } from "./store.ts";

/** An accepted event with what is asked of it again and again. */
export interface StoredEvent {
  /** Of all events of the directory, from 1, in the order of their acceptance. */
  readonly sequence: number;
  readonly event: Event;
  /** As the predicate reads the timestamp. */
  readonly ms: number;
  /** Whether the id came with the event. */
  readonly hasOwnId: boolean;
}

/** An id of our own making, in the order of acceptance: the sequence in base 36, which SQL can make, too. */
export const madeId = (sequence: number) => sequence.toString(36).padStart(12, "0");

/** Reads a line of the journal: see encoded.ts. */
export function readEventLine(line: string): StoredEvent {
  const { q, t, i, s, l, m, f } = JSON.parse(line) as JournalLine;
  // Nanoseconds are beyond what a JSON number reads as exactly, but a time without its own spelling has whole milliseconds.
  const timestamp = s ?? new Date(Math.round(t / 1_000_000)).toISOString();
  const event = { id: i ?? madeId(q), timestamp, level: l, message: m, fields: f };
  return { sequence: q, event, ms: parseTimestamp(timestamp)!, hasOwnId: i !== undefined };
}

interface JournalLine {
  readonly q: number;
  readonly t: number;
  readonly i?: string;
  readonly s?: string;
  readonly l: string;
  readonly m: string;
  readonly f: Record<string, unknown>;
}
