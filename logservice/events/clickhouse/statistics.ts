import {
  addToSum,
  type ExactSum,
  LEVELS,
  levelOf,
  mergeSums,
  severity,
  type Target,
} from "../../../grammar/query/index.ts";
import { sql } from "../../../grammar/query/sql/condition.ts";
import { eachElement, fieldValueOf } from "../field-paths.ts";
import { FieldTally } from "../field-tally.ts";
import type { EventHistogram } from "../histogram.ts";
import { histogramSteps } from "../histogram-steps.ts";
import { nanosecondsOf } from "../instant.ts";
import type { DayUsage, DiscoveredField } from "../store.ts";
import { fieldSql } from "./field-sql.ts";
import { divide, eachEvent, type Reading, select, selectAll } from "./reading.ts";
import { EVENTS_TABLE } from "./schema.ts";

export async function countIn(reading: Reading): Promise<number> {
  const { counted, others } = divide(reading);
  let total = 0;
  for (const [events] of await selectAll(reading, `SELECT toFloat64(count()) FROM ${EVENTS_TABLE} WHERE ${counted}`)) {
    total += events as number;
  }
  if (others !== undefined) {
    await eachEvent(reading, others, () => {
      total++;
    });
  }
  return total;
}

export async function stepCounts(reading: Reading, maxPoints: number): Promise<EventHistogram> {
  const { startMs, stopMs } = reading.range;
  const { stepMs, starts } = histogramSteps(startMs, stopMs, maxPoints);
  const counts = starts.map(() => LEVELS.map(() => 0));
  if (starts.length === 0) return { stepMs, starts, counts };
  const [first, step] = [BigInt(starts[0]!) * 1_000_000n, BigInt(stepMs) * 1_000_000n];
  const add = (place: number, level: number, events: number) => {
    counts[Math.min(Math.max(place, 0), starts.length - 1)]![level]! += events;
  };
  const { counted, others } = divide(reading);
  const rows = await selectAll(
    reading,
    `SELECT ${stepSql(first, step)} AS step, severity, toFloat64(count()) FROM ${EVENTS_TABLE} WHERE ${counted} GROUP BY step, severity`,
  );
  for (const [place, level, events] of rows as [number, number, number][]) add(place, level, events);
  if (others !== undefined) {
    await eachEvent(reading, others, (event) => {
      const place = Number((BigInt(nanosecondsOf(event.timestamp)) - first) / step);
      add(place, severity(levelOf(event.level)!), 1);
    });
  }
  return { stepMs, starts, counts };
}

/** The number of the step of time of an event, from 0 on. Within the range the difference is never below 0. */
const stepSql = (first: bigint, step: bigint) =>
  `toFloat64(intDiv(toInt128(toUnixTimestamp64Nano(timestamp)) - toInt128('${first}'), ${step}))`;

interface NumberStatistics extends ExactSum {
  count: number;
  min: number;
  max: number;
}

export async function numbersIn(reading: Reading, field: Target): Promise<NumberStatistics> {
  const all = { count: 0, sum: 0, lost: 0, min: Number.POSITIVE_INFINITY, max: Number.NEGATIVE_INFINITY };
  // The entry's own properties are texts.
  if (field.at === "entry") return all;
  const json = fieldSql(field.path);
  const take = (element: unknown) => {
    if (typeof element !== "number") return;
    addToSum(all, element);
    all.count++;
    all.min = Math.min(all.min, element);
    all.max = Math.max(all.max, element);
  };
  const takeAll = (where: string) =>
    eachEvent(reading, where, (event) => eachElement(fieldValueOf(event, field), take));
  const ofFields = { ...reading, readsFields: true };
  if (json === undefined) {
    const { counted, others } = divide(ofFields);
    await takeAll(`(${counted} or ${others})`);
    return all;
  }
  const { counted, others } = divide(ofFields, sql(json.isList));
  // A plain sum shows the order in which threads add.
  const [row] = await selectAll(
    reading,
    `SELECT toFloat64(count()), sumKahan(number), min(number), max(number)
FROM (SELECT assumeNotNull(${json.number}) AS number FROM ${EVENTS_TABLE} WHERE ${counted} and ${json.number} is not null)`,
  );
  const [count, sum, min, max] = row as [number, number, number, number];
  if (count > 0) {
    mergeSums(all, { sum, lost: 0 });
    Object.assign(all, { count, min, max });
  }
  await takeAll(others!);
  return all;
}

/** Reads the fields of all events: each text of them once, with the number of events that have it. */
export async function discoveredIn(reading: Reading): Promise<DiscoveredField[]> {
  const tally = new FieldTally();
  const { counted, others } = divide(reading);
  await select(reading, `SELECT fields FROM ${EVENTS_TABLE} WHERE ${counted}`, (rows) => {
    for (const [fields] of rows) tally.add(JSON.parse(fields as string));
  });
  if (others !== undefined) await eachEvent(reading, others, ({ fields }) => tally.add(fields));
  return tally.result();
}

/** The days of the range that have events. A part's bytes on the disk are shared out among its events. */
export async function dayUsage(reading: Reading): Promise<DayUsage[]> {
  const rows = await selectAll(
    reading,
    `SELECT toString(toDate32(timestamp)) AS day, severity, toFloat64(count()), toFloat64(sum(bytes)), any(stored)
FROM ${EVENTS_TABLE} LEFT JOIN (
  SELECT partition, sum(bytes_on_disk) / sum(rows) AS stored FROM system.parts
  WHERE active AND database = currentDatabase() AND table = '${EVENTS_TABLE}' GROUP BY partition
) AS parts ON toString(toDate32(timestamp)) = parts.partition
WHERE ${reading.within} GROUP BY day, severity ORDER BY day, severity`,
  );
  const days = new Map<string, DayUsage>();
  for (const [day, level, events, bytes, stored] of rows as [string, number, number, number, number][]) {
    const before = days.get(day) ?? { day, events: 0, bytes: 0, storedBytes: 0, levels: {} };
    days.set(day, {
      day,
      events: before.events + events,
      bytes: before.bytes + bytes,
      storedBytes: before.storedBytes + Math.round(events * stored),
      levels: { ...before.levels, [LEVELS[level]!]: events },
    });
  }
  return [...days.values()];
}
