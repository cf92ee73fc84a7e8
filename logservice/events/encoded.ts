import { levelOf, severity } from "../../grammar/query/index.ts";
import { cutTimestamp, type Instant, readInstant } from "./instant.ts";
import type { NewEvent } from "./store.ts";
import { FRAME_BYTES, type JournalLine, MADE_ID_BYTES, TRUNCATED_BYTES } from "./stored.ts";

/**
 * A new event in the form of the journal, as every way in makes it before it is appended. As a NewEvent it is parsed when
 * somebody asks for its parts; the store does not.
 */
export class EncodedEvent implements NewEvent {
  readonly id: string | undefined;
  /** The timestamp as the predicate reads it. */
  readonly ms: number;
  /** Of the event as JSON, whose id is one of ours where it has none. */
  readonly bytes: number;
  /** The line behind its sequence and project, one character for each byte of its UTF-8 (latin1). */
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

  get #parsed(): Pick<JournalLine, "s" | "l" | "x" | "m" | "f"> {
    return JSON.parse(`{${Buffer.from(this.line, "latin1").toString()}`);
  }
}

/**
 * Puts an event's line together. Names are short since they are written a hundred thousand times a second: q sequence,
 * p project, t nanoseconds, i its own id, s its own spelling of the time, l level, v severity, x whether the message is cut,
 * m message, f fields.
 */
export function encodePieces(pieces: Pieces): EncodedEvent {
  const { id, idJson, timestamp, instant, level, isCut, messageJson, fieldsJson } = pieces;
  const { ms, nanoseconds, isCanonical } = instant;
  const own = id === undefined ? "" : `,"i":${idJson}`;
  const spelled = isCanonical ? "" : `,"s":"${timestamp}"`;
  const idBytes = id === undefined ? MADE_ID_BYTES : idJson.length;
  const frameBytes = isCut ? FRAME_BYTES + TRUNCATED_BYTES : FRAME_BYTES;
  const bytes = frameBytes + idBytes + timestamp.length + level.length + messageJson.length + fieldsJson.length;
  const cut = isCut ? ',"x":true' : "";
  const line = `"t":${nanoseconds}${own}${spelled},"l":"${level}","v":${severity(levelOf(level)!)}${cut},"m":${messageJson},"f":${fieldsJson}}\n`;
  return new EncodedEvent(id, ms, bytes, line);
}

/** What is JSON is as JSON.stringify gives it, in latin1 of its UTF-8. */
export interface Pieces {
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
  return encode(wellFormed({ ...event, fieldsJson: undefined }) as NewEvent);
}

function encode({
  id,
  timestamp: written,
  level,
  truncated = false,
  message,
  fields,
  fieldsJson,
}: NewEvent): EncodedEvent {
  const timestamp = cutTimestamp(written);
  return encodePieces({
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
