import { LEVELS, type Level } from "../../grammar/query/index.ts";
import { stepTime } from "./histogram-steps.ts";

export interface EventHistogram {
  readonly stepMs: number;
  readonly starts: readonly number[];
  /** By step: how many events of each severity. */
  readonly counts: readonly (readonly number[])[];
}

/** The counts of a histogram, of all levels together. */
export const inAll = ({ starts, counts }: EventHistogram) =>
  starts.map((start, i) => ({
    timestamp: stepTime(start),
    count: counts[i]!.reduce((sum, events) => sum + events, 0),
  }));

/** The counts of a histogram by the names of levels; those without any event are left out. */
export function byLevel({ starts, counts }: EventHistogram) {
  const levels = LEVELS.map((_, level) => level).filter((level) => counts.some((one) => one[level]! > 0));
  return starts.map((start, i) => ({
    timestamp: stepTime(start),
    counts: Object.fromEntries(levels.map((level) => [LEVELS[level]!, counts[i]![level]!])) as Partial<
      Record<Level, number>
    >,
  }));
}
