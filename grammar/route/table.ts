import type { Route } from "./ast.ts";
import { Automaton } from "./automaton.ts";
import { type CaptureSpans, compileCaptures } from "./captures.ts";
import { compareRoutes, routeCaptures, shape } from "./order.ts";
import { normalizePath } from "./path.ts";
import { Trie } from "./trie.ts";

export interface RouteMatch<T> {
  readonly value: T;
  readonly route: Route;
  /** What each param and the splat took, as the client sent it: percent-encoded bytes stay as they are. */
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
export function compileRoutes<T>(
  rules: readonly { readonly route: Route; readonly value: T }[],
  options: { readonly trailingSlash: "optional" | "strict" },
): RouteTable<T> {
  const trie = new Trie();
  const compiled = [...rules]
    .sort((a, b) => compareRoutes(a.route, b.route))
    .map((rule, rank) => {
      const parts = shape(rule.route);
      const optionalSlash = options.trailingSlash === "optional" && endsOpen(rule.route);
      trie.insert(parts, rank, optionalSlash);
      return { ...rule, names: routeCaptures(rule.route), capture: compileCaptures(parts, optionalSlash) };
    });
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

type NormalText = ReturnType<typeof normalizePath>;

const NO_CAPTURES: Readonly<Record<string, string>> = Object.freeze({});

/** Whether one more slash can be tolerated: what ends in a slash has it, what ends in `*` takes it. */
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
