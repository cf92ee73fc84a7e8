import { timeParts, zoneName } from "../kit/format.ts";

/** A time below a histogram, and where: a share of its width. */
export interface Tick {
  readonly at: number;
  readonly text: string;
}

/** So many pixels a text needs, and the empty room beside it. */
const TICK_PX = 110;

/** Some times of a range to write below it: whole ones, as far apart as their texts need. */
export function ticksOf(
  { startMs, stopMs }: { readonly startMs: number; readonly stopMs: number },
  stepMs: number,
  width: number,
): readonly Tick[] {
  const span = stopMs - startMs;
  if (span <= 0 || width <= 0) return [];
  const most = Math.max(2, Math.min(12, Math.floor(width / TICK_PX)));
  const apart = NICE_MS.find((ms) => span / ms <= most) ?? Math.ceil(span / most / DAY_MS) * DAY_MS;
  // Whole hours and days are those of the zone.
  const offset = zoneName() === "UTC" ? 0 : -new Date(startMs).getTimezoneOffset() * 60_000;
  const hasYears = timeParts(startMs).year !== timeParts(stopMs).year;
  const ticks: Tick[] = [];
  for (let ms = Math.ceil((startMs + offset) / apart) * apart - offset; ms <= stopMs; ms += apart) {
    const at = (ms - startMs) / span;
    if (at * width < 24 || (1 - at) * width < 24) continue;
    const { day, year, minute, second } = timeParts(ms);
    const clock = apart < 60_000 || stepMs < 1_000 ? second : minute;
    ticks.push({ at, text: apart >= DAY_MS || clock === "00:00" ? (hasYears ? `${day} ${year}` : day) : clock });
  }
  return ticks;
}

const DAY_MS = 86_400_000;
const NICE_MS = [
  ...[1, 2, 5, 10, 15, 30].map((s) => s * 1_000),
  ...[1, 2, 5, 10, 15, 30].map((m) => m * 60_000),
  ...[1, 2, 3, 6, 12].map((h) => h * 3_600_000),
  ...[1, 2, 7, 14, 30].map((d) => d * DAY_MS),
];
