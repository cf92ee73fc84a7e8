import { parseTimestamp } from "../../grammar/query/timestamp.ts";
import { visibleQuery } from "../../grammar/query/visible.ts";

/** The state of the explorer, as its address says it. */
export interface View {
  readonly query: string;
  readonly range: ViewRange;
  /** The event that is open: its id. */
  readonly event: string;
  /** Fields that are columns of the list. */
  readonly columns: readonly string[];
  readonly isLive: boolean;
  /** Whether the list begins with the oldest event; while it is live, it never does. */
  readonly isOldestFirst: boolean;
  /** How the answer of a query with stages is drawn; chosen by what it is unless it is named. */
  readonly drawn: Drawing | undefined;
}

/** The last so many milliseconds, or a closed range of two times in milliseconds since 1970. */
export type ViewRange = { readonly lastMs: number } | { readonly startMs: number; readonly stopMs: number };

export const DRAWINGS = ["table", "bars", "lines"] as const;
export type Drawing = (typeof DRAWINGS)[number];

const FIRST_RANGE: ViewRange = { lastMs: 3_600_000 };

/** Reads the query of an address. What is not valid there counts as absent: an old link still shows something. */
export function viewOf(search: string): View {
  const parameters = new URLSearchParams(search);
  const drawn = parameters.get("as") as Drawing | null;
  const range = rangeIn(parameters);
  // Only a range that ends now goes on.
  const isLive = parameters.get("live") === "1" && "lastMs" in range;
  return {
    query: visibleQuery(parameters.get("query") ?? ""),
    range,
    event: parameters.get("event") ?? "",
    columns: [...new Set((parameters.get("columns") ?? "").split("\n").filter((name) => name !== ""))],
    isLive,
    isOldestFirst: !isLive && parameters.get("order") === "oldest",
    drawn: drawn !== null && DRAWINGS.includes(drawn) ? drawn : undefined,
  };
}

/** The query of the address that shows a view, with the question mark; empty for the first view. */
export function searchOf(view: Partial<View>): string {
  const {
    query = "",
    range = FIRST_RANGE,
    event = "",
    columns = [],
    isLive = false,
    isOldestFirst = false,
    drawn,
  } = view;
  const parameters = new URLSearchParams();
  if (query !== "") parameters.set("query", query);
  if ("lastMs" in range) {
    if (!isSameRange(range, FIRST_RANGE)) parameters.set("last", lastText(range.lastMs));
  } else {
    parameters.set("start", new Date(range.startMs).toISOString());
    parameters.set("stop", new Date(range.stopMs).toISOString());
  }
  if (columns.length > 0) parameters.set("columns", columns.join("\n"));
  if (isLive) parameters.set("live", "1");
  else if (isOldestFirst) parameters.set("order", "oldest");
  if (drawn !== undefined) parameters.set("as", drawn);
  if (event !== "") parameters.set("event", event);
  const text = parameters.toString();
  return text === "" ? "" : `?${text}`;
}

/** The times of a range at a moment, for the operations. */
export function timesOf(range: ViewRange, nowMs: number): { readonly startMs: number; readonly stopMs: number } {
  return "lastMs" in range ? { startMs: nowMs - range.lastMs, stopMs: nowMs } : range;
}

/**
 * The times of a range as the operations take them. The stop is the end of its millisecond: events may have nanoseconds,
 * and ranges one after another must leave none out.
 */
export function rangeTexts({ startMs, stopMs }: { readonly startMs: number; readonly stopMs: number }) {
  // The first time is the zero value of times, which counts as absent; the last has no part of a millisecond.
  const start = new Date(Math.max(startMs, FIRST_MS + 1)).toISOString();
  const stop = new Date(Math.min(stopMs, LAST_MS)).toISOString();
  return { start, stop: stopMs >= LAST_MS ? stop : stop.replace("Z", "999999Z") };
}

const FIRST_MS = Date.parse("0001-01-01T00:00:00.000Z");
const LAST_MS = Date.parse("9999-12-31T23:59:59.999Z");

export function isSameRange(a: ViewRange, b: ViewRange): boolean {
  if ("lastMs" in a) return "lastMs" in b && a.lastMs === b.lastMs;
  return !("lastMs" in b) && a.startMs === b.startMs && a.stopMs === b.stopMs;
}

function rangeIn(parameters: URLSearchParams): ViewRange {
  const startMs = parseTimestamp(parameters.get("start") ?? "");
  const stopMs = parseTimestamp(parameters.get("stop") ?? "");
  if (startMs !== undefined && stopMs !== undefined && startMs <= stopMs) return { startMs, stopMs };
  const lastMs = lastOf(parameters.get("last") ?? "");
  return lastMs === undefined ? FIRST_RANGE : { lastMs };
}

const UNITS: Readonly<Record<string, number>> = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000, w: 604_800_000 };
const MAX_LAST_MS = 100 * 366 * 86_400_000;

/** Reads `90s`, `15m`, `2h`, `7d`, `4w`. */
function lastOf(text: string): number | undefined {
  const [, digits, unit] = /^(\d{1,9})([smhdw])$/.exec(text) ?? [];
  if (digits === undefined) return undefined;
  const lastMs = Number(digits) * UNITS[unit!]!;
  return lastMs > 0 && lastMs <= MAX_LAST_MS ? lastMs : undefined;
}

/** The shortest text that `lastOf` reads back: whole seconds at least. */
function lastText(lastMs: number): string {
  for (const unit of ["w", "d", "h", "m"]) if (lastMs % UNITS[unit]! === 0) return `${lastMs / UNITS[unit]!}${unit}`;
  return `${Math.max(1, Math.round(lastMs / 1000))}s`;
}
