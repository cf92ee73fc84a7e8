import { compileRoutes, type Route } from "../../grammar/route/index.ts";
import { type Handler, type Header, withoutHeaders } from "../exchange.ts";

export interface HeaderRule {
  readonly route: Route;
  readonly headers: Readonly<Record<string, string>>;
}

/**
 * Adds the configured headers to every response. All matching patterns contribute; for one header name the most
 * specific pattern wins, and what a rule says replaces what the app sent.
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
    for (const { value } of table.all(request.clientPath)) {
      for (const [name, text] of value) {
        const key = name.toLowerCase();
        if (!added.has(key)) added.set(key, [name, text]);
      }
    }
    if (added.size === 0) return response;
    return { ...response, headers: [...withoutHeaders(response.headers, new Set(added.keys())), ...added.values()] };
  };
}
