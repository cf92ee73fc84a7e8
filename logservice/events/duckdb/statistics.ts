import { LEVELS, type Level, levelOf, severity, type Target } from "../../../grammar/query/index.ts";
import { type ColumnType, columnOf, jsonPath } from "../../../grammar/query/sql/columns.ts";
import { FALSE, type Sql, type SqlValue, sql } from "../../../grammar/query/sql/condition.ts";
import { discoveredType, eachElement, eachField, fieldName } from "../field-paths.ts";
import { nanosecondsOf } from "../instant.ts";
import { compareText } from "../order.ts";
import { stepsOf } from "../steps.ts";
import { type DiscoveredField, type DiscoveredType, type Event, MAX_DISCOVERED_FIELDS } from "../store.ts";
import { aggregate, type Statement } from "./aggregate.ts";
import type { Segment } from "./segments.ts";
import { ID, type Selection, type Source } from "./source.ts";

export async function count(source: Source, selection: Selection, signal: AbortSignal): Promise<number> {
  let total = 0;
  await aggregate(
    source,
    selection,
    {
      summary: ({ events }) => {
        total += events;
        return true;
      },
      sql: () => ({ text: "count(*)::double %", before: [], except: FALSE }),
      rows: ([counts]) => {
        for (const one of counts as number[]) total += one;
      },
      event: () => {
        total++;
      },
    },
    signal,
  );
  return total;
}

export interface Histogram {
  readonly stepMs: number;
  readonly starts: readonly number[];
  /** By step: how many events of each severity. */
  readonly counts: readonly (readonly number[])[];
}

