import type { Location, LocationPart, Placeholder, Route, RoutePart } from "./ast.ts";
import { normalizePath } from "./path.ts";
import { printRoute } from "./print.ts";

/**
 * Negative where `a` is more specific. The first difference from the left decides: literal text, then the end of the
 * pattern, then `:name`, then `*`; of two literals the longer one. The order knows no path, so rules can be sorted
 * once, and it is total: 0 means the same pattern.
 */
export function compareRoutes(a: Route, b: Route): number {
  return compareShaped({ route: a, parts: shape(a) }, { route: b, parts: shape(b) });
}

/** A pattern with its shape, which a sort compares many times. */
export interface Shaped {
  readonly route: Route;
  readonly parts: readonly ShapePart[];
}

/** The order of `compareRoutes`. */
export function compareShaped({ route: a, parts: left }: Shaped, { route: b, parts: right }: Shaped): number {
  for (let i = 0; i < Math.max(left.length, right.length); i++) {
    const order = compareParts(left[i], right[i]);
    if (order !== 0) return order;
  }
  // Patterns of one shape: the literal slash of `/*` is before the star of `*`, and then any order will do that is
  // always the same.
  const stars = Number(a.parts[0]!.kind === "wildcard") - Number(b.parts[0]!.kind === "wildcard");
  return stars || compareTexts(printRoute(a), printRoute(b));
}

/** Whether both match exactly the same paths: `/a/:x` and `/a/:y`, `*.css` and `/*.css`. */
export function sameShape(a: Route, b: Route): boolean {
  return shapeKey(a) === shapeKey(b);
}

/** One text for all patterns that match exactly the same paths. */
export function shapeKey(route: Route): string {
  let key = "";
  // A literal has its length before it, so that its characters are never read as anything else.
  for (const part of shape(route)) {
    key += part.kind === "literal" ? `${part.text.length}"${part.text}` : part.kind === "param" ? ":" : "*";
  }
  return key;
}

/** The names that a location may use: each `:name`, and `splat` where the pattern ends in `*`. */
export function routeCaptures(route: Route): readonly string[] {
  const names: string[] = [];
  for (const part of route.parts) if (part.kind === "param") names.push(part.name);
  if (route.parts.at(-1)?.kind === "wildcard") names.push("splat");
  return names;
}

/** The beginning of every path that the pattern matches, as `normalizePath` has it: at least a slash. */
export function literalStart(route: Route): string {
  const [first] = shape(route);
  return first?.kind === "literal" ? first.text : "";
}

/** The placeholders of a location, in order; one that occurs twice is listed twice. */
export function locationCaptures(location: Location): readonly Placeholder[] {
  return location.parts.filter((part: LocationPart) => part.kind === "placeholder");
}

/** A part of a pattern as paths meet it. */
export type ShapePart = { readonly kind: "literal"; readonly text: string } | { readonly kind: "param" | "wildcard" };

/**
 * The parts without names and with normal text. Every path starts with a slash, so a pattern that starts with `*` is
 * read as `/*`: otherwise `/*` would beat `*.css` everywhere, and the splat of `*` would hold the slash.
 */
export function shape(route: Route): readonly ShapePart[] {
  const parts = route.parts.map((part: RoutePart): ShapePart => {
    return part.kind === "literal" ? { kind: "literal", text: normalizePath(part.text).text } : { kind: part.kind };
  });
  return parts[0]?.kind === "wildcard" ? [{ kind: "literal", text: "/" }, ...parts] : parts;
}

const RANK = { literal: 0, end: 1, param: 2, wildcard: 3 } as const;

function compareParts(a: ShapePart | undefined, b: ShapePart | undefined): number {
  if (a?.kind === "literal" && b?.kind === "literal") {
    return b.text.length - a.text.length || compareTexts(a.text, b.text);
  }
  return RANK[a?.kind ?? "end"] - RANK[b?.kind ?? "end"];
}

// By UTF-16 units: the same on every machine, whatever its locale.
function compareTexts(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
