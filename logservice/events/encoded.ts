import { levelOf, severity } from "../../grammar/query/index.ts";
import { cutTimestamp, type Instant, readInstant } from "./instant.ts";
import type { NewEvent } from "./store.ts";

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

  get #parsed(): { readonly s?: string; readonly l: string; readonly m: string; readonly f: Record<string, unknown> } {
    return JSON.parse(`{${Buffer.from(this.line, "latin1").toString()}`);
  }
}

/**
 * Puts an event's line together. Names are short since they are written a hundred thousand times a second: q sequence,
 * p project, t nanoseconds, i its own id, s its own spelling of the time, l level, v severity, m message, f fields.
 */
export function encodePieces({ id, idJson, timestamp, instant, level, messageJson, fieldsJson }: Pieces): EncodedEvent {
  const { ms, nanoseconds, isCanonical } = instant;
  const own = id === undefined ? "" : `,"i":${idJson}`;
  const spelled = isCanonical ? "" : `,"s":"${timestamp}"`;
  const idBytes = id === undefined ? MADE_ID_BYTES : idJson.length;
  const bytes = FRAME_BYTES + idBytes + timestamp.length + level.length + messageJson.length + fieldsJson.length;
  const line = `"t":${nanoseconds}${own}${spelled},"l":"${level}","v":${severity(levelOf(level)!)},"m":${messageJson},"f":${fieldsJson}}\n`;
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
  readonly messageJson: string;
  readonly fieldsJson: string;
}

const FRAME_BYTES = '{"id":,"timestamp":"","level":"","message":,"fields":}'.length;
const MADE_ID_BYTES = '"000000000000"'.length;

/** The form of an event whose limits were checked. */
export function encodeEvent(event: NewEvent): EncodedEvent {
  if (event instanceof EncodedEvent) return event;
  const encoded = encode(event);
  // JSON.stringify escapes halves of surrogate pairs, and of all that it escapes so only those begin with d. No UTF-8 has
  // them, and DuckDB refuses the line.
  if (!encoded.line.includes("\\ud")) return encoded;
  return encode(wellFormed({ ...event, fieldsJson: undefined }) as NewEvent);
}

function encode({ id, timestamp: written, level, message, fields, fieldsJson }: NewEvent): EncodedEvent {
  const timestamp = cutTimestamp(written);
  return encodePieces({
    id,
    idJson: id === undefined ? "" : latin1(JSON.stringify(id)),
    timestamp,
    instant: readInstant(timestamp)!,
    level,
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
