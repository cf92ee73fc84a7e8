import { parseTimestamp } from "../../../grammar/query/timestamp.ts";
import type { ViewRange } from "../../address/view.ts";

/** A text that a person typed for a range, as it was read: the range, or the problem of the text. */
export type TypedRange = { readonly range: ViewRange } | { readonly problem: string };

export interface TypedAt {
  readonly nowMs: number;
  /** Whether times without a zone are UTC, and days begin at midnight UTC. */
  readonly isUtc: boolean;
}

/**
 * Reads a range: `last 2h`, `15 min`, `today`, `yesterday`, `yesterday 14:00`, `14:00 to 15:30`, `2026-11-22`,
 * `2026-11-22 14:00 to 2026-11-23`, RFC 3339 times. A single time with minutes is the five minutes around it, a single
 * day is the whole day.
 */
export function readTypedRange(text: string, at: TypedAt): TypedRange {
  const typed = text.trim().toLowerCase().replace(/\s+/g, " ");
  if (typed === "") return { problem: PROBLEM };
  const last = readLast(typed);
  if (last !== undefined) return { range: { lastMs: last } };
  const [from, to, ...rest] = typed.split(/ (?:to|until|-|–) |\.\.|–/);
  const start = readMoment(from!, at);
  if (start === undefined || rest.length > 0) return { problem: PROBLEM };
  if (to === undefined) return { range: { startMs: start.aroundMs[0], stopMs: start.aroundMs[1] } };
  // A time alone is of the day of the one before it.
  const stop = to.trim() === "now" ? undefined : readMoment(to, { ...at, dayMs: start.dayMs });
  if (to.trim() !== "now" && stop === undefined) return { problem: PROBLEM };
  const startMs = start.startMs;
  const stopMs = stop === undefined ? at.nowMs : stop.isDay ? stop.stopMs : stop.startMs;
  if (stopMs < startMs) return { problem: "The end is before the beginning" };
  return { range: { startMs, stopMs } };
}

const PROBLEM = "Write a range such as last 2h, yesterday 14:00, 14:00 to 15:30 or 2026-11-22";

const UNITS: readonly (readonly [RegExp, number])[] = [
  [/^s(?:ec(?:ond)?s?)?$/, 1_000],
  [/^m(?:in(?:ute)?s?)?$/, 60_000],
  [/^h(?:(?:ou)?rs?)?$/, 3_600_000],
  [/^d(?:ays?)?$/, 86_400_000],
  [/^w(?:eeks?)?$/, 604_800_000],
];
const MOST_MS = 3_660 * 86_400_000;

function readLast(typed: string): number | undefined {
  const [, digits, word] = /^(?:the )?(?:last|past)?\s*(\d{1,6})?\s*([a-z]+)$/.exec(typed) ?? [];
  const unit = UNITS.find(([names]) => word !== undefined && names.test(word))?.[1];
  if (unit === undefined || (digits === undefined && !/last|past/.test(typed))) return undefined;
  const lastMs = Number(digits ?? 1) * unit;
  return lastMs > 0 && lastMs <= MOST_MS ? lastMs : undefined;
}

interface Moment {
  readonly startMs: number;
  /** The last millisecond of the day or minute that was named. */
  readonly stopMs: number;
  readonly isDay: boolean;
  /** Midnight before it. */
  readonly dayMs: number;
  /** The range that is meant if nothing else is named. */
  readonly aroundMs: readonly [number, number];
}

const DAY_MS = 86_400_000;
const AROUND_MS = 150_000;

function readMoment(typed: string, at: TypedAt & { readonly dayMs?: number }): Moment | undefined {
  const text = typed.trim();
  const exact = parseTimestamp(text.toUpperCase());
  if (exact !== undefined) return momentAt(exact, midnightOf(exact, at));
  const [, word = "", date, clock] =
    /^(?:(today|yesterday)|(\d{4}-\d\d-\d\d))?[ t]?(\d{1,2}:\d\d(?::\d\d(?:\.\d{1,9})?)?)?$/.exec(text) ?? [];
  if (word === "" && date === undefined && clock === undefined) return undefined;
  const today = midnightOf(at.nowMs, at);
  const dayMs =
    date !== undefined
      ? dateMs(date, at)
      : word === "yesterday"
        ? midnightOf(today - DAY_MS / 2, at)
        : word === "" && at.dayMs !== undefined
          ? at.dayMs
          : today;
  if (dayMs === undefined) return undefined;
  if (clock === undefined) {
    // Not every day of a zone has 24 hours.
    const stopMs = midnightOf(dayMs + DAY_MS * 1.5, at) - 1;
    return { startMs: dayMs, stopMs, isDay: true, dayMs, aroundMs: [dayMs, stopMs] };
  }
  const clockMs = parseTimestamp(
    `1970-01-01T${clock.padStart(clock.indexOf(":") === 1 ? clock.length + 1 : 0, "0")}${/:\d\d:/.test(clock) ? "" : ":00"}Z`,
  );
  return clockMs === undefined ? undefined : momentAt(dayMs + clockMs, dayMs);
}

function momentAt(ms: number, dayMs: number): Moment {
  return { startMs: ms, stopMs: ms, isDay: false, dayMs, aroundMs: [ms - AROUND_MS, ms + AROUND_MS] };
}

function midnightOf(ms: number, { isUtc }: TypedAt): number {
  const day = new Date(ms);
  return isUtc ? day.setUTCHours(0, 0, 0, 0) : day.setHours(0, 0, 0, 0);
}

function dateMs(date: string, { isUtc }: TypedAt): number | undefined {
  const utc = parseTimestamp(`${date}T00:00:00Z`);
  if (utc === undefined || isUtc) return utc;
  const [year, month, day] = date.split("-").map(Number) as [number, number, number];
  return new Date(year, month - 1, day).getTime();
}
