import { LEVELS } from "../../../grammar/query/index.ts";
import { discoveredType, eachElement, eachField, MAX_DEPTH } from "../field-paths.ts";

/**
 * What is known of a set of events without looking at them: enough to answer counts, histograms by minutes, statistics
 * and discovery where no query narrows them.
 */
export interface Summary {
  events: number;
  /** By minute since 1970: how many events of each severity. */
  readonly minutes: Map<number, number[]>;
  /** By the JSON of a path. */
  readonly fields: Map<string, FieldSummary>;
  /** More paths than MAX_FIELDS were seen: the rest is not here. */
  isCut: boolean;
}

export interface FieldSummary {
  readonly path: readonly string[];
  /** Events in which the path has a value, of whatever type. */
  present: number;
  /** Events whose value there is a text, number or boolean itself, and no list. */
  plain: number;
  /** Events that hold a value of the type, in a list too. */
  string: number;
  number: number;
  boolean: number;
  numbers: { count: number; min: number; max: number; sum: number };
  /** Events that hold each text or truth, as long as there are few different ones and they are short. */
  values: Map<string | boolean, number> | undefined;
}

export const emptySummary = (): Summary => ({ events: 0, minutes: new Map(), fields: new Map(), isCut: false });

// A path that differs in each event is data; a hundred times what people make by hand.
export const MAX_FIELDS = 5000;
/** Different values of a field that are counted one by one. Beyond that the events have to be asked. */
export const MAX_VALUES = 256;
const MAX_VALUE_LENGTH = 128;

export function addToSummary(
  summary: Summary,
  minute: number,
  severity: number,
  fields: Readonly<Record<string, unknown>>,
): void {
  addEvent(summary, minute, severity);
  eachField(fields, (path, value) => {
    const key = JSON.stringify(path);
    let field = summary.fields.get(key);
    if (field === undefined) {
      if (summary.fields.size >= MAX_FIELDS) {
        summary.isCut = true;
        return;
      }
      field = emptyField([...path]);
      summary.fields.set(key, field);
    }
    addValue(field, value);
  });
}

/** Counts an event without its fields. */
export function addEvent(summary: Summary, minute: number, severity: number): void {
  summary.events++;
  let levels = summary.minutes.get(minute);
  if (levels === undefined) {
    levels = LEVELS.map(() => 0);
    summary.minutes.set(minute, levels);
  }
  levels[severity]!++;
}

export const emptyField = (path: readonly string[]): FieldSummary => ({
  path,
  present: 0,
  plain: 0,
  string: 0,
  number: 0,
  boolean: 0,
  numbers: { count: 0, min: Number.POSITIVE_INFINITY, max: Number.NEGATIVE_INFINITY, sum: 0 },
  values: new Map(),
});

/** Counts an event that holds the value at the field. */
export function addValue(field: FieldSummary, value: unknown): void {
  field.present++;
  const type = discoveredType(value);
  if (type !== undefined) {
    field.plain++;
    field[type]++;
    if (type === "number") addNumber(field, value as number);
    else countValue(field, value as string | boolean);
    return;
  }
  if (!Array.isArray(value)) return;
  const types = new Set<"string" | "number" | "boolean">();
  const values = new Set<string | boolean>();
  eachElement(value, (element) => {
    const type = discoveredType(element);
    if (type === undefined) return;
    types.add(type);
    if (type === "number") addNumber(field, element as number);
    else values.add(element as string | boolean);
  });
  for (const type of types) field[type]++;
  for (const one of values) countValue(field, one);
}

/** Whether no event has anything at a path: not even a null, an empty object or a list that an index may look into. */
export function isAbsent(summary: Summary, path: readonly (string | number)[]): boolean {
  if (summary.isCut || path.length > MAX_DEPTH) return false;
  const index = path.findIndex((key) => typeof key === "number");
  const keys = index < 0 ? path : path.slice(0, index);
  return !prefixesOf(summary).has(JSON.stringify(keys));
}

