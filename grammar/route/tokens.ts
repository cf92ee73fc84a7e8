import type { Node, Semantics } from "ohm-js";
import type { Span } from "../problem.ts";
import { loadGrammar } from "./route.generated.ts";

/** A rule of route.ohm that matched, and where. Tokens cover the source without gaps. */
export interface Token {
  readonly kind: string;
  readonly text: string;
  readonly span: Span;
}

/** The tokens of any text: the grammar has a token for each mistake. */
export function tokenize(source: string, start: "route" | "location"): Token[] {
  semantics ??= addTokens(loadGrammar().createSemantics());
  const match = loadGrammar().match(source, start);
  if (match.failed()) throw new Error(`the grammar of ${start}s refuses ${JSON.stringify(source)}`);
  return semantics(match).tokens();
}

// Made on the first call, as the grammar is.
let semantics: Semantics | undefined;

function addTokens(made: Semantics): Semantics {
  const token = (node: Node): Token => ({
    kind: node.ctorName,
    text: node.sourceString,
    span: { start: node.source.startIdx, end: node.source.endIdx },
  });
  return made.addOperation<Token[]>("tokens", {
    route: (parts) => parts.children.flatMap((part) => part.tokens()),
    location: (origin, parts) => [...origin.children, ...parts.children].flatMap((part) => part.tokens()),
    routeToken: (it) => [token(it)],
    locationToken: (it) => [token(it)],
    origin: (scheme, _slashes, authority) => [
      { ...token(scheme), kind: "origin" },
      { ...token(authority), kind: "authority" },
    ],
    scheme: (name, _colon) => [{ ...token(name), kind: "scheme" }],
  });
}
