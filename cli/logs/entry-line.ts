import type { Entry } from "../../grammar/entry.ts";
import { isEntryId } from "../../grammar/entry-id.ts";
import { parseFinite } from "../../grammar/json-numbers.ts";
import { isWholeTime, levelText, readLoggerLine } from "../../grammar/query/index.ts";

/** A line of a log as an entry. `isEntry` is false if the line was text and not a JSON object. */
export interface EntryLine {
  readonly entry: Entry;
  readonly isEntry: boolean;
}

/**
 * Reads one line. A JSON object is an entry: level, message and time by the keys of the logger that wrote it, if grammar
 * knows them; all other keys, and those of a `fields` object, are the fields, so that flat logs of other programs can be
 * queried too. A value that cannot be what its key says, such as a message that is an object, is a field of that name.
 * Everything else is message text at level info without a time.
 */
export function readEntryLine(text: string): EntryLine {
  const line = text.charCodeAt(0) === 0xfeff ? text.slice(1) : text;
  if (line.trimStart().startsWith("{")) {
    try {
      return { entry: toEntry(parseFinite(line) as Record<string, unknown>), isEntry: true };
    } catch (error) {
      // Incomplete JSON, or text that happens to start with a brace.
      if (!(error instanceof SyntaxError)) throw error;
    }
  }
  return { entry: { timestamp: "", level: "info", message: line.trimEnd(), fields: {} }, isEntry: false };
}

/** The entry of a parsed line. */
export function toEntry(object: Record<string, unknown>): Entry {
  const { id, timestamp, level, message, fields, ...rest } = object;
  // Most lines are our own: a faster way to the same result.
  const isOwn =
    typeof level === "string" &&
    typeof message === "string" &&
    (timestamp === undefined || (typeof timestamp === "string" && isWholeTime(timestamp))) &&
    isEmpty(rest);
  const logger = isOwn ? undefined : readLoggerLine(object);
  if (logger !== undefined) return ofLogger(logger.level, logger.message, logger.timestamp, logger.others);
  const time = timeOf(timestamp);
  let odd: Record<string, unknown> | undefined;
  if (level !== undefined && typeof level !== "string") odd = { level };
  if (message !== undefined && typeof message !== "string") odd = { ...odd, message };
  if (timestamp !== undefined && time === undefined) odd = { ...odd, timestamp };
  if (id !== undefined && typeof id !== "string") odd = { ...odd, id };
  return {
    ...(typeof id === "string" && !yieldsId(id, fields) && { id }),
    timestamp: time ?? "",
    level: typeof level !== "string" ? "info" : isOwn ? (levelText(level, undefined) ?? level) : level,
    message: typeof message === "string" ? message : "",
    fields: withFields(rest, fields, odd),
  };
}

/**
 * Whether the id of a deployed app's entry gives way to that of its request: `id = 7f3a` asks for the request that an error
 * page names, as in logs whose entries have no ids.
 */
function yieldsId(id: unknown, fields: unknown): boolean {
  return typeof fields === "object" && fields !== null && "id" in fields && isEntryId(id);
}

function ofLogger(level: string, message: string, time: string | undefined, others: LoggerFields): Entry {
  const { id, fields, ...rest } = others;
  const { timestamp, ...untimed } = rest;
  const ownTime = time ?? timeOf(timestamp);
  let odd: Record<string, unknown> | undefined;
  if (timestamp !== undefined && ownTime === undefined) odd = { timestamp };
  if (id !== undefined && typeof id !== "string") odd = { ...odd, id };
  return {
    ...(typeof id === "string" && !yieldsId(id, fields) && { id }),
    timestamp: ownTime ?? "",
    level,
    message,
    fields: withFields(time === undefined ? untimed : rest, fields, odd),
  };
}

type LoggerFields = Readonly<Record<string, unknown>>;

/** `odd` are values that are not what their keys say. */
function withFields(
  rest: Record<string, unknown>,
  fields: unknown,
  odd: Record<string, unknown> | undefined,
): Record<string, unknown> {
  const isObject = typeof fields === "object" && fields !== null && !Array.isArray(fields);
  if (isObject && odd === undefined && isEmpty(rest)) return fields as Record<string, unknown>;
  const own = isObject ? fields : fields === undefined ? undefined : { fields };
  return own === undefined && odd === undefined ? rest : { ...rest, ...own, ...odd };
}

function isEmpty(object: object): boolean {
  for (const _ in object) return false;
  return true;
}

/** A text is kept even if it cannot be read as a time. Undefined for a value that is not a time. */
const timeOf = (time: unknown): string | undefined =>
  typeof time === "string" ? time : typeof time === "number" ? fromEpoch(time) : undefined;

/** Milliseconds since 1970, or seconds if as milliseconds they would be before 1973. */
function fromEpoch(time: number): string | undefined {
  const date = new Date(Math.abs(time) < 1e11 ? time * 1000 : time);
  return Number.isNaN(date.getTime()) ? undefined : date.toISOString();
}
