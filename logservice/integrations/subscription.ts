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
 * only tests whether the destination is there (CONTROL_MESSAGE) has no events. `maxBytes` bounds what is decompressed. Throws
 * `bad_request` and `too_large`.
 *
 * Source: "Log group-level subscription filters" of the CloudWatch Logs User Guide.
 */
export async function readSubscription(
  record: Buffer,
  { place, maxBytes }: { readonly place: string; readonly maxBytes: number },
): Promise<{ readonly events: readonly CloudWatchEvent[]; readonly bytes: number }> {
  const bytes = isGzip(record) ? await unpacked(record, place, maxBytes) : record;
  if (bytes.length > maxBytes) throw tooLarge(place);
  if (!isUtf8(bytes)) throw new RpcError("bad_request", `${place}: is neither gzip nor UTF-8`);
  const texts = jsonTexts(bytes.toString(), place);
  return { events: texts.flatMap((text) => eventsOf(text, place)), bytes: bytes.length };
}

const isGzip = (bytes: Buffer) => bytes[0] === 0x1f && bytes[1] === 0x8b;

const tooLarge = (place: string) => new RpcError("too_large", `${place}: is too large when decompressed`);

async function unpacked(record: Buffer, place: string, maxBytes: number): Promise<Buffer> {
  try {
    return await promisify(gunzip)(record, { maxOutputLength: Math.max(1, maxBytes) });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ERR_BUFFER_TOO_LARGE") throw tooLarge(place);
    throw new RpcError("bad_request", `${place}: is not whole gzip`, { cause: error });
  }
}

/** The JSON objects that a text consists of. Decompressed records follow each other with a line end between them, or nothing. */
function jsonTexts(text: string, place: string): string[] {
  const texts: string[] = [];
  let begin = -1;
  let depth = 0;
  let isInText = false;
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i);
    if (isInText) {
      if (code === BACKSLASH) i++;
      else if (code === QUOTE) isInText = false;
    } else if (code === QUOTE && depth > 0) isInText = true;
    else if (code === OPEN) {
      if (depth++ === 0) begin = i;
    } else if (code === CLOSE && depth > 0) {
      if (--depth === 0) texts.push(text.slice(begin, i + 1));
    } else if (depth === 0 && !isBlank(code)) throw notOfSubscription(place);
  }
  if (depth > 0) throw notOfSubscription(place);
  return texts;
}

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const OPEN = 0x7b;
const CLOSE = 0x7d;

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
