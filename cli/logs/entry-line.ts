import type { Entry } from "../../grammar/entry.ts";

/** A line of a log as an entry. `isEntry` is false where the line was text and not a JSON object. */
export interface EntryLine {
  readonly entry: Entry;
  readonly isEntry: boolean;
}

/**
 * Reads one line. A JSON object is an entry: where it has no `fields` object, its other keys are the fields, so that
 * flat logs of other programs can be asked about too. Everything else is message text at level info without a time.
 */
export function readEntryLine(text: string): EntryLine {
  const line = text.charCodeAt(0) === 0xfeff ? text.slice(1) : text;
  if (line.trimStart().startsWith("{")) {
    try {
      return { entry: toEntry(JSON.parse(line) as Record<string, unknown>), isEntry: true };
    } catch (error) {
      // Cut off, or text that happens to begin with a brace.
      if (!(error instanceof SyntaxError)) throw error;
    }
  }
  return { entry: { timestamp: "", level: "info", message: line.trimEnd(), fields: {} }, isEntry: false };
}

function toEntry(object: Record<string, unknown>): Entry {
  const { id, timestamp, level, message, fields, ...rest } = object;
  return {
    ...(typeof id === "string" && { id }),
    timestamp: typeof timestamp === "string" ? timestamp : typeof timestamp === "number" ? fromEpoch(timestamp) : "",
    level: typeof level === "string" ? level : "info",
    message: typeof message === "string" ? message : "",
    fields: typeof fields === "object" && fields !== null ? (fields as Record<string, unknown>) : rest,
  };
}

/** Milliseconds since 1970, or seconds where milliseconds would lie before 1973. */
function fromEpoch(time: number): string {
  const date = new Date(Math.abs(time) < 1e11 ? time * 1000 : time);
  return Number.isNaN(date.getTime()) ? "" : date.toISOString();
}
