import { LEVEL_SPELLINGS, LEVELS, levelOf } from "../../grammar/query/index.ts";
import { parseTimestamp } from "../../grammar/query/timestamp.ts";
import type { BatchReport } from "../../schema/rpc.generated.ts";
import { RpcError } from "../error.ts";
import { FIRST_STORABLE, isStorableTimestamp, LAST_STORABLE } from "../events/instant.ts";
import type { NewEvent } from "../events/store.ts";
import { LIMITS } from "../limits.ts";
import { isZeroTime } from "./read-input.ts";

/** The treatment of the events of a batch that are not valid. */
export interface BatchOptions {
  /** Refuse a message that is too long instead of cutting it. */
  readonly isStrict: boolean;
  /** Keep the other events of the batch. */
  readonly isPartial: boolean;
}

export interface ReadBatch {
  readonly events: readonly NewEvent[];
  /** The problems of the events that were left out. They depend on the batch alone, so that a retry gets the same. */
  readonly errors: BatchReport["errors"];
}

/** Reads the events of a batch. Unless it is partial, throws for the first that is wrong, `events[3].level: ...`. */
export function readNewEvents(
  values: readonly unknown[],
  nowMs: number,
  { isStrict, isPartial }: BatchOptions = { isStrict: false, isPartial: false },
): ReadBatch {
  const now = new Date(nowMs).toISOString();
  const batch = { events: [] as NewEvent[], errors: [] };
  for (const [index, value] of values.entries()) {
    const read = () => readNewEvent(value, `events[${index}]`, now, isStrict);
    if (isPartial) readPart(batch, index, read);
    else batch.events.push(read());
  }
  return batch;
}

/** Adds an event to a partial batch, or what is wrong with it. */
export function readPart(
  { events, errors }: { readonly events: NewEvent[]; readonly errors: BatchReport["errors"] },
  index: number,
  read: () => NewEvent,
): void {
  try {
    events.push(read());
  } catch (error) {
    if (!(error instanceof RpcError)) throw error;
    errors.push({ index, message: error.message });
  }
}

/**
 * Reads one event, as schema/rpc.schema.json describes NewEvent. `place` begins the message about what is wrong. A message
 * that is too long is cut, or refused if `isStrict`.
 */
export function readNewEvent(value: unknown, place: string, now: string, isStrict = false): NewEvent {
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    throw new RpcError("invalid", `${place}: must be an object`);
  }
  const own = (key: string): unknown =>
    Object.hasOwn(value, key) ? (value as Record<string, unknown>)[key] : undefined;
  // As a line without one is: loggers of text have none.
  const level = (optionalText(own("level"), `${place}.level`) ?? "info").toLowerCase();
  if (levelOf(level) === undefined) throw new RpcError("invalid", `${place}.level: must be one of: ${SPELLINGS}`);
  const written = own("message");
  // The one member for which "" is a value: loggers write empty messages on purpose.
  const whole = written === "" ? "" : wellFormed(textOf(written, `${place}.message`));
  const truncated = Buffer.byteLength(whole) > LIMITS.messageBytes;
  if (truncated && isStrict) {
    throw new RpcError("too_large", `${place}.message: must be at most ${LIMITS.messageBytes} bytes`);
  }
  const message = truncated ? beginningOf(whole, LIMITS.messageBytes) : whole;
  const messageBytes = Buffer.byteLength(message);
  const id = optionalText(own("id"), `${place}.id`);
  if (id !== undefined && id.length > MAX_ID_LENGTH) {
    throw new RpcError("invalid", `${place}.id: must have at most ${MAX_ID_LENGTH} characters`);
  }
  const timestamp = timeOf(own("timestamp"), `${place}.timestamp`, now);
  const { fields, fieldsJson } = fieldsOf(own("fields"), `${place}.fields`);
  if (Buffer.byteLength(fieldsJson) + messageBytes + (id?.length ?? 0) > LIMITS.eventBytes) {
    throw new RpcError("too_large", `${place}: must be at most ${LIMITS.eventBytes} bytes`);
  }
  return {
    ...(id !== undefined && { id: wellFormed(id) }),
    timestamp,
    level,
    message,
    fields,
    fieldsJson,
    ...(truncated && { truncated }),
  };
}