export async function histogram(
  source: Source,
  selection: Selection,
  maxPoints: number,
  signal: AbortSignal,
): Promise<Histogram> {
  const { stepMs, starts } = stepsOf(selection.range.startMs, selection.range.stopMs, maxPoints);
  const counts = starts.map(() => LEVELS.map(() => 0));
  const firstMs = starts[0] ?? 0;
  const add = (place: number, level: number, events: number) => {
    counts[Math.min(Math.max(place, 0), starts.length - 1)]![level]! += events;
  };
  const [first, step] = [BigInt(firstMs) * 1_000_000n, BigInt(stepMs) * 1_000_000n];
  if (starts.length > 0) {
    await aggregate(
      source,
      selection,
      {
        summary: ({ minutes }) => {
          if (stepMs % 60_000 !== 0) return false;
          for (const [minute, levels] of minutes) {
            const place = Math.floor((minute * 60_000 - firstMs) / stepMs);
            levels.forEach((events, level) => {
              if (events > 0) add(place, level, events);
            });
          }
          return true;
        },
        sql: () => ({
          text: `((t - ?::bigint) // ?::bigint)::integer, severity::integer, count(*)::double % group by all`,
          before: [first, step],
          except: FALSE,
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
      },
      signal,
    );
  }
  return { stepMs, starts, counts };
}

export interface ValueCounts<Value> {
  readonly counts: Map<Value, number>;
  /** Events that hold any of them. */
  readonly holding: number;
}

export async function values(
  source: Source,
  selection: Selection,
  field: Target,
  type: "string" | "boolean",
  signal: AbortSignal,
): Promise<ValueCounts<string | boolean>> {
  const counts = new Map<string | boolean, number>();
  let holding = 0;
  const add = (value: string | boolean, events: number) => counts.set(value, (counts.get(value) ?? 0) + events);
  const isLevel = field.at === "entry" && field.name === "level";
  const key = pathKey(field);
  await aggregate(
    source,
    selection,
    {
      summary: (summary) => {
        if (isLevel && type === "string") {
          for (const levels of summary.minutes.values()) {
            levels.forEach((events, level) => {
              if (events > 0) add(LEVELS[level]!, events);
            });
          }
          holding += summary.events;
          return true;
        }
        if (field.at === "entry") return type === "boolean";
        if (summary.isCut || key === undefined) return false;
        const known = summary.fields.get(key);
        if (known === undefined || known[type] === 0) return true;
        if (known.values === undefined) return false;
        for (const [value, events] of known.values) if (typeof value === type) add(value, events);
        holding += known[type];
        return true;
      },
      sql: (segment) => {
        if (isLevel) return type === "boolean" ? NOTHING : grouped("severity::integer", [], FALSE);
        return ofField(field, segment, type, (value, list) => grouped(value.text, value.values, list));
      },
      rows: ([found, totals]) => {
        for (let i = 0; i < found!.length; i++) {
          const value = found![i] as string | boolean | number | null;
          if (value === null) continue;
          add(typeof value === "number" ? LEVELS[value]! : value, totals![i] as number);
          holding += totals![i] as number;
        }
      },
      event: ({ event }) => {
        const here = new Set<string | boolean>();
        eachElement(valueAt(event, field), (element) => {
          if (typeof element === type) here.add(isLevel ? levelOf(element as string)! : (element as string | boolean));
        });
        for (const value of here) add(value, 1);
        if (here.size > 0) holding++;
      },
    },
    signal,
  );
  return { counts, holding };
}

const grouped = (value: string, before: readonly SqlValue[], except: Sql): Statement => ({
  text: `${value} as value, count(*)::double % group by value`,
  before,
  except,
});

/** A statement of no rows. */
const NOTHING: Statement = { text: "null, 0.0 % limit 0", before: [], except: FALSE };

export interface Numbers {
  count: number;
  sum: number;
  min: number;
  max: number;
}

export async function numbers(
  source: Source,
  selection: Selection,
  field: Target,
  signal: AbortSignal,
): Promise<Numbers> {
  const all = { count: 0, sum: 0, min: Number.POSITIVE_INFINITY, max: Number.NEGATIVE_INFINITY };
  const add = ({ count, sum, min, max }: Numbers) => {
    if (count === 0) return;
    all.count += count;
    all.sum += sum;
    if (min < all.min) all.min = min;
    if (max > all.max) all.max = max;
  };
  // The entry's own properties are texts.
  if (field.at === "entry") return all;
  const key = pathKey(field);
  await aggregate(
    source,
    selection,
    {
      summary: ({ fields, isCut }) => {
        if (isCut || key === undefined) return false;
        const known = fields.get(key);
        if (known !== undefined) add(known.numbers);
        return true;
      },
      sql: (segment) =>
        ofField(field, segment, "number", ({ text, values }, list) => ({
          text: `count(value)::double, sum(value), min(value), max(value) from (select ${text} as value %)`,
          before: values,
          except: list,
        })),
      rows: ([counts, sums, mins, maxes]) => {
        for (let i = 0; i < counts!.length; i++) {
          const count = counts![i] as number;
          if (count > 0) add({ count, sum: sums![i] as number, min: mins![i] as number, max: maxes![i] as number });
        }
      },
      event: ({ event }) =>
        eachElement(valueAt(event, field), (element) => {
          if (typeof element === "number") add({ count: 1, sum: element, min: element, max: element });
        }),
    },
    signal,
  );
  return all;
}

export async function discovered(
  source: Source,
  selection: Selection,
  signal: AbortSignal,
): Promise<DiscoveredField[]> {
  const found = new Map<string, { path: readonly string[]; counts: Record<DiscoveredType, number> }>();
  let total = 0;
  const of = (path: readonly string[]) => {
    const key = JSON.stringify(path);
    let field = found.get(key);
    if (field === undefined) {
      field = { path: [...path], counts: { string: 0, number: 0, boolean: 0 } };
      found.set(key, field);
    }
    return field.counts;
  };
  await aggregate(
    source,
    selection,
    {
      summary: ({ events, fields, isCut }) => {
        if (isCut) return false;
        total += events;
        for (const { path, string, number, boolean } of fields.values()) {
          const counts = of(path);
          counts.string += string;
          counts.number += number;
          counts.boolean += boolean;
        }
        return true;
      },
      // Of a part of the events: each is read.
      sql: () => undefined,
      rows: () => {},
      event: ({ event }) => {
        total++;
        eachField(event.fields, (path, value) => {
          const type = discoveredType(value);
          if (type !== undefined) of(path)[type]++;
          else if (Array.isArray(value)) {
            const types = new Set<DiscoveredType>();
            eachElement(value, (element) => {
              const type = discoveredType(element);
              if (type !== undefined) types.add(type);
            });
            for (const type of types) of(path)[type]++;
          }
        });
      },
    },
    signal,
  );
  return [...found.values()]
    .flatMap(({ path, counts }) =>
      (["boolean", "number", "string"] as const)
        .filter((type) => counts[type] > 0)
        .map((type) => ({ name: fieldName(path), type, count: counts[type], percent: counts[type] / total })),
    )
    .sort((a, b) => b.count - a.count || compareText(a.name, b.name) || compareText(a.type, b.type))
    .slice(0, MAX_DISCOVERED_FIELDS);
}

/** Most frequent first, then `compare`. */
export function top<Value>(
  { counts, holding }: ValueCounts<Value>,
  limit: number,
  compare: (a: Value, b: Value) => number,
) {
  return [...counts]
    .sort(([a, m], [b, n]) => n - m || compare(a, b))
    .slice(0, limit)
    .map(([value, count]) => ({ value, count, percent: count / holding }));
}

/** The counts of a histogram by the names of levels; those without any event are left out. */
export function byLevel({ starts, counts }: Histogram) {
  const levels = LEVELS.map((_, level) => level).filter((level) => counts.some((one) => one[level]! > 0));
  return starts.map((start, i) => ({
    timestamp: new Date(start).toISOString(),
    counts: Object.fromEntries(levels.map((level) => [LEVELS[level]!, counts[i]![level]!])) as Partial<
      Record<Level, number>
    >,
  }));
}

/** A statement over a field's values of one type, NULL where it has none; lists are excepted. */
function ofField(
  field: Target,
  segment: Segment,
  type: ColumnType,
  statement: (value: Sql, list: Sql) => Statement,
): Statement | undefined {
  if (field.at === "entry") {
    if (type !== "string") return NOTHING;
    // As text a time stands in few events, and in the others it is made of its nanoseconds.
    if (field.name === "timestamp") return undefined;
    return statement(sql(field.name === "id" ? ID : field.name), FALSE);
  }
  const column = segment.columns.get(JSON.stringify(field.path));
  if (column !== undefined) return column === type ? statement(sql(columnOf(field.path, type)), FALSE) : NOTHING;
  const path = jsonPath(field.path);
  if (path === undefined) return undefined;
  const key = pathKey(field);
  const known = key === undefined || segment.summary.isCut ? undefined : segment.summary.fields.get(key);
  if (key !== undefined && !segment.summary.isCut && known === undefined) return NOTHING;
  const json = "json_extract(fields, ?)::varchar";
  const value =
    type === "string"
      ? sql(`(case when starts_with(${json}, '"') then json_extract_string(fields, ?) end)`, path, path)
      : type === "number"
        ? sql(`try_cast(${json} as double)`, path)
        : sql(`(case ${json} when 'true' then true when 'false' then false end)`, path);
  const hasLists = known === undefined || known.plain < known.present;
  return statement(value, hasLists ? sql(`coalesce(starts_with(${json}, '['), false)`, path) : FALSE);
}

/** The key of a path in summaries; paths with an index have none. */
const pathKey = (field: Target): string | undefined =>
  field.at === "fields" && field.path.every((key) => typeof key === "string") ? JSON.stringify(field.path) : undefined;

function valueAt(event: Event, field: Target): unknown {
  if (field.at === "entry") return event[field.name];
  let value: unknown = event.fields;
  for (const key of field.path) {
    if (typeof value !== "object" || value === null || Array.isArray(value) !== (typeof key === "number"))
      return undefined;
    if (!Object.hasOwn(value, key)) return undefined;
    value = (value as Record<string | number, unknown>)[key];
  }
  return value;
}
