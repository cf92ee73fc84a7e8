import { isOwnForm, levelOf, readLoggerLine } from "../../grammar/query/index.ts";
import type { BatchReport } from "../../schema/rpc.generated.ts";
import { RpcError } from "../error.ts";
import { isStorableTimestamp } from "../events/instant.ts";
import type { NewEvent } from "../events/store.ts";
import { LIMITS } from "../limits.ts";
import { parseJson } from "../rpc/parse-json.ts";
import { MAX_ID_LENGTH, type ReadBatch, readEvent, readPart } from "../rpc/read-events.ts";

/**
 * The lines of a log as events. A line that is a JSON object is an event: level, message and time by the keys of the
 * logger that wrote it, if grammar knows them; all other keys, and those of `fields`, are the fields. Any other line is a
 * message at level info. Levels and times that are none stay among the fields.
 * A line that cannot be kept is an error, by its index among all lines, blank ones too.
 */
export function readLines(text: string, nowMs: number): ReadBatch {
  const now = new Date(nowMs).toISOString();
  const batch = newBatch();
  let number = 0;
  for (let at = beginOf(text); at < text.length; ) {
    const end = text.indexOf("\n", at);
    const line = trimmed(text, at, end === -1 ? text.length : end);
    at = end === -1 ? text.length : end + 1;
    number++;
    if (line === "") continue;
    refuseFull(batch);
    readPart(batch, number - 1, () => readEvent(eventOf(line), `line ${number}`, now));
  }
  return batch;
}

/** The lines of a project of plain text: each is a message, indented as it came. */
export function readPlainLines(text: string, nowMs: number): ReadBatch {
  const now = new Date(nowMs).toISOString();
  const batch = newBatch();
  for (const [index, line] of text.slice(beginOf(text)).split("\n").entries()) {
    const message = line.endsWith("\r") ? line.slice(0, -1) : line;
    if (trimmed(message, 0, message.length) === "") continue;
    refuseFull(batch);
    readPart(batch, index, () => readEvent({ level: "info", message }, `line ${index + 1}`, now));
  }
  return batch;
}

/** A byte order mark at the beginning of a body is no text; anywhere else U+FEFF is a character like any other. */
const beginOf = (text: string) => (text.charCodeAt(0) === 0xfeff ? 1 : 0);

/** The text between two places, without the blanks of ASCII around it. Other blanks are what somebody logged. */
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

function eventOf(line: string): Record<string, unknown> {
  const value = line.startsWith("{") ? objectOf(line) : undefined;
  if (value === undefined) return { level: "info", message: line };
  return isOwn(value) ? value : (ofLogger(value, line) ?? ofObject(value, line));
}

/** Whether a line is an event as it is. */
function isOwn(value: Record<string, unknown>): boolean {
  const { message, timestamp } = value;
  return isOwnForm(value) && message !== "" && typeof timestamp === "string" && isStorableTimestamp(timestamp);
}

function ofLogger(value: Record<string, unknown>, line: string): Record<string, unknown> | undefined {
  const logger = readLoggerLine(value);
  if (logger === undefined) return undefined;
  const { timestamp, timeKey, others } = logger;
  const isTime = timestamp !== undefined && isStorableTimestamp(timestamp);
  const event: Record<string, unknown> = {
    level: logger.level.toLowerCase(),
    // What has no message is shown as it came.
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

function ofObject(value: Record<string, unknown>, line: string): Record<string, unknown> {
  const { id, timestamp, level, message, fields, ...rest } = value;
  const hasFields = typeof fields === "object" && fields !== null && !Array.isArray(fields);
  const odd: Record<string, unknown> = {};
  const isLevel = typeof level === "string" && levelOf(level) !== undefined;
  if (level !== undefined && !isLevel) odd.level = level;
  const isTime = typeof timestamp === "string" && isStorableTimestamp(timestamp);
  if (timestamp !== undefined && !isTime) odd.timestamp = timestamp;
  const isId = typeof id === "string" && id.length <= MAX_ID_LENGTH;
  if (id !== undefined && !isId) odd.id = id;
  if (fields !== undefined && !hasFields) odd.fields = fields;
  const isMessage = typeof message === "string" && message !== "";
  if (message !== undefined && typeof message !== "string") odd.message = message;
  return {
    ...(isId && { id }),
    ...(isTime && { timestamp }),
    level: isLevel ? level : "info",
    // What has no message is shown as it came.
    message: isMessage ? message : line.slice(0, MAX_SHOWN_LENGTH),
    fields: { ...rest, ...(hasFields ? (fields as object) : {}), ...odd },
  };
}

const MAX_SHOWN_LENGTH = 1_000;

/** Undefined where the line only looks like an object. */
function objectOf(line: string): Record<string, unknown> | undefined {
  try {
    return parseJson(line) as Record<string, unknown>;
  } catch (error) {
    if (error instanceof RpcError) return undefined;
    throw error;
  }
}
