// The target of a request line, from what the gateways make of it.

/**
 * A path as the client sent it, safe for a request line: what it must not contain (blanks, controls, text beyond ASCII,
 * `?` and `#`) is encoded. All else stays, also a `%` that encodes nothing (`/100%`). It begins with a slash.
 */
export function encodePath(path: string): string {
  return rooted(path).replace(UNFIT, (characters) => encoded(characters));
}

/** A path that a gateway has decoded once. Which `/` was `%2F` is lost; a `%` was `%25`. */
export function encodeDecodedPath(path: string): string {
  return encodePath(rooted(path).replaceAll("%", "%25"));
}

/** The query for these names and values, with as little encoding as possible; empty if there are none. */
export function encodeQuery(pairs: readonly (readonly [name: string, value: string])[]): string {
  if (pairs.length === 0) return "";
  return `?${pairs.map(([name, value]) => `${inQuery(name).replaceAll("=", "%3D")}=${inQuery(value)}`).join("&")}`;
}

/** A query without its question mark, as the client sent it. */
export function encodeRawQuery(query: string): string {
  return query === ""
    ? ""
    : `?${query.replace(UNFIT, (characters) => (characters === "?" ? "?" : encoded(characters)))}`;
}

const UNFIT = /[^\x21-\x7e]+|[?#]/g;

/** `+` is a blank to many parsers, `;` a separator to some; gateways refuse `|`, `{` and `}` that are not encoded. */
const UNFIT_IN_QUERY = /[^\x21-\x7e]+|["#%&+;<>[\\\]^`{|}]/g;

function inQuery(text: string): string {
  return text.replace(UNFIT_IN_QUERY, (characters) => encoded(characters));
}

function encoded(characters: string): string {
  // A surrogate without its partner is no character; UTF-8 has the replacement character for it.
  return Array.from(Buffer.from(characters), (byte) => `%${byte.toString(16).toUpperCase().padStart(2, "0")}`).join("");
}

const rooted = (path: string) => (path.startsWith("/") ? path : `/${path}`);
