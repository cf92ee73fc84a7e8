import type { Span } from "../problem.ts";

/** A rule of route.ohm that matched, and where. Tokens cover the source without gaps. */
export interface RouteToken {
  readonly kind: string;
  readonly text: string;
  readonly span: Span;
}

/** A parsed route pattern. Two captures never touch: there is literal text between them. */
export interface Route {
  readonly source: string;
  readonly parts: readonly RoutePart[];
}

export type RoutePart = Literal | Param | Wildcard;

/**
 * Characters that stand for themselves. `text` is decoded, and only what would change its meaning stays
 * percent-encoded, in upper case: `%25`, `%2F`, `%5C` and bytes that are not UTF-8. Never empty.
 */
export interface Literal {
  readonly kind: "literal";
  readonly text: string;
  readonly span: Span;
}

/** `:name`: at least one character, none of them a slash. */
export interface Param {
  readonly kind: "param";
  readonly name: string;
  readonly span: Span;
}

/** `*`: any characters, slashes included, or none. The last part of a pattern is captured as `splat`. */
export interface Wildcard {
  readonly kind: "wildcard";
  readonly span: Span;
}

/** A parsed redirect target. */
export interface Location {
  readonly source: string;
  /** `https://example.com:8080`, or empty for a location on the same host. */
  readonly origin: string;
  /** The rest after the origin: path, query and fragment. */
  readonly parts: readonly LocationPart[];
  /** Whether the location has a query of its own, which replaces that of the request. */
  readonly hasQuery: boolean;
}

export type LocationPart = LocationText | Placeholder;

/** Text as it goes into the header: a valid piece of a URL, percent-encoded where needed. */
export interface LocationText {
  readonly kind: "text";
  readonly text: string;
  readonly span: Span;
}

/** `:name` or `:splat`, to be replaced by what the pattern captured. */
export interface Placeholder {
  readonly kind: "placeholder";
  readonly name: string;
  readonly span: Span;
}
