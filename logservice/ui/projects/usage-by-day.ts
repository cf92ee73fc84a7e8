import type { Level, ProjectUsage } from "../../../schema/rpc.generated.ts";

/** A day, or several together. */
export interface UsageSum {
  readonly events: number;
  readonly errors: number;
  /** As JSON, as they were sent. */
  readonly bytes: number;
  readonly storedBytes: number;
  readonly byLevel: ReadonlyMap<Level, number>;
}

export interface UsageDay extends UsageSum {
  /** In UTC, such as 2026-11-27. */
  readonly day: string;
}

const DAY_MS = 86_400_000;
const ERRORS: ReadonlySet<Level> = new Set(["error", "critical", "alert", "emergency"]);

/** The days up to now, the latest first, with those that have no events: what these projects have together. */
export function usageByDay(
  projects: readonly ProjectUsage[],
  { nowMs, days }: { readonly nowMs: number; readonly days: number },
): readonly UsageDay[] {
  const all = projects.flatMap((project) => project.days);
  return Array.from({ length: days }, (_, before) => {
    const day = new Date(nowMs - before * DAY_MS).toISOString().slice(0, 10);
    const ofDay = all
      .filter((one) => one.day === day)
      .map(({ stored_bytes, levels, ...sums }) => {
        const byLevel = new Map(levels.map(({ level, count }) => [level, count]));
        return { ...sums, storedBytes: stored_bytes, errors: errorsOf(byLevel), byLevel };
      });
    return { day, ...totalUsage(ofDay) };
  });
}

/** Days in a row that have no events, as one. */
export interface EmptyRun {
  readonly first: string;
  readonly last: string;
  readonly emptyDays: number;
}

/** Days, the latest first, with those that have no events as one where they follow each other. */
export function withoutEmptyRuns(days: readonly UsageDay[]): readonly (UsageDay | EmptyRun)[] {
  const rows: (UsageDay | EmptyRun)[] = [];
  for (const day of days) {
    const before = rows.at(-1);
    if (day.events > 0) rows.push(day);
    else if (before !== undefined && "emptyDays" in before)
      rows.splice(-1, 1, { ...before, first: day.day, emptyDays: before.emptyDays + 1 });
    else rows.push({ first: day.day, last: day.day, emptyDays: 1 });
  }
  return rows;
}

export function totalUsage(parts: readonly UsageSum[]): UsageSum {
  const byLevel = new Map<Level, number>();
  for (const part of parts)
    for (const [level, count] of part.byLevel) byLevel.set(level, (byLevel.get(level) ?? 0) + count);
  const sum = (of: (part: UsageSum) => number) => parts.reduce((total, part) => total + of(part), 0);
  return {
    events: sum(({ events }) => events),
    errors: errorsOf(byLevel),
    bytes: sum(({ bytes }) => bytes),
    storedBytes: sum(({ storedBytes }) => storedBytes),
    byLevel,
  };
}

function errorsOf(byLevel: ReadonlyMap<Level, number>): number {
  return [...byLevel].reduce((sum, [level, count]) => sum + (ERRORS.has(level) ? count : 0), 0);
}
