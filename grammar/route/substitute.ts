import type { Location } from "./ast.ts";
import { percentEncode } from "./path.ts";

/**
 * The URL (or, for a location without origin, the path) that a location gives for captures of `RouteMatch`. A value
 * goes in as the client sent it; only bytes that a path may not hold are percent-encoded, and in a query also those
 * that would end a value. So no control character, quote or backslash can come through.
 *
 * `query`, the request's own (raw, without the question mark), is added where the location has none.
 */
export function substitute(
  location: Location,
  captures: Readonly<Record<string, string>>,
  query?: string | undefined,
): string {
  let target = "";
  let forbidden = OUTSIDE_PATH;
  for (const part of location.parts) {
    if (part.kind === "text") {
      target += part.text;
      if (part.text.includes("?")) forbidden = OUTSIDE_QUERY_VALUE;
      if (part.text.includes("#")) forbidden = OUTSIDE_PATH;
    } else if (Object.hasOwn(captures, part.name)) {
      target += captures[part.name]!.replace(forbidden, percentEncode);
    }
  }
  if (query && !location.hasQuery) {
    const fragment = target.indexOf("#");
    const end = fragment < 0 ? target.length : fragment;
    target = `${target.slice(0, end)}?${query.replace(OUTSIDE_QUERY, percentEncode)}${target.slice(end)}`;
  }
  // "//evil.example" would be another host: a captured value, or an empty one, must not make a location that.
  return location.origin === "" ? target.replace(/^\/{2,}/, "/") : location.origin + target;
}

// RFC 3986, 3.3: a path holds unreserved characters, sub-delims, ":" "@" "/" and percent-encoded bytes; a percent sign
// that starts no byte is encoded itself.
const OUTSIDE_PATH = /[^!$%&'()*+,\-./0-9:;=@A-Z_a-z~]|%(?![0-9A-Fa-f]{2})/gu;

// In a form-encoded query "&" ends a value and "+" is a space.
const OUTSIDE_QUERY_VALUE = /[^!$%'()*,\-./0-9:;=@A-Z_a-z~]|%(?![0-9A-Fa-f]{2})/gu;

// RFC 3986, 3.4, and brackets, which browsers leave alone. A query is passed on as it came: its percent signs are not ours.
const OUTSIDE_QUERY = /[^!$%&'()*+,\-./0-9:;=?@A-Z[\]_a-z~]/gu;
