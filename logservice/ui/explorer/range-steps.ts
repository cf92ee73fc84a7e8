import { timesOf, type ViewRange } from "../../address/view.ts";
import { lengthText, timeParts } from "../kit/format.ts";

/** Ranges that end now and have a button of their own. */
export const RANGE_PRESETS: readonly { readonly text: string; readonly lastMs: number }[] = [
  { text: "5 min", lastMs: 300_000 },
  { text: "15 min", lastMs: 900_000 },
  { text: "1 hour", lastMs: 3_600_000 },
  { text: "6 hours", lastMs: 21_600_000 },
  { text: "24 hours", lastMs: 86_400_000 },
  { text: "7 days", lastMs: 604_800_000 },
  { text: "30 days", lastMs: 2_592_000_000 },
  { text: "90 days", lastMs: 7_776_000_000 },
];

/** The range before or after one, by its own length. */
export function shifted(range: ViewRange, direction: -1 | 1, nowMs: number): ViewRange {
  const { startMs, stopMs } = timesOf(range, nowMs);
  const by = (stopMs - startMs) * direction;
  // Later than now there is nothing: the last range is the one that ends now.
  if (stopMs + by >= nowMs) return { lastMs: wholeSeconds(stopMs - startMs) };
  return { startMs: startMs + by, stopMs: stopMs + by };
}

/** A range of twice the length around one. */
export function widened(range: ViewRange, nowMs: number): ViewRange {
  if ("lastMs" in range) return { lastMs: range.lastMs * 2 };
  const half = Math.max(500, (range.stopMs - range.startMs) / 2);
  const stopMs = Math.min(nowMs, range.stopMs + half);
  return { startMs: Math.round(range.startMs - half), stopMs: Math.round(Math.max(stopMs, range.stopMs)) };
}

/** A range as long that ends now, for what is to go on. */
export function endingNow(range: ViewRange): ViewRange {
  return "lastMs" in range ? range : { lastMs: wholeSeconds(range.stopMs - range.startMs) };
}

/** The name of a range on its button: `Last 24 hours` as the presets are called, `Last 2 days`, or its times. */
export function rangeText(range: ViewRange): string {
  if ("lastMs" in range) {
    const preset = RANGE_PRESETS.find(({ lastMs }) => lastMs === range.lastMs)?.text;
    return `Last ${preset?.replace(/^1 /, "") ?? lengthText(range.lastMs)}`;
  }
  const from = timeParts(range.startMs);
  const to = timeParts(range.stopMs);
  const isShort = range.stopMs - range.startMs < 120_000;
  const clock = (parts: typeof from) => (isShort ? parts.second : parts.minute);
  // Times of one year need none.
  const day = (parts: typeof from) => (from.year === to.year ? parts.day : `${parts.day} ${parts.year}`);
  const start = `${day(from)} ${clock(from)}`;
  return from.date === to.date ? `${start} – ${clock(to)}` : `${start} – ${day(to)} ${clock(to)}`;
}

/** A range as `readTypedRange` reads it, to be changed. */
export function rangeInput({ startMs, stopMs }: { readonly startMs: number; readonly stopMs: number }): string {
  const text = (ms: number) => {
    const { date, second, ms: rest } = timeParts(ms);
    return `${date} ${second}${rest === "000" ? "" : `.${rest}`}`;
  };
  return `${text(startMs)} to ${text(stopMs)}`;
}

const wholeSeconds = (ms: number) => Math.max(1_000, Math.round(ms / 1000) * 1000);
