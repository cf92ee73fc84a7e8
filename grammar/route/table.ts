import type { Route } from "./ast.ts";
import { Automaton } from "./automaton.ts";
import { type CaptureSpans, compileCaptures } from "./captures.ts";
import { compareShaped, routeCaptures, type ShapePart, shape } from "./order.ts";
import { normalizePath } from "./path.ts";
import { Trie } from "./trie.ts";

export interface RouteMatch<T> {
  readonly value: T;
  readonly route: Route;
  /** The texts of each param and the splat, as the client sent them: percent-encoded bytes stay as they are. */
  readonly captures: Readonly<Record<string, string>>;
}

export interface RouteTable<T> {
  /** The most specific rule that matches a path as the client sent it, without query. */
  first(path: string): RouteMatch<T> | undefined;
  /** All rules that match, the most specific first. */
  all(path: string): RouteMatch<T>[];
}

/**
 * Compiles rules, in any order, into a table whose look-ups take the same time for 10 rules and for 1,000. Paths are
 * compared decoded (path.ts) and case-sensitively. With an "optional" trailing slash, `/blog` matches `/blog/` too; a
 * pattern that ends in a slash or in `*` is taken as written in both modes. Of rules with one and the same pattern the
 * earlier comes first.
 */
export function compileRoutes<T>(rules: readonly RouteRule<T>[], options: RouteOptions): RouteTable<T> {
  const steps = compileRoutesInSteps(rules, options);
  for (;;) {
    const step = steps.next();
    if (step.done) return step.value;
  }
}

export interface RouteRule<T> {
  readonly route: Route;
  readonly value: T;
}

export interface RouteOptions {
  readonly trailingSlash: "optional" | "strict";
}

/** The same in steps of a millisecond or two, for callers that have to answer other requests meanwhile. */
export function* compileRoutesInSteps<T>(
  rules: readonly RouteRule<T>[],
  options: RouteOptions,
): Generator<undefined, RouteTable<T>> {
  const shaped: (RouteRule<T> & { readonly parts: readonly ShapePart[] })[] = [];
  for (const [i, { route, value }] of rules.entries()) {
    if (i % RULES_PER_STEP === RULES_PER_STEP - 1) yield;
    shaped.push({ route, value, parts: shape(route) });
  }
  shaped.sort(compareShaped);
  yield;
  const trie = new Trie();
  const compiled: (RouteRule<T> & Captures)[] = [];
  for (const [rank, { route, value, parts }] of shaped.entries()) {
    if (rank % RULES_PER_STEP === RULES_PER_STEP - 1) yield;
    const optionalSlash = options.trailingSlash === "optional" && endsOpen(route);
    trie.insert(parts, rank, optionalSlash);
    compiled.push({ route, value, names: routeCaptures(route), capture: compileCaptures(parts, optionalSlash) });
  }
  yield;
  const automaton = new Automaton(trie);

  const match = (rank: number, path: string, normal: NormalText): RouteMatch<T> => {
    const { route, value, names, capture } = compiled[rank]!;
    if (names.length === 0) return { value, route, captures: NO_CAPTURES };
    return { value, route, captures: read(path, normal, names, capture(normal.text)) };
  };

  return {
    first(path) {
      let normal: NormalText = { text: path, offsets: undefined };
      let ranks = automaton.rules(path, true);
      if (ranks === undefined) {
        normal = normalizePath(path);
        ranks = automaton.rules(normal.text, false)!;
      }
      return ranks.length === 0 ? undefined : match(ranks[0]!, path, normal);
    },
    all(path) {
      let normal: NormalText = { text: path, offsets: undefined };
      let ranks = automaton.rules(path, true);
      if (ranks === undefined) {
        normal = normalizePath(path);
        ranks = automaton.rules(normal.text, false)!;
      }
      return ranks.map((rank) => match(rank, path, normal));
    },
  };
}

/** The captures of a pattern, and where they are in a text that it matches. */
interface Captures {
  readonly names: readonly string[];
  readonly capture: (text: string) => CaptureSpans;
}

const RULES_PER_STEP = 500;

type NormalText = ReturnType<typeof normalizePath>;

const NO_CAPTURES: Readonly<Record<string, string>> = Object.freeze({});

/** Whether one more slash is allowed: a pattern that ends in a slash has it already, one that ends in `*` matches it. */
function endsOpen(route: Route): boolean {
  const last = route.parts.at(-1)!;
  return last.kind === "param" || (last.kind === "literal" && !last.text.endsWith("/"));
}

function read(path: string, { offsets }: NormalText, names: readonly string[], spans: CaptureSpans) {
  const at = (i: number) => (offsets === undefined ? spans[i]! : offsets[spans[i]!]!);
  const captures: Record<string, string> = {};
  for (const [i, name] of names.entries()) {
    const value = path.slice(at(2 * i), at(2 * i + 1));
    // Assigning to this one name would set the prototype.
    if (name === "__proto__") Object.defineProperty(captures, name, { value, enumerable: true });
    else captures[name] = value;
  }
  return captures;
}
