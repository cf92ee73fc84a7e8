import { type DocumentSymbol, type SymbolInformation, SymbolKind } from "vscode-languageserver-types";
import type { ToolDocument } from "./document.ts";
import { documentSymbols } from "./document-symbols.ts";

/**
 * Everything with a name of its own in the given documents (routes, stages, hooks, queries, actions, alerts, records,
 * variables) that has the letters of the query in their order, in any case. An empty query gives all.
 */
export function workspaceSymbols(documents: Iterable<ToolDocument>, query: string): SymbolInformation[] {
  const letters = [...query.toLowerCase().replace(/\s+/g, "")];
  const matches: SymbolInformation[] = [];
  for (const document of documents) {
    for (const section of documentSymbols(document)) {
      collect(section.children ?? [], section.name);
    }

    function collect(symbols: readonly DocumentSymbol[], containerName: string) {
      for (const { name, kind, tags, selectionRange, children = [] } of symbols) {
        if (NAMED.has(kind) && holds(name.toLowerCase(), letters)) {
          const location = { uri: document.uri, range: selectionRange };
          matches.push({ name, kind, ...(tags && { tags }), containerName, location });
          if (matches.length >= MAX_SYMBOLS) return;
        }
        collect(children, `${containerName}.${name}`);
      }
    }
  }
  return matches;
}

/** Kinds of symbols that users look for by name; plain settings such as "timeout" are not among them. */
const NAMED: ReadonlySet<SymbolKind> = new Set([
  SymbolKind.Interface,
  SymbolKind.Namespace,
  SymbolKind.Variable,
  SymbolKind.Package,
  SymbolKind.Function,
  SymbolKind.Method,
  SymbolKind.Event,
  SymbolKind.Field,
]);

// Nobody looks through more than this: typing another letter is quicker.
const MAX_SYMBOLS = 1000;

function holds(name: string, letters: readonly string[]): boolean {
  let at = 0;
  for (const letter of letters) {
    at = name.indexOf(letter, at) + 1;
    if (at === 0) return false;
  }
  return true;
}
