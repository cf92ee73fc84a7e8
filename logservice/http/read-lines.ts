import { continuesTrace, isOwnForm, levelOf, readLoggerLine } from "../../grammar/query/index.ts";
import type { BatchReport } from "../../schema/rpc.generated.ts";
import { RpcError } from "../error.ts";
import { isStorableTimestamp } from "../events/instant.ts";
import type { NewEvent } from "../events/store.ts";
import { LIMITS } from "../limits.ts";
import { parseExactJson } from "../rpc/parse-json.ts";
import { MAX_ID_LENGTH, type ReadBatch, readNewEvent, readPart } from "../rpc/read-events.ts";

/**
 * Reads the lines of a log as events. A line that is a JSON object is an event: its level, message and time are taken from
 * the keys of the logger that wrote it, if grammar knows that logger; all other keys, and those of `fields`, become fields.
 * Any other line is a message at level info, or a further line of the message before it if both are of one trace of a
 * stack. A level or time that is not valid stays a field. A line that cannot be kept
 * is an error with its index among all lines, blank lines included.
 */
export function readLines(text: string, nowMs: number): ReadBatch {
  const now = new Date(nowMs).toISOString();
  const batch = newBatch();
  let number = 0;
  const traces = new TraceLines(batch);
  for (let at = beginOf(text); at < text.length; ) {
    const end = text.indexOf("\n", at);
    const begin = at;
    const line = trimmed(text, begin, end === -1 ? text.length : end);
    at = end === -1 ? text.length : end + 1;
    number++;
    const isText = line !== "" && !line.startsWith("{");
    // With its indentation, which is a part of the trace.
    const whole = () => text.slice(begin, end === -1 ? text.length : end).trimEnd();
    if (isText && traces.takes(whole())) continue;
    traces.end();
    if (line === "") continue;
    refuseFull(batch);
    readPart(batch, number - 1, () => readNewEvent(lineEvent(line), `line ${number}`, now));
    if (isText) traces.begin();
  }
  traces.end();
  return batch;
}

/**
 * Reads a body that is said to be JSON: an empty list or one with objects is one of events, each as a line that has the object would be, and
 * the index of an error counts its elements. Anything else is read line by line.
 */
export function readJson(text: string, nowMs: number): ReadBatch {
  const values = listOf(text);
  if (values === undefined) return readLines(text, nowMs);
  const now = new Date(nowMs).toISOString();
  const batch = newBatch();
  for (const [index, value] of values.entries()) {
    refuseFull(batch);
    readPart(batch, index, () => {
      const place = `element ${index + 1}`;
      if (!isObject(value)) throw new RpcError("invalid", `${place}: must be an object`);
      return readNewEvent(eventOfObject(value, shownOf(value)), place, now);
    });
  }
  return batch;
}

/** An object as a line would have it. One that JSON.stringify cannot write is too deep, and refused for that. */
function shownOf(value: object): string {
  try {
    return JSON.stringify(value);
  } catch (error) {
    if (error instanceof RangeError) return "";
    throw error;
  }
}

