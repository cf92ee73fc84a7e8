import { levelOf, type Needle, severity } from "../../../grammar/query/index.ts";
import { parseTimestamp } from "../../../grammar/query/timestamp.ts";
import { cutTimestamp, type Instant, readInstant } from "../instant.ts";
import type { Event, NewEvent } from "../store.ts";

// The line of an event in the journal: all code that writes or reads one is here, except for two
// other readers: DuckDB's read_json (duckdb/load-lines.ts), and `LineCounts` (summary/summarize.ts), which walks its bytes.

/**
 * The members of a line, in their order. Names are short since they are written a hundred thousand times a second. The
 * form is exactly what JSON.stringify gives: code looks for members by their bytes.
 */
export interface LineMembers {
  /** Sequence. */
  readonly q: number;
  /** Project. */
  readonly p: string;
  /** Nanoseconds since 1970: more digits than a float64 holds. */
  readonly t: number;
  /** The id that came with the event. */
  readonly i?: string;
  /** The timestamp as it was written, if that is not the canonical form. */
  readonly s?: string;
  /** Level, as it was written. */
  readonly l: string;
  /** Severity. */
  readonly v: number;
  /** Whether the message was cut. */
  readonly x?: true;
  /** Message. */
  readonly m: string;
  readonly f: Record<string, unknown>;
}

/**
 * A new event in the form of the journal, as every way in makes it before it is appended. As a NewEvent it is parsed when
 * its members are read, which the store does not do.
 */
export class EncodedEvent implements NewEvent {
  readonly id: string | undefined;
  /** The timestamp as the predicate reads it. */
  readonly ms: number;
  /** Size of the event as JSON, with a generated id if it came without one. */
  readonly bytes: number;
  /** The line after its sequence and project, one character for each byte of its UTF-8 (latin1). */
  readonly line: string;

  constructor(id: string | undefined, ms: number, bytes: number, line: string) {
    this.id = id;
    this.ms = ms;
    this.bytes = bytes;
    this.line = line;
  }

  get timestamp(): string {
    const { s } = this.#parsed;
    return s ?? new Date(this.ms).toISOString();
  }

  get level(): string {
    return this.#parsed.l;
  }

  get message(): string {
    return this.#parsed.m;
  }

  get fields(): Readonly<Record<string, unknown>> {
    return this.#parsed.f;
  }

  get truncated(): boolean {
    return this.#parsed.x === true;
  }

  get #parsed(): Pick<LineMembers, "s" | "l" | "x" | "m" | "f"> {
    return JSON.parse(`{${Buffer.from(this.line, "latin1").toString()}`);
  }
}

/** The whole line of an event, in latin1 like the event's own part. */
export const eventLine = (sequence: number, project: string, event: EncodedEvent) =>
  `{"q":${sequence},"p":"${project}",${event.line}`;

/**
 * Puts an event's line together, without its sequence and project. `LineMembers` describes its members.
 */
export function encodeLine(values: LineValues): EncodedEvent {
  const { id, idJson, timestamp, instant, level, isCut, messageJson, fieldsJson } = values;
  const { ms, nanoseconds, isCanonical } = instant;
  const own = id === undefined ? "" : `,"i":${idJson}`;
  const spelled = isCanonical ? "" : `,"s":"${timestamp}"`;
  const idBytes = id === undefined ? GENERATED_ID_BYTES : idJson.length;
  const frameBytes = isCut ? FRAME_BYTES + TRUNCATED_BYTES : FRAME_BYTES;
  const bytes = frameBytes + idBytes + timestamp.length + level.length + messageJson.length + fieldsJson.length;
  const cut = isCut ? ',"x":true' : "";
  const line = `"t":${nanoseconds}${own}${spelled},"l":"${level}","v":${severity(levelOf(level)!)}${cut},"m":${messageJson},"f":${fieldsJson}}\n`;
  return new EncodedEvent(id, ms, bytes, line);
}

/** The values of a line; those that are JSON are as JSON.stringify gives them, in latin1 of their UTF-8. */
export interface LineValues {
  readonly id: string | undefined;
  /** Empty where there is no id. */
  readonly idJson: string;
  /** Without digits beyond nanoseconds. */
  readonly timestamp: string;
  readonly instant: Instant;
  readonly level: string;
  /** Whether the message is the beginning of a longer one. */
  readonly isCut: boolean;
  readonly messageJson: string;
  readonly fieldsJson: string;
}

/** The form of an event whose limits were checked. */
export function encodeEvent(event: NewEvent): EncodedEvent {
  if (event instanceof EncodedEvent) return event;
  const encoded = encode(event);
  // JSON.stringify escapes halves of surrogate pairs, and of all that it escapes so only those begin with d. No UTF-8 has
  // them, and DuckDB refuses the line.
  if (!encoded.line.includes("\\ud")) return encoded;
  return encode(wellFormedEvent(event));
}