/** The beginning of a text, at most `maxBytes` of UTF-8, cut at the end of a character. */
function beginningOf(text: string, maxBytes: number): string {
  const bytes = Buffer.from(text);
  let end = maxBytes;
  // The bytes of a character after the first begin with the bits 10.
  while ((bytes[end]! & 0xc0) === 0x80) end--;
  return bytes.toString("utf8", 0, end);
}

/** Longer than every kind of id in use. Limited because the newest ids are kept in memory. */
export const MAX_ID_LENGTH = 255;

/** The names of the levels, with `warning` as in the specification, then the other spellings. */
const SPELLINGS = [
  ...LEVELS.map((level) => (level === "warn" ? "warning" : level)),
  ...LEVELS.flatMap((level) => LEVEL_SPELLINGS[level].filter((word) => word !== level && word !== "warning")),
  "warn",
].join(", ");

function textOf(value: unknown, place: string): string {
  const text = optionalText(value, place);
  if (text === undefined) throw new RpcError("invalid", `${place}: is required`);
  return text;
}

/** The string; undefined for the zero values, which count as absent. */
function optionalText(value: unknown, place: string): string | undefined {
  if (value === undefined || value === null || value === "" || value === 0) return undefined;
  if (typeof value !== "string") throw new RpcError("invalid", `${place}: must be a string`);
  return value;
}

function timeOf(value: unknown, place: string, now: string): string {
  const text = optionalText(value, place);
  if (text === undefined || isZeroTime(text)) return now;
  if (text.length > MAX_TIME_LENGTH || parseTimestamp(text) === undefined) {
    throw new RpcError("invalid", `${place}: must be a time like 2026-01-31T12:00:00Z`);
  }
  if (!isStorableTimestamp(text)) {
    throw new RpcError("invalid", `${place}: must be from ${FIRST_STORABLE} to ${LAST_STORABLE}`);
  }
  return text;
}

/** Nanoseconds and an offset take 35. */
const MAX_TIME_LENGTH = 64;

function fieldsOf(value: unknown, place: string): { fields: Record<string, unknown>; fieldsJson: string } {
  if (value === undefined || value === null) return { fields: {}, fieldsJson: "{}" };
  if (typeof value !== "object" || Array.isArray(value)) throw new RpcError("invalid", `${place}: must be an object`);
  const count = countKeys(value, 1, place);
  if (count > LIMITS.fieldsPerEvent) {
    throw new RpcError("invalid", `${place}: must hold at most ${LIMITS.fieldsPerEvent} fields`);
  }
  const fields = value as Record<string, unknown>;
  const fieldsJson = JSON.stringify(fields);
  if (!HALF_PAIR.test(fieldsJson)) return { fields, fieldsJson };
  // JSON.stringify escapes only halves of surrogate pairs this way; else the backslash is one of the text itself.
  const repaired = allWellFormed(fields) as Record<string, unknown>;
  return { fields: repaired, fieldsJson: JSON.stringify(repaired) };
}

const HALF_PAIR = /\\ud[89a-f]/;

/** Counts the keys at all levels. Throws at the first level that is too deep. */
function countKeys(value: object, depth: number, place: string): number {
  if (depth > LIMITS.fieldsDepth) {
    throw new RpcError("invalid", `${place}: must be at most ${LIMITS.fieldsDepth} objects and lists deep`);
  }
  const parts = Array.isArray(value) ? value : Object.values(value);
  let count = Array.isArray(value) ? 0 : parts.length;
  for (const part of parts) if (typeof part === "object" && part !== null) count += countKeys(part, depth + 1, place);
  return count;
}

/** Replaces halves of surrogate pairs, which UTF-8 cannot hold, by the replacement character. */
function wellFormed(text: string): string {
  if (!SURROGATE.test(text)) return text;
  return text.replace(/[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/g, "\ufffd");
}

const SURROGATE = /[\ud800-\udfff]/;

function allWellFormed(value: unknown): unknown {
  if (typeof value === "string") return wellFormed(value);
  if (Array.isArray(value)) return value.map(allWellFormed);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, part]) => [wellFormed(key), allWellFormed(part)]));
}
