import type { Event } from "../../../schema/rpc.generated.ts";

/** The value of a field, named as a query names it: `status`, `user.email`, `fields["odd key"]`, `items[0]`. */
export function valueAt(event: Event, name: string): unknown {
  if (name === "level" || name === "message" || name === "timestamp") return event[name];
  let value: unknown = event.fields;
  for (const key of keysOf(name)) {
    if (typeof value !== "object" || value === null) return undefined;
    value = Array.isArray(value) ? value[Number(key)] : Object.hasOwn(value, key) ? (value as never)[key] : undefined;
  }
  return value;
}

/** A value as one line of text. */
export function textOfValue(value: unknown): string {
  if (value === undefined) return "";
  return typeof value === "string" ? value : JSON.stringify(value);
}

function keysOf(name: string): string[] {
  const keys: string[] = [];
  for (const [, plain, index, quoted] of name.matchAll(/([^.[\]]+)|\[(\d+)\]|\[("(?:[^"\\]|\\.)*")\]/g)) {
    if (quoted !== undefined) keys.push(textIn(quoted));
    else keys.push(index ?? plain!);
  }
  // `fields["odd key"]` names a field by its key alone.
  return keys.length > 1 && keys[0] === "fields" ? keys.slice(1) : keys;
}

/** The text of a string of the language: JSON's escapes, and `\\*` for a star. */
function textIn(quoted: string): string {
  try {
    return JSON.parse(quoted.replaceAll("\\*", "*")) as string;
  } catch {
    return quoted.slice(1, -1);
  }
}
