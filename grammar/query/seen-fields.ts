import type { Entry } from "../entry.ts";
import { levelOf } from "./levels.ts";
import { readLoggerLine } from "./loggers.ts";
import { printField } from "./print.ts";

/** The fields, types and levels that the entries of a log have, as far as they were read. */
export interface SeenFields {
  /** The names of their fields, as a query writes them. */
  readonly names: readonly string[];
  /** The values of those fields; of a service only as far as it tells. */
  readonly values: ReadonlyMap<string, SeenValues>;
  /** The levels that are none of ours. */
  readonly levels: ReadonlySet<string>;
  /** In how many entries a field has to be before its types say what others will have; 1 by default. */
  readonly minCount?: number;
  /** The entries that were read, in words after "in all of"; `812 entries` by default. */
  readonly among?: (count: string) => string;
}

/** The values that a field was seen to hold. */
export interface SeenValues {
  /** In how many entries it holds one of `types`. Null has no type, and that of a list is that of its elements. */
  readonly count: number;
  readonly types: ReadonlySet<ValueType>;
}

/** `other` is an object that is too deep to be followed. */
export type ValueType = "text" | "number" | "boolean" | "other";

export const NOTHING_SEEN: SeenFields = { names: [], values: new Map(), levels: new Set() };

/** Depth of nested fields such as user.email. */
const MAX_DEPTH = 4;
const MAX_NAMES = 1_000;

/** With fewer entries a field may hold values of another type in the next one. */
const ENOUGH = 20;

/** The fields of the newest lines of a log. The first and last line may be cut off; what is no object of JSON is passed over. */
export function seenFields(lines: string): SeenFields {
  const values = new Map<string, CountedValues>();
  const levels = new Set<string>();
  for (const line of lines.split("\n")) {
    const entry = entryOf(line);
    if (entry === undefined) continue;
    addValues(entry.fields ?? {}, [], values);
    if (typeof entry.level === "string" && levelOf(entry.level) === undefined) levels.add(entry.level);
  }
  return { names: [...values.keys()], values, levels, minCount: ENOUGH };
}

function entryOf(line: string): Partial<Entry> | undefined {
  if (!line.startsWith("{")) return undefined;
  try {
    const object = JSON.parse(line);
    if (typeof object.fields === "object" && object.fields !== null) return object;
    const { level, others } = readLoggerLine(object) ?? { level: undefined, others: object };
    return { ...(level !== undefined && { level }), fields: others };
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    return undefined;
  }
}

/** A field of the events of a log service, once for each type of its values. */
export interface DiscoveredValues {
  readonly name: string;
  readonly type: "string" | "number" | "boolean";
  /** In how many events. */
  readonly count: number;
}

/** The fields that a log service has discovered in its events. */
export function seenInService(fields: readonly DiscoveredValues[]): SeenFields {
  const values = new Map<string, CountedValues>();
  // If the list was cut off, rare types of a field may be missing.
  for (const { name, type, count } of fields.length < MAX_NAMES ? fields : []) {
    const seen = values.get(name) ?? { count: 0, types: new Set() };
    values.set(name, seen);
    seen.count += count;
    seen.types.add(type === "string" ? "text" : type);
  }
  const names = [...new Set(fields.map(({ name }) => name))];
  return { ...NOTHING_SEEN, names, values, among: (count) => `${count} ${count === "1" ? "event" : "events"}` };
}

/** `SeenValues` that grow. */
export interface CountedValues {
  count: number;
  readonly types: Set<ValueType>;
}

/** Adds the fields of one entry that are below `path`, by their names. */
export function addValues(value: object, path: readonly string[], all: Map<string, CountedValues>): void {
  for (const [key, element] of Object.entries(value)) {
    if (all.size >= MAX_NAMES) return;
    const at = [...path, key];
    if (typeof element === "object" && element !== null && !Array.isArray(element) && at.length < MAX_DEPTH) {
      addValues(element, at, all);
      continue;
    }
    const name = nameInQuery(at);
    const seen: CountedValues = all.get(name) ?? { count: 0, types: new Set() };
    all.set(name, seen);
    if (addTypes(element, seen.types)) seen.count++;
  }
}

/** Returns false if the value has no type. */
function addTypes(value: unknown, types: Set<ValueType>): boolean {
  if (value === null) return false;
  if (!Array.isArray(value)) {
    const type = typeof value;
    types.add(type === "string" ? "text" : type === "number" || type === "boolean" ? type : "other");
    return true;
  }
  let hasType = false;
  // Lists in lists are searched by queries, too; such ones are rare.
  for (const element of value.flat(Number.POSITIVE_INFINITY)) if (addTypes(element, types)) hasType = true;
  return hasType;
}

/** The name of a field in the syntax of a query. */
export function nameInQuery(path: readonly string[]): string {
  const span = { start: 0, end: 0 };
  const [first = ""] = path;
  const isPlain = FIRST_NAME.test(first) && !KEYWORD.test(first) && !(path.length === 1 && isWord(first));
  const whole = isPlain ? path : ["fields", ...path];
  return printField({ path: whole.map((key) => ({ kind: "key", key, span })), span });
}

const FIRST_NAME = /^[\p{L}_@$][\p{L}\p{M}0-9_@$-]*$/u;
/** Keywords, which are not names, and the object of all fields. */
const KEYWORD = /^(?:and|or|not|in|contains|exists|fields)$/i;
/** Names that by themselves mean a part of the entry, or are a term. */
const isWord = (name: string) =>
  name === "level" || name === "message" || name === "timestamp" || levelOf(name) !== undefined;
