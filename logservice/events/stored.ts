import { levelOf, severity } from "../../grammar/query/index.ts";
import { parseTimestamp } from "../../grammar/query/timestamp.ts";
import { canonicalTimestamp, cutTimestamp, isCanonical, nanosecondsOf } from "./instant.ts";
import type { Event, NewEvent } from "./store.ts";

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

/**
 * The line of the journal for a new event, and the event that it is. Names are short since they are written a hundred
 * thousand times a second: q sequence, p project, t nanoseconds, i its own id, s its own spelling of the time, l level,
 * v severity, m message, f fields.
 */
export function acceptEvent(project: string, event: NewEvent, sequence: number): { stored: StoredEvent; line: string } {
  const accepted = accept(project, event, sequence);
  // JSON.stringify escapes halves of surrogate pairs, and of all that it escapes so only those begin with d. No UTF-8 has
  // them, and DuckDB refuses the line.
  if (!accepted.line.includes("\\ud")) return accepted;
  return accept(project, wellFormed({ ...event, fieldsJson: undefined }) as NewEvent, sequence);
}

/** Halves of pairs become U+FFFD, in keys, too, as everywhere that UTF-8 is written. */
function wellFormed(value: unknown): unknown {
  if (typeof value === "string") return Buffer.from(value).toString();
  if (Array.isArray(value)) return value.map(wellFormed);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, one]) => [wellFormed(key), wellFormed(one)]));
}

function accept(
  project: string,
  { id, timestamp: written, level, message, fields, fieldsJson }: NewEvent,
  sequence: number,
): { stored: StoredEvent; line: string } {
  const timestamp = cutTimestamp(written);
  const isPlain = isCanonical(timestamp);
  const t = isPlain ? plainNanoseconds(timestamp) : nanosecondsOf(timestamp);
  const json = fieldsJson ?? JSON.stringify(fields);
  const own = id === undefined ? "" : `,"i":${JSON.stringify(id)}`;
  const spelled = isPlain ? "" : `,"s":${JSON.stringify(timestamp)}`;
  const text = JSON.stringify(message);
  const line = `{"q":${sequence},"p":"${project}","t":${t}${own}${spelled},"l":"${level}","v":${severity(levelOf(level)!)},"m":${text},"f":${json}}\n`;
  const event = { id: id ?? madeId(sequence), timestamp, level, message, fields };
  const head = `{"id":${JSON.stringify(event.id)},"timestamp":"${timestamp}","level":"${level}","message":${text},"fields":`;
  const bytes = Buffer.byteLength(head) + Buffer.byteLength(json) + 1;
  return { stored: { sequence, event, ms: parseTimestamp(timestamp)!, bytes, hasOwnId: id !== undefined }, line };
}

const plainNanoseconds = (timestamp: string) => {
  const ms = Date.parse(timestamp);
  return ms > 0 ? `${ms}000000` : nanosecondsOf(timestamp);
};

/** Reads a line that `acceptEvent` wrote. */
export function readEventLine(line: string): { project: string; stored: StoredEvent } {
  const { q, p, t, i, s, l, m, f } = JSON.parse(line.replace(LARGE, '"t":"$1"')) as JournalLine;
  const event = {
    id: i ?? madeId(q),
    timestamp: s ?? canonicalTimestamp(BigInt(t)),
    level: l,
    message: m,
    fields: f,
  };
  const bytes = Buffer.byteLength(JSON.stringify(event));
  const stored = { sequence: q, event, ms: parseTimestamp(event.timestamp)!, bytes, hasOwnId: i !== undefined };
  return { project: p, stored };
}

// Nanoseconds are beyond what a JSON number reads as exactly. They stand before anything that a client wrote.
const LARGE = /"t":(-?\d+)/;

interface JournalLine {
  readonly q: number;
  readonly p: string;
  readonly t: string;
  readonly i?: string;
  readonly s?: string;
  readonly l: string;
  readonly m: string;
  readonly f: Record<string, unknown>;
}