/** The event without halves of surrogate pairs, which UTF-8 does not have. */
export const wellFormedEvent = (event: NewEvent): NewEvent =>
  wellFormed({ ...event, fieldsJson: undefined }) as NewEvent;

function encode({
  id,
  timestamp: timestampText,
  level,
  truncated = false,
  message,
  fields,
  fieldsJson,
}: NewEvent): EncodedEvent {
  const timestamp = cutTimestamp(timestampText);
  return encodeLine({
    id,
    idJson: id === undefined ? "" : latin1(JSON.stringify(id)),
    timestamp,
    instant: readInstant(timestamp)!,
    level,
    isCut: truncated,
    messageJson: latin1(JSON.stringify(message)),
    fieldsJson: latin1(fieldsJson ?? JSON.stringify(fields)),
  });
}

function latin1(text: string): string {
  return /[\u0080-\uffff]/.test(text) ? Buffer.from(text).toString("latin1") : text;
}

/** Halves of pairs become U+FFFD, in keys, too, as everywhere that UTF-8 is written. */
function wellFormed(value: unknown): unknown {
  if (typeof value === "string") return Buffer.from(value).toString();
  if (Array.isArray(value)) return value.map(wellFormed);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, one]) => [wellFormed(key), wellFormed(one)]));
}

/** Nanoseconds since 1970, as digits, of the event whose line begins at `start`. */
export function nanosecondsIn(body: Buffer, start: number): string {
  // Before it are only a number and a project's key.
  const begin = body.indexOf(TIME_MEMBER, start) + TIME_MEMBER.length;
  return body.toString("latin1", begin, body.indexOf(",", begin));
}

const TIME_MEMBER = '"t":';

/** An accepted event, with what queries use again and again. */
export interface StoredEvent {
  /** Counts all events of the directory from 1, in the order of their acceptance. */
  readonly sequence: number;
  readonly event: Event;
  /** The timestamp as the predicate reads it. */
  readonly ms: number;
  /** Size of the event as JSON. */
  readonly bytes: number;
  /** Whether the id came with the event. */
  readonly hasOwnId: boolean;
}

/** The id of an event that came without one, in the order of acceptance: the sequence in base 36, which SQL can compute. */
export const generatedId = (sequence: number) => sequence.toString(36).padStart(12, "0");

/** Reads a line that `eventLine` gave. */
export function decodeLine(body: Buffer, start: number, end: number): StoredEvent {
  const { q, t, i, s, l, x, m, f } = JSON.parse(body.toString("utf8", start, end)) as LineMembers;
  // JSON numbers do not hold nanoseconds exactly, but a time without a spelling of its own has whole milliseconds.
  const timestamp = s ?? new Date(Math.round(t / 1_000_000)).toISOString();
  const event: Event = {
    id: i ?? generatedId(q),
    timestamp,
    level: l,
    message: m,
    fields: f,
    ...(x === true && { truncated: x }),
  };
  // A string value cannot contain the name of the member: its quotes are escaped.
  const messageAt = body.indexOf(MESSAGE, start) + MESSAGE.length;
  const idBytes = i === undefined ? GENERATED_ID_BYTES : Buffer.byteLength(JSON.stringify(i));
  const frameBytes = x === true ? FRAME_BYTES + TRUNCATED_BYTES : FRAME_BYTES;
  const bytes = frameBytes + idBytes + timestamp.length + l.length + (end - messageAt - BETWEEN_BYTES);
  return { sequence: q, event, ms: parseTimestamp(timestamp)!, bytes, hasOwnId: i !== undefined };
}

/** Size of an event as JSON without its values. */
export const FRAME_BYTES = '{"id":,"timestamp":"","level":"","message":,"fields":}'.length;
/** Size of the member that an event has in addition if its message is cut. */
const TRUNCATED_BYTES = ',"truncated":true'.length;
export const GENERATED_ID_BYTES = '"000000000000"'.length;
const MESSAGE = Buffer.from(',"m":');
/** The length of the text that follows the name of the message in a line and is neither message nor fields. */
const BETWEEN_BYTES = ',"f":}\n'.length;

/** The members of each line of a body, with the time in all its digits. */
export function* eachLine(body: Buffer): Generator<LineMembers & { readonly nanoseconds: string }> {
  for (const line of body.toString().split("\n")) {
    if (line === "") continue;
    const members = JSON.parse(line) as LineMembers;
    yield { ...members, nanoseconds: /"t":(-?\d+)/.exec(line)![1]! };
  }
}

/** Finds the lines of events of some severities. */
export function severityNeedle(severities: ReadonlySet<number>): Needle {
  return { bytes: SEVERITY, isQuoted: true, accepts: (bytes, at) => severities.has(bytes[at]! - ZERO) };
}

/** Its name and what is before the digit, without the first quotation mark. */
const SEVERITY = Buffer.from('v":');
const ZERO = 0x30;

/** The bytes of a member by which lines are searched. */
export const idMember = (id: string) => `"i":${JSON.stringify(id)},`;