function prefixesOf(summary: Summary): ReadonlySet<string> {
  const known = PREFIXES.get(summary);
  if (known?.fields === summary.fields.size) return known.prefixes;
  const prefixes = new Set<string>();
  for (const { path } of summary.fields.values()) {
    for (let length = 0; length <= path.length; length++) prefixes.add(JSON.stringify(path.slice(0, length)));
  }
  PREFIXES.set(summary, { fields: summary.fields.size, prefixes });
  return prefixes;
}

/** Made once for each segment. */
const PREFIXES = new WeakMap<Summary, { fields: number; prefixes: ReadonlySet<string> }>();

export function addNumber({ numbers }: FieldSummary, number: number): void {
  numbers.count++;
  numbers.sum += number;
  if (number < numbers.min) numbers.min = number;
  if (number > numbers.max) numbers.max = number;
}

export function countValue(field: FieldSummary, value: string | boolean, events = 1): void {
  const { values } = field;
  if (values === undefined) return;
  const count = values.get(value);
  if (count !== undefined) values.set(value, count + events);
  else if (values.size >= MAX_VALUES || (typeof value === "string" && value.length > MAX_VALUE_LENGTH)) {
    field.values = undefined;
  } else values.set(value, events);
}

/**
 * The summary of all events together. The same as if each were added, but for the last digits of sums; where there are
 * too many paths, other ones may be missing.
 */
export function mergeSummaries(summaries: readonly Summary[]): Summary {
  const merged = emptySummary();
  for (const { events, minutes, fields, isCut } of summaries) {
    merged.events += events;
    merged.isCut ||= isCut;
    for (const [minute, levels] of minutes) {
      const known = merged.minutes.get(minute);
      if (known === undefined) merged.minutes.set(minute, [...levels]);
      else for (const [level, events] of levels.entries()) known[level]! += events;
    }
    for (const [key, field] of fields) {
      let known = merged.fields.get(key);
      if (known === undefined) {
        if (merged.fields.size >= MAX_FIELDS) {
          merged.isCut = true;
          continue;
        }
        known = emptyField(field.path);
        merged.fields.set(key, known);
      }
      mergeField(known, field);
    }
  }
  return merged;
}

function mergeField(known: FieldSummary, { present, plain, string, number, boolean, numbers, values }: FieldSummary) {
  known.present += present;
  known.plain += plain;
  known.string += string;
  known.number += number;
  known.boolean += boolean;
  known.numbers.count += numbers.count;
  known.numbers.sum += numbers.sum;
  known.numbers.min = Math.min(known.numbers.min, numbers.min);
  known.numbers.max = Math.max(known.numbers.max, numbers.max);
  if (values === undefined) known.values = undefined;
  else for (const [value, events] of values) countValue(known, value, events);
}

/** As JSON, for the file beside a segment. */
export function printSummary({ events, minutes, fields, isCut }: Summary): string {
  return JSON.stringify({
    events,
    isCut,
    minutes: [...minutes],
    fields: [...fields.values()].map((field) => ({ ...field, values: field.values && [...field.values] })),
  });
}

export function readSummary(text: string): Summary {
  const { events, isCut, minutes, fields } = JSON.parse(text) as {
    events: number;
    isCut: boolean;
    minutes: [number, number[]][];
    fields: (Omit<FieldSummary, "values"> & { values?: [string | boolean, number][] })[];
  };
  return {
    events,
    isCut,
    minutes: new Map(minutes),
    fields: new Map(
      fields.map((field) => [
        JSON.stringify(field.path),
        {
          ...field,
          values: field.values && new Map(field.values),
          // JSON has no infinities.
          numbers:
            field.numbers.count > 0
              ? field.numbers
              : { count: 0, min: Number.POSITIVE_INFINITY, max: Number.NEGATIVE_INFINITY, sum: 0 },
        },
      ]),
    ),
  };
}
