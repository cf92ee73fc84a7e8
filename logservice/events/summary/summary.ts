import { addToSum, type ExactSum, LEVELS, mergeSums } from "../../../grammar/query/index.ts";
import { discoveredType, eachElement, eachField, MAX_FIELD_DEPTH } from "../field-paths.ts";

/**
 * The facts about a set of events that are known without looking at them: enough to answer counts, histograms by
 * minutes, statistics and discovery if no query narrows them, or one of nothing but the level.
 */
export interface Summary {
  events: number;
  /** By minute since 1970: how many events of each severity. */
  readonly minutes: Map<number, number[]>;
  /** By severity, or ANY_SEVERITY: the fields of those events. */
  readonly fields: Map<number, Fields>;
  /** More paths than MAX_FIELDS were seen: the rest is not here. */
  isCut: boolean;
}

/** By the JSON of a path. */
export type Fields = Map<string, FieldSummary>;

/** Stands in for all severities in older summaries, which did not separate levels. */
const ANY_SEVERITY = -1;

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
  /** `lost` is not a number if the sum is not known to its last digit: older summaries did not keep it. */
  numbers: { count: number; min: number; max: number } & ExactSum;
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
    let field = summary.fields.get(severity)?.get(key);
    if (field === undefined) {
      const keys = new Set([...summary.fields.values()].flatMap((fields) => [...fields.keys()]));
      if (keys.size >= MAX_FIELDS && !keys.has(key)) {
        summary.isCut = true;
        return;
      }
      field = newField(summary, severity, key, [...path]);
    }
    addValue(field, value);
  });
}

