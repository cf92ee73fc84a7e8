import { isUtf8 } from "node:buffer";
import { promisify } from "node:util";
import { gunzip } from "node:zlib";
import { RpcError } from "../error.ts";

/** An event of a log stream, as a subscription of CloudWatch Logs delivers it. */
export interface CloudWatchEvent {
  readonly group: string;
  readonly stream: string;
  /** The same each time that the event is delivered. */
  readonly id: string;
  /** Milliseconds since 1970. */
  readonly timeMs: number;
  readonly message: string;
}

/**
 * Reads a record: a message of a subscription, or several one after the other; in gzip, or as Firehose decompressed them. What
 * only tests whether the destination is there (CONTROL_MESSAGE) has no events. Throws `bad_request` and `too_large`.
 *
 * Source: "Log group-level subscription filters" of the CloudWatch Logs User Guide.
 */
export async function readSubscription(
  record: Buffer,
  place: string,
): Promise<{ readonly events: readonly CloudWatchEvent[]; readonly bytes: number }> {
  const bytes = isGzip(record) ? await unpacked(record, place) : record;
  if (bytes.length > MAX_RECORD_BYTES) throw tooLarge(place);
  if (!isUtf8(bytes)) throw new RpcError("bad_request", `${place}: is neither gzip nor UTF-8`);
  const texts = jsonTexts(bytes.toString(), place);
  return { events: texts.flatMap((text) => eventsOf(text, place)), bytes: bytes.length };
}

/** When decompressed. CloudWatch makes a record of what was logged in one call, about a megabyte. */
const MAX_RECORD_BYTES = 32 * 1024 * 1024;

/** Objects and lists in a record, of which each event is one. An event as it is delivered has more than a hundred bytes. */
const MAX_OPENINGS = 400_000;

/** Nested objects and lists. Theirs are four deep, with the fields that a filter extracts. */
const MAX_DEPTH = 16;

const isGzip = (bytes: Buffer) => bytes[0] === 0x1f && bytes[1] === 0x8b;

const tooLarge = (place: string) => new RpcError("too_large", `${place}: is too large when decompressed`);

async function unpacked(record: Buffer, place: string): Promise<Buffer> {
  try {
    return await promisify(gunzip)(record, { maxOutputLength: MAX_RECORD_BYTES });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ERR_BUFFER_TOO_LARGE") throw tooLarge(place);
    throw new RpcError("bad_request", `${place}: is not whole gzip`, { cause: error });
  }
}

/**
 * The JSON objects that a text consists of. Decompressed records follow each other with a line end between them, or nothing.
 * What would take long to parse is refused here.
 */
function jsonTexts(text: string, place: string): string[] {
  const texts: string[] = [];
  let begin = -1;
  let depth = 0;
  let openings = 0;
  let isInText = false;
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i);
    if (isInText) {
      if (code === BACKSLASH) i++;
      else if (code === QUOTE) isInText = false;
    } else if (code === QUOTE && depth > 0) isInText = true;
    else if (code === OPEN_OBJECT || (code === OPEN_LIST && depth > 0)) {
      if (depth++ === 0) begin = i;
      if (depth > MAX_DEPTH) throw notOfSubscription(place);
      if (++openings > MAX_OPENINGS) throw tooLarge(place);
    } else if ((code === CLOSE_OBJECT || code === CLOSE_LIST) && depth > 0) {
      if (--depth === 0) texts.push(text.slice(begin, i + 1));
    } else if (depth === 0 && !isBlank(code)) throw notOfSubscription(place);
  }
  if (depth > 0) throw notOfSubscription(place);
  return texts;
}

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const OPEN_OBJECT = 0x7b;
const CLOSE_OBJECT = 0x7d;
const OPEN_LIST = 0x5b;
const CLOSE_LIST = 0x5d;

const isBlank = (code: number) => code === 0x20 || code === 0x09 || code === 0x0a || code === 0x0d;

const notOfSubscription = (place: string) =>
  new RpcError("bad_request", `${place}: is not what a subscription of CloudWatch Logs sends`);

function eventsOf(text: string, place: string): CloudWatchEvent[] {
  let message: Record<string, unknown>;
  try {
    message = JSON.parse(text);
  } catch {
    throw notOfSubscription(place);
  }
  const { messageType, logGroup, logStream, logEvents } = message;
  if (messageType === "CONTROL_MESSAGE") return [];
  if (messageType !== "DATA_MESSAGE" || typeof logGroup !== "string" || typeof logStream !== "string") {
    throw notOfSubscription(place);
  }
  if (!Array.isArray(logEvents)) throw notOfSubscription(place);
  const origin = { group: logGroup, stream: logStream };
  return logEvents.map((event) => ({ ...origin, ...eventOf(event, place) }));
}

function eventOf(event: unknown, place: string): Omit<CloudWatchEvent, "group" | "stream"> {
  const { id, timestamp, message } = (event ?? {}) as Record<string, unknown>;
  if (typeof id !== "string" || typeof timestamp !== "number" || typeof message !== "string") {
    throw notOfSubscription(place);
  }
  return { id, timeMs: timestamp, message };
}