/** The elements of a list that has an object, or of an empty one, as of a sender without news; undefined for anything else. */
function listOf(text: string): readonly unknown[] | undefined {
  const begin = beginOf(text);
  if (!/^[ \t\r\n]*\[/.test(text.slice(begin, begin + MAX_SHOWN_LENGTH))) return undefined;
  const value = parsedOrUndefined(text.slice(begin));
  return Array.isArray(value) && (value.length === 0 || value.some(isObject)) ? value : undefined;
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** Joins the lines of a trace of a stack with the event before them, whose message is put together once, at the end. */
class TraceLines {
  readonly #batch: ReadBatch & { readonly events: NewEvent[] };
  /** Those of the last event; none if nothing may be added to it. */
  #lines: string[] = [];
  #bytes = 0;

  constructor(batch: ReadBatch & { readonly events: NewEvent[] }) {
    this.#batch = batch;
  }

  /** The last event is one of a line of text. */
  begin(): void {
    const last = this.#batch.events.at(-1);
    if (last === undefined || last.truncated) return;
    this.#lines = [last.message];
    this.#bytes = Buffer.byteLength(last.message);
  }

  /** Adds a line to the last event if it goes on with the trace there. */
  takes(line: string): boolean {
    const [first] = this.#lines;
    if (first === undefined || !continuesTrace(line, { first, last: this.#lines.at(-1)! })) return false;
    const bytes = this.#bytes + 1 + Buffer.byteLength(line);
    if (bytes > LIMITS.messageBytes) return false;
    this.#bytes = bytes;
    this.#lines.push(line);
    return true;
  }

  end(): void {
    const { events } = this.#batch;
    if (this.#lines.length > 1) events[events.length - 1] = { ...events.at(-1)!, message: this.#lines.join("\n") };
    this.#lines = [];
  }
}

/** Reads the lines for a project of plain text: each is a message, with its indentation, but for those of a trace. */
export function readPlainLines(text: string, nowMs: number): ReadBatch {
  const now = new Date(nowMs).toISOString();
  const batch = newBatch();
  const traces = new TraceLines(batch);
  for (const [index, line] of text.slice(beginOf(text)).split("\n").entries()) {
    const message = line.endsWith("\r") ? line.slice(0, -1) : line;
    const isText = trimmed(message, 0, message.length) !== "";
    if (isText && traces.takes(message)) continue;
    traces.end();
    if (!isText) continue;
    refuseFull(batch);
    readPart(batch, index, () => readNewEvent({ level: "info", message }, `line ${index + 1}`, now));
    traces.begin();
  }
  traces.end();
  return batch;
}

/** Where the text begins. A byte order mark is skipped; elsewhere, U+FEFF is a character like any other. */
const beginOf = (text: string) => (text.charCodeAt(0) === 0xfeff ? 1 : 0);

/** The text from `start` to `end` without surrounding ASCII whitespace. Other whitespace is part of what was logged. */
function trimmed(text: string, start: number, end: number): string {
  let [first, last] = [start, end];
  while (first < last && isBlank(text.charCodeAt(first))) first++;
  while (last > first && isBlank(text.charCodeAt(last - 1))) last--;
  return text.slice(first, last);
}

/** Tab, line feed, form feed, carriage return, space: https://infra.spec.whatwg.org/#ascii-whitespace */
const isBlank = (code: number) => code === 0x20 || code === 0x09 || code === 0x0a || code === 0x0c || code === 0x0d;

const newBatch = () => ({ events: [] as NewEvent[], errors: [] as BatchReport["errors"] });

function refuseFull({ events, errors }: ReadBatch): void {
  if (events.length + errors.length < LIMITS.eventsPerBatch) return;
  throw new RpcError("too_large", `at most ${LIMITS.eventsPerBatch} lines at once: send them in parts`);
}

/** The event that one line is, as `readNewEvent` takes it. */
export function lineEvent(line: string): Record<string, unknown> {
  const value = line.startsWith("{") ? objectOf(line) : undefined;
  return value === undefined ? { level: "info", message: line } : eventOfObject(value, line);
}

function eventOfObject(value: Record<string, unknown>, line: string): Record<string, unknown> {
  return isOwn(value) ? value : (fromLogger(value, line) ?? fromObject(value, line));
}

/** Whether a line already is an event in the form of add_events. */
function isOwn(value: Record<string, unknown>): boolean {
  const { message, timestamp } = value;
  return isOwnForm(value) && message !== "" && typeof timestamp === "string" && isStorableTimestamp(timestamp);
}

function fromLogger(value: Record<string, unknown>, line: string): Record<string, unknown> | undefined {
  const logger = readLoggerLine(value);
  if (logger === undefined) return undefined;
  const { timestamp, timeKey, others } = logger;
  const isTime = timestamp !== undefined && isStorableTimestamp(timestamp);
  const event: Record<string, unknown> = {
    level: logger.level.toLowerCase(),
    // An object without a message is shown as it was sent.
    message: logger.message === "" ? line.slice(0, MAX_SHOWN_LENGTH) : logger.message,
    fields: others,
  };
  if (isTime) event.timestamp = timestamp;
  const odd = timeKey !== undefined && !isTime ? { [timeKey]: value[timeKey] } : undefined;
  if (others.id === undefined && others.fields === undefined && odd === undefined) return event;
  const { id, fields, ...rest } = others;
  const isId = typeof id === "string" && id.length <= MAX_ID_LENGTH;
  if (isId) event.id = id;
  const hasFields = typeof fields === "object" && fields !== null && !Array.isArray(fields);
  event.fields = {
    ...rest,
    ...(hasFields ? fields : fields !== undefined && { fields }),
    ...(id !== undefined && !isId && { id }),
    ...odd,
  };
  return event;
}

function fromObject(value: Record<string, unknown>, line: string): Record<string, unknown> {
  const { id, timestamp, level, message, fields, ...rest } = value;
  const hasFields = typeof fields === "object" && fields !== null && !Array.isArray(fields);
  const odd: Record<string, unknown> = {};
  const isLevel = typeof level === "string" && levelOf(level) !== undefined;
  if (level !== undefined && !isLevel) odd.level = level;
  const isTime = typeof timestamp === "string" && isStorableTimestamp(timestamp);
  if (timestamp !== undefined && !isTime) odd.timestamp = timestamp;
  const platformTime = isTime ? undefined : timeOfPlatformLine(rest);
  if (platformTime !== undefined) delete rest.time;
  const isId = typeof id === "string" && id.length <= MAX_ID_LENGTH;
  if (id !== undefined && !isId) odd.id = id;
  if (fields !== undefined && !hasFields) odd.fields = fields;
  const isMessage = typeof message === "string" && message !== "";
  if (message !== undefined && typeof message !== "string") odd.message = message;
  return {
    ...(isId && { id }),
    ...(isTime ? { timestamp } : platformTime !== undefined && { timestamp: platformTime }),
    level: isLevel ? level : "info",
    // An object without a message is shown as it was sent.
    message: isMessage ? message : line.slice(0, MAX_SHOWN_LENGTH),
    fields: { ...rest, ...(hasFields ? (fields as object) : {}), ...odd },
  };
}

/**
 * The time of a line that the function platform writes, such as `platform.report`: it has no level and no message.
 * https://docs.aws.amazon.com/lambda/latest/dg/telemetry-schema-reference.html
 */
function timeOfPlatformLine({ type, time, record }: Record<string, unknown>): string | undefined {
  const isPlatform = typeof type === "string" && type.startsWith("platform.") && record !== undefined;
  return isPlatform && typeof time === "string" && isStorableTimestamp(time) ? time : undefined;
}

const MAX_SHOWN_LENGTH = 1_000;

/** The object in a line; undefined if the line only looks like one. */
const objectOf = (line: string) => parsedOrUndefined(line) as Record<string, unknown> | undefined;

/** Throws `too_large`. */
function parsedOrUndefined(text: string): unknown {
  try {
    return parseExactJson(text);
  } catch (error) {
    if (error instanceof RpcError && error.type !== "too_large") return undefined;
    throw error;
  }
}
