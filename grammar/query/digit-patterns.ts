import { type Field, target } from "./ast.ts";
import { KNOWN_FIELDS } from "./known-fields.ts";

/**
 * `5xx`, `50x`, `4*` beside a field of numbers, as ranges of three digits: texts with wildcards never equal a number.
 * `any` is a star alone. Undefined for any other text.
 */
export function digitPattern(text: string): { readonly from: number; readonly to: number } | "any" | undefined {
  if (/^\*+$/.test(text)) return "any";
  const [, digits] = /^([1-9]\d{0,2})(?:x+|\*+)$/i.exec(text) ?? [];
  if (digits === undefined || (/x$/i.test(text) && text.length !== 3)) return undefined;
  // 500* is 500 and nothing else that a status can be.
  const step = 10 ** (3 - digits.length);
  const from = Number(digits) * step;
  return { from, to: from + step };
}

/** Whether the values of a field are status codes, as far as its name tells: `status`, `http.status_code`, `statusCode`. */
export function isStatusField(field: Field): boolean {
  const key = lastKey(field);
  return key !== undefined && /status|^(?:http|response)_?code$/i.test(key);
}

/** Whether the values of a field are numbers, as far as its name tells. */
export function isNumberField(field: Field): boolean {
  const place = target(field);
  const name = place.at === "fields" && place.path.length === 1 ? place.path[0] : undefined;
  const type = KNOWN_FIELDS.find((candidate) => candidate.name === name)?.type;
  return isStatusField(field) || type === "number" || type === "bytes" || type === "duration";
}

function lastKey(field: Field): string | undefined {
  const place = target(field);
  const key = place.at === "fields" ? place.path.at(-1) : undefined;
  return typeof key === "string" ? key : undefined;
}