/** Adds a path that was not seen in events of that severity. */
export function newField(summary: Summary, severity: number, key: string, path: readonly string[]): FieldSummary {
  const field = emptyField(path);
  const fields = summary.fields.get(severity);
  if (fields === undefined) summary.fields.set(severity, new Map([[key, field]]));
  else fields.set(key, field);
  return field;
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

const noNumbers = () => ({ count: 0, min: Number.POSITIVE_INFINITY, max: Number.NEGATIVE_INFINITY, sum: 0, lost: 0 });

export const emptyField = (path: readonly string[]): FieldSummary => ({
  path,
  present: 0,
  plain: 0,
  string: 0,
  number: 0,
  boolean: 0,
  numbers: noNumbers(),
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

/** The fields of all events together. Computed once, so the summary must be complete. */
export function allFields(summary: Summary): Fields {
  let all = ALL_FIELDS.get(summary);
  if (all === undefined) {
    all = new Map();
    for (const fields of summary.fields.values()) {
      for (const [key, field] of fields) {
        const total = all.get(key) ?? emptyField(field.path);
        mergeField(total, field);
        all.set(key, total);
      }
    }
    ALL_FIELDS.set(summary, all);
  }
  return all;
}

const ALL_FIELDS = new WeakMap<Summary, Fields>();

/** Those whose events have one of the levels (by severity), each of them once. Undefined where that is not known. */
export function fieldsOfLevels({ fields, isCut }: Summary, levels: readonly boolean[]): Fields[] | undefined {
  if (isCut) return undefined;
  if (levels.every((isSelected) => isSelected)) return [...fields.values()];
  if (fields.has(ANY_SEVERITY)) return undefined;
  return [...fields].filter(([severity]) => levels[severity]).map(([, one]) => one);
}

/** The events of some levels by minute and severity. */
export function minutesOfLevels({ minutes }: Summary, levels: readonly boolean[]): Summary["minutes"] {
  if (levels.every((isSelected) => isSelected)) return minutes;
  return new Map([...minutes].map(([minute, counts]) => [minute, counts.map((n, i) => (levels[i] ? n : 0))]));
}

export function eventsOfLevels(summary: Summary, levels: readonly boolean[]): number {
  if (levels.every((isSelected) => isSelected)) return summary.events;
  let events = 0;
  for (const counts of minutesOfLevels(summary, levels).values()) for (const n of counts) events += n;
  return events;
}

/** Whether no event has anything at a path: not even a null, an empty object or a list that an index may look into. */
export function isAbsent(summary: Summary, path: readonly (string | number)[]): boolean {
  if (summary.isCut || path.length > MAX_FIELD_DEPTH) return false;
  const index = path.findIndex((key) => typeof key === "number");
  const keys = index < 0 ? path : path.slice(0, index);
  return !prefixesOf(summary).has(JSON.stringify(keys));
}

/** Whether any event may have an object there with something in it. Also of a summary that grows. */
export function hasInside({ fields, isCut }: Summary, path: readonly (string | number)[]): boolean {
  if (isCut) return true;
  for (const ofLevel of fields.values()) {
    for (const { path: full } of ofLevel.values()) {
      if (full.length > path.length && path.every((key, at) => full[at] === key)) return true;
    }
  }
  return false;
}

function prefixesOf(summary: Summary): ReadonlySet<string> {
  const existing = PREFIXES.get(summary);
  if (existing !== undefined) return existing;
  const prefixes = new Set<string>();
  for (const { path } of allFields(summary).values()) {
    for (let length = 0; length <= path.length; length++) prefixes.add(JSON.stringify(path.slice(0, length)));
  }
  PREFIXES.set(summary, prefixes);
  return prefixes;
}

/** Made once for each segment. */
const PREFIXES = new WeakMap<Summary, ReadonlySet<string>>();

export function addNumber({ numbers }: FieldSummary, number: number): void {
  numbers.count++;
  addToSum(numbers, number);
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
 * The summary of all events together. The same as if each were added; where there are too many paths, other ones may be
 * missing.
 */
export function mergeSummaries(summaries: readonly Summary[]): Summary {
  const merged = emptySummary();
  const keys = new Set<string>();
  for (const { events, minutes, fields, isCut } of summaries) {
    merged.events += events;
    merged.isCut ||= isCut;
    for (const [minute, levels] of minutes) {
      const existing = merged.minutes.get(minute);
      if (existing === undefined) merged.minutes.set(minute, [...levels]);
      else for (const [level, events] of levels.entries()) existing[level]! += events;
    }
    for (const [severity, ofLevel] of fields) {
      for (const [key, field] of ofLevel) {
        if (keys.size >= MAX_FIELDS && !keys.has(key)) {
          merged.isCut = true;
          continue;
        }
        keys.add(key);
        mergeField(merged.fields.get(severity)?.get(key) ?? newField(merged, severity, key, field.path), field);
      }
    }
  }
  return merged;
}

function mergeField(total: FieldSummary, { present, plain, string, number, boolean, numbers, values }: FieldSummary) {
  total.present += present;
  total.plain += plain;
  total.string += string;
  total.number += number;
  total.boolean += boolean;
  total.numbers.count += numbers.count;
  mergeSums(total.numbers, numbers);
  total.numbers.min = Math.min(total.numbers.min, numbers.min);
  total.numbers.max = Math.max(total.numbers.max, numbers.max);
  if (values === undefined) total.values = undefined;
  else for (const [value, events] of values) countValue(total, value, events);
}

/** As JSON, for the file beside a segment. */
export function printSummary({ events, minutes, fields, isCut }: Summary): string {
  return JSON.stringify({
    events,
    isCut,
    minutes: [...minutes],
    levels: [...fields].map(([severity, ofLevel]) => [
      severity,
      [...ofLevel.values()].map((field) => ({ ...field, values: field.values && [...field.values] })),
    ]),
  });
}

export function readSummary(text: string): Summary {
  const { events, isCut, minutes, levels, fields } = JSON.parse(text) as {
    events: number;
    isCut: boolean;
    minutes: [number, number[]][];
    levels?: [number, PrintedField[]][];
    fields: PrintedField[];
  };
  return {
    events,
    isCut,
    minutes: new Map(minutes),
    fields: new Map((levels ?? [[ANY_SEVERITY, fields]]).map(([severity, some]) => [severity, readFields(some)])),
  };
}

type PrintedField = Omit<FieldSummary, "values" | "numbers"> & {
  readonly values?: readonly [string | boolean, number][];
  /** `lost` is missing in older summaries, and null in place of what is no number. */
  readonly numbers: Omit<FieldSummary["numbers"], "lost"> & { readonly lost?: number | null };
};

const readFields = (fields: readonly PrintedField[]): Fields =>
  new Map(
    fields.map((field) => [
      JSON.stringify(field.path),
      {
        ...field,
        values: field.values && new Map(field.values),
        // JSON has no infinities.
        numbers: field.numbers.count > 0 ? readNumbers(field.numbers) : noNumbers(),
      },
    ]),
  );

/** An older sum of whole numbers has lost nothing. */
const readNumbers = ({ lost, ...numbers }: PrintedField["numbers"]): FieldSummary["numbers"] => ({
  ...numbers,
  lost: lost ?? (lost === undefined && Number.isSafeInteger(numbers.sum) ? 0 : Number.NaN),
});
