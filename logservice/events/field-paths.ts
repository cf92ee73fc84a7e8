import { HIDDEN } from "../../grammar/hidden.ts";
import { printField, type Segment, type Target } from "../../grammar/query/index.ts";
import type { DiscoveredType, Event } from "./store.ts";

/**
 * Calls `visit` for each value of an event's fields that a query can test by name: the scalars, and each type of the
 * elements of a list (lists in it, too) once for the list's name. Null has no type; objects in a list have no name.
 * An object is called for itself only where it is empty or too deep to follow. The path is valid during the call.
 */
export function eachField(
  fields: Readonly<Record<string, unknown>>,
  visit: (path: readonly string[], value: unknown) => void,
): void {
  walk(fields, [], visit);
}

function walk(object: object, path: string[], visit: (path: readonly string[], value: unknown) => void): void {
  for (const key of Object.keys(object)) {
    const value = (object as Record<string, unknown>)[key];
    path.push(key);
    if (isFollowed(value, path.length)) walk(value as object, path, visit);
    else visit(path, value);
    path.pop();
  }
}

function isFollowed(value: unknown, depth: number): boolean {
  if (typeof value !== "object" || value === null || Array.isArray(value) || depth >= MAX_FIELD_DEPTH) return false;
  for (const _key in value) return true;
  return false;
}

// By the limits an event's fields are at most ten deep. Deeper ones arrived by another way, and are still searchable.
export const MAX_FIELD_DEPTH = 32;

export function discoveredType(value: unknown): DiscoveredType | undefined {
  const type = typeof value;
  return type === "string" || type === "number" || type === "boolean" ? type : undefined;
}

/** Calls `visit` for the value itself or, of a list, for each element that is no list, however deep. */
export function eachElement(value: unknown, visit: (element: unknown) => void): void {
  if (!Array.isArray(value)) {
    if (value !== undefined) visit(value);
    return;
  }
  const lists: unknown[][] = [value];
  for (let list = lists.pop(); list !== undefined; list = lists.pop()) {
    for (const element of list) {
      if (Array.isArray(element)) lists.push(element);
      else visit(element);
    }
  }
}

/** The value that a field addresses; undefined if it is missing. */
export function fieldValueOf(event: Event, field: Target): unknown {
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

/** The name by which a query finds the value at these keys below `fields`. */
export function fieldName(path: readonly string[]): string {
  const span = { start: 0, end: 0 };
  const segments = path.map((key): Segment => ({ kind: "key", key, span }));
  const [first = ""] = path;
  const isAlone = path.length === 1;
  const isOther = isAlone ? OWN.has(first) || WORDS.test(first) : first === "fields" || RESERVED.test(first);
  const isShadowed = isOther || first === "$";
  const all = isShadowed || !NAME.test(first) ? [{ kind: "key", key: "fields", span } as const, ...segments] : segments;
  return printField({ path: all, span });
}

const OWN = new Set(["level", "message", "timestamp", "id"]);
const NAME = new RegExp(`^(?!.*[${HIDDEN}])[\\p{L}_@$][\\p{L}0-9_@$-]*$`, "u");
// Names that mean something else in a query if they are not quoted.
const RESERVED = /^(and|or|not|in|contains|exists)$/i;
const WORDS =
  /^(and|or|not|in|contains|exists|debug|trace|verbose|info|notice|warn|warning|error|err|critical|crit|alert|emergency|emerg|fatal|production|staging|development)$/i;
