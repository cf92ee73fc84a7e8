import { compileRoutes, type Route } from "../../grammar/route/index.ts";
import { type Handler, type Header, varyBy, withoutHeaders } from "../exchange.ts";

export interface HeaderRule {
  readonly route: Route;
  readonly headers: Readonly<Record<string, string>>;
}

/**
 * Adds the configured headers to every response. All matching patterns contribute; for one header name the most
 * specific pattern wins, and what a rule says replaces what the app sent, except for the headers of `MERGE`.
 */
export function headerRules(rules: readonly HeaderRule[], next: Handler): Handler {
  if (rules.length === 0) return next;
  const table = compileRoutes(
    rules.map(({ route, headers }) => ({ route, value: Object.entries(headers) })),
    { trailingSlash: "strict" },
  );
  return async (request) => {
    const response = await next(request);
    const added = new Map<string, Header>();
    const merged = new Map<string, Header>();
    for (const { value } of table.all(request.clientPath)) {
      for (const [name, text] of value) {
        const key = name.toLowerCase();
        const to = MERGE.has(key) ? merged : added;
        if (!to.has(key)) to.set(key, [name, text]);
      }
    }
    if (added.size === 0 && merged.size === 0) return response;
    let headers = added.size === 0 ? [...response.headers] : withoutHeaders(response.headers, new Set(added.keys()));
    headers.push(...added.values());
    for (const [key, header] of merged) headers = MERGE.get(key)!(headers, header);
    return { ...response, headers };
  };
}

/**
 * A response may have several of each. A rule that adds one must not remove the app's cookies, or the fields that the
 * proxy itself varies by.
 */
const MERGE: ReadonlyMap<string, (headers: Header[], rule: Header) => Header[]> = new Map([
  ["link", (headers, rule) => [...headers, rule]],
  ["set-cookie", withCookie],
  ["vary", withVary],
]);

/** RFC 6265, section 5.3: name, domain and path identify a cookie, and the last one counts. */
function withCookie(headers: Header[], rule: Header): Header[] {
  const key = cookieKey(rule[1]);
  return [...headers.filter(([name, value]) => !isNamed(name, "set-cookie") || cookieKey(value) !== key), rule];
}

function cookieKey(cookie: string): string {
  const [pair = "", ...attributes] = cookie.split(";");
  let domain = "";
  let path = "";
  for (const attribute of attributes) {
    const [name = "", value = ""] = attribute.split("=", 2).map((part) => part.trim());
    if (isNamed(name, "domain")) domain = value.replace(/^\./, "").toLowerCase();
    // A value that is no path stands for the default one.
    else if (isNamed(name, "path")) path = value.startsWith("/") ? value : "";
  }
  return JSON.stringify([pair.split("=", 1)[0]!.trim(), domain, path]);
}

function withVary(headers: Header[], [name, value]: Header): Header[] {
  const fields = value.split(",").map((field) => field.trim());
  if (fields.includes("*")) return [...withoutHeaders(headers, new Set(["vary"])), [name, "*"]];
  return fields.filter(Boolean).reduce(varyBy, headers);
}

function isNamed(name: string, lowerCase: string): boolean {
  return name.length === lowerCase.length && name.toLowerCase() === lowerCase;
}
