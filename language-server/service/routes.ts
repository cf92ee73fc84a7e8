import { compareRoutes, compileRoutes, parseRoute, type Route } from "../../grammar/route/index.ts";
import type { ToolDocument } from "./document.ts";

/** A path that a pattern matches, with `id` for `:id` and `a/b` for `*`. Undefined if it cannot be written. */
export function sampleOf(route: Route): string | undefined {
  let path = "";
  for (const part of route.parts) {
    if (part.kind === "param") path += part.name;
    else if (part.kind === "wildcard") path += "a/b";
    else if (/\p{Cs}/u.test(part.text)) return undefined;
    else path += encodeURI(part.text).replaceAll("%25", "%");
  }
  return path.startsWith("/") ? path : `/${path}`;
}

/**
 * The patterns of the same section that match some of the same paths: those that this one wins over there, and those
 * that win over it, the nearest first. Overlaps are found by sample paths, so that one may be missed if both patterns
 * have stars.
 */
export function rivals(
  document: ToolDocument,
  section: string,
  route: Route,
): { readonly beats: readonly string[]; readonly yields: readonly string[] } {
  const entries = section === "redirects" ? document.routes() : document.headers();
  const trailingSlash = section === "redirects" ? "optional" : "strict";
  const others: Route[] = [];
  for (const { key } of entries) {
    const parsed = key.value === route.source ? undefined : parseRoute(key.value);
    if (parsed?.ok) others.push(parsed.value);
    if (others.length >= MAX_OTHERS) break;
  }
  const matches = new Set<string>();
  const sample = sampleOf(route);
  if (sample !== undefined) {
    const table = compileRoutes(
      others.map((value) => ({ route: value, value })),
      { trailingSlash },
    );
    for (const { value } of table.all(sample)) matches.add(value.source);
  }
  const own = compileRoutes([{ route, value: route }], { trailingSlash });
  const rivals = others
    .filter((other) => {
      if (matches.has(other.source)) return true;
      const path = sampleOf(other);
      return path !== undefined && own.first(path) !== undefined;
    })
    .sort(compareRoutes);
  const winsOver = (other: Route) => compareRoutes(route, other) < 0;
  return {
    beats: rivals.filter(winsOver).map(({ source }) => source),
    yields: rivals
      .filter((other) => !winsOver(other))
      .map(({ source }) => source)
      .reverse(),
  };
}

// A hover has to be answered in milliseconds, so the pattern is compared with no more rules than this.
const MAX_OTHERS = 2000;
