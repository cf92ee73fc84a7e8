import { type ExactSum, LEVELS, levelOf, mergeSums, severity, type Target } from "../../../../grammar/query/index.ts";
import { SQL_FALSE } from "../../../../grammar/query/sql/condition.ts";
import { eachElement, fieldValueOf } from "../../field-paths.ts";
import type { EventHistogram } from "../../histogram.ts";
import { histogramSteps } from "../../histogram-steps.ts";
import { nanosecondsOf } from "../../instant.ts";
import { eventsOfLevels, fieldsOfLevels, minutesOfLevels, type Summary } from "../../summary/summary.ts";
import { aggregate } from "./aggregate.ts";
import { ofField, pathKey } from "./field-values.ts";
import type { QueryContext } from "./query-context.ts";

export async function countEvents(context: QueryContext): Promise<number> {
  let total = 0;
  await aggregate(context, {
    summary: (summary, levels) => {
      total += eventsOfLevels(summary, levels);
      return true;
    },
    sql: () => ({ text: "count(*)::double %", before: [], except: SQL_FALSE }),
    rows: ([counts]) => {
      for (const one of counts as number[]) total += one;
    },
    event: () => {
      total++;
    },
  });
  return total;
}

export async function histogram(context: QueryContext, maxPoints: number): Promise<EventHistogram> {
  const { startMs, stopMs } = context.selection.range;
  const { stepMs, starts } = histogramSteps(startMs, stopMs, maxPoints);
  const counts = starts.map(() => LEVELS.map(() => 0));
  const firstMs = starts[0] ?? 0;
  const add = (place: number, level: number, events: number) => {
    counts[Math.min(Math.max(place, 0), starts.length - 1)]![level]! += events;
  };
  const isByMinutes = stepMs % 60_000 === 0;
  const addMinutes = (minutes: Summary["minutes"]) => {
    for (const [minute, levels] of minutes) {
      const place = Math.floor((minute * 60_000 - firstMs) / stepMs);
      for (let level = 0; level < levels.length; level++) if (levels[level]! > 0) add(place, level, levels[level]!);
    }
  };
  const [first, step] = [BigInt(firstMs) * 1_000_000n, BigInt(stepMs) * 1_000_000n];
  if (starts.length > 0) {
    await aggregate(context, {
      summary: (summary, levels) => {
        if (isByMinutes) addMinutes(minutesOfLevels(summary, levels));
        return isByMinutes;
      },
      sql: () => ({
        text: `((t - ?::bigint) // ?::bigint)::integer, severity::integer, count(*)::double % group by all`,
        before: [first, step],
        except: SQL_FALSE,
      }),
      rows: ([places, levels, totals]) => {
        for (let i = 0; i < places!.length; i++) {
          add(places![i] as number, levels![i] as number, totals![i] as number);
        }
      },
      event: ({ event }) => {
        const place = Number((BigInt(nanosecondsOf(event.timestamp)) - first) / step);
        add(place, severity(levelOf(event.level)!), 1);
      },
    });
  }
  return { stepMs, starts, counts };
}

export interface NumberStatistics extends ExactSum {
  count: number;
  min: number;
  max: number;
}

export async function numbers(context: QueryContext, field: Target): Promise<NumberStatistics> {
  const all = { count: 0, sum: 0, lost: 0, min: Number.POSITIVE_INFINITY, max: Number.NEGATIVE_INFINITY };
  const add = ({ count, sum, lost, min, max }: NumberStatistics) => {
    if (count === 0) return;
    all.count += count;
    mergeSums(all, { sum, lost });
    if (min < all.min) all.min = min;
    if (max > all.max) all.max = max;
  };
  // The entry's own properties are texts.
  if (field.at === "entry") return all;
  const key = pathKey(field);
  await aggregate(context, {
    summary: (summary, levels) => {
      const levelFields = key === undefined ? undefined : fieldsOfLevels(summary, levels);
      const some = levelFields?.flatMap((fields) => fields.get(key!)?.numbers ?? []);
      // A sum that is not known to its last digit is not used: the segment is read.
      if (some === undefined || some.some(({ lost }) => Number.isNaN(lost))) return false;
      for (const one of some) add(one);
      return true;
    },
    sql: (segment) =>
      ofField(field, segment, "number", ({ text, values }, list) => ({
        // The engine's own sum shows the order in which its threads add.
        text: `count(value)::double, fsum(value), min(value), max(value) from (select ${text} as value %)`,
        before: values,
        except: list,
      })),
    rows: ([counts, sums, mins, maxes]) => {
      for (let i = 0; i < counts!.length; i++) {
        const count = counts![i] as number;
        const [sum, min, max] = [sums, mins, maxes].map((column) => column![i] as number);
        if (count > 0) add({ count, sum: sum!, lost: 0, min: min!, max: max! });
      }
    },
    event: ({ event }) =>
      eachElement(fieldValueOf(event, field), (element) => {
        if (typeof element === "number") add({ count: 1, sum: element, lost: 0, min: element, max: element });
      }),
  });
  return all;
}
