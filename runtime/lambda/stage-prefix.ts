import type { Header } from "../exchange.ts";

/**
 * Response headers for a client that sees the stage in front of every path, which the app does not: `Location` and the
 * `Path` of cookies get `prefix` (`/staging`) unless they have it. What is relative, or names another host, stays as it is;
 * so does a cookie without `Path`, which counts for the folder of the page, and one of `__Host-`, whose `Path` has to be
 * `/`.
 */
export function withStagePrefix(headers: readonly Header[], prefix: string, host: string): readonly Header[] {
  if (prefix === "") return headers;
  return headers.map(([name, value]): Header => {
    const key = name.length === 8 || name.length === 10 ? name.toLowerCase() : "";
    if (key === "location") return [name, prefixedLocation(value, prefix, host)];
    if (key === "set-cookie") return [name, prefixedCookie(value, prefix)];
    return [name, value];
  });
}

/** Scheme and host, of which the scheme may be missing (RFC 3986 section 4.2), then the rest. */
const ABSOLUTE = /^((?:https?:)?\/\/([^/?#\\]*))(.*)$/is;

function prefixedLocation(location: string, prefix: string, host: string): string {
  const [, origin = "", authority = "", rest = ""] = ABSOLUTE.exec(location) ?? [];
  // Browsers read `/\` as `//`: another host follows.
  if (origin === "") return /^\/(?!\\)/.test(location) ? prefixed(location, prefix) : location;
  if (withoutPort(authority) !== withoutPort(host)) return location;
  return origin + prefixed(/^[/\\]/.test(rest) ? rest : `/${rest}`, prefix);
}

/** The ports that schemes have by themselves. */
const withoutPort = (authority: string) => authority.toLowerCase().replace(/:(?:443|80)?$/, "");

function prefixed(path: string, prefix: string): string {
  const isThere = path.startsWith(prefix) && /^(?:[/?#]|$)/.test(path.slice(prefix.length));
  return isThere ? path : `${prefix}${path}`;
}

function prefixedCookie(cookie: string, prefix: string): string {
  if (/^\s*__Host-/i.test(cookie)) return cookie;
  return cookie.replace(/(;\s*path\s*=\s*)(\/[^;]*)/gi, (_, name: string, path: string) => {
    // `/staging/` would not count for `/staging`.
    return name + (path.trim() === "/" ? prefix : prefixed(path, prefix));
  });
}
