import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import type { Highlighting } from "../../grammar/build/highlight.ts";
import type { HighlightToken, TokenType } from "../../grammar/highlight.ts";
import { root } from "./cli.ts";

const require = createRequire(import.meta.url);
const oniguruma = require("vscode-oniguruma") as typeof import("vscode-oniguruma");
const textmate = require("vscode-textmate") as typeof import("vscode-textmate");

export interface ScopedToken {
  readonly start: number;
  readonly end: number;
  /** From the outside in, without that of the grammar. */
  readonly scopes: readonly string[];
}

/** The engine that VS Code runs, on the grammars that the build made. `others` are grammars that those include. */
export async function textMate(scopeName: string, others: Readonly<Record<string, object>> = {}) {
  const wasm = readFileSync(require.resolve("vscode-oniguruma/release/onig.wasm"));
  await oniguruma.loadWASM({ data: wasm });
  const registry = new textmate.Registry({
    onigLib: Promise.resolve({
      createOnigScanner: (patterns) => new oniguruma.OnigScanner(patterns),
      createOnigString: (text) => new oniguruma.OnigString(text),
    }),
    loadGrammar: async (scope) => {
      const name = scope.split(".").at(-1);
      const path = join(root, `vscode-extension/syntaxes/${name}.generated.tmLanguage.json`);
      const source = others[scope] ? JSON.stringify(others[scope]) : readFileSync(path, "utf8");
      return textmate.parseRawGrammar(source, "grammar.json");
    },
  });
  const grammar = (await registry.loadGrammar(scopeName))!;
  return (text: string): ScopedToken[] => {
    let stack = textmate.INITIAL;
    let offset = 0;
    return text.split(/(?<=\n)/).flatMap((line) => {
      const content = line.replace(/\n$/, "");
      const { tokens, ruleStack } = grammar.tokenizeLine(content, stack);
      const placed = tokens.map(({ startIndex, endIndex, scopes }) => ({
        start: offset + startIndex,
        // The engine counts the line end that it adds.
        end: offset + Math.min(endIndex, content.length),
        scopes: scopes.slice(1),
      }));
      stack = ruleStack;
      offset += line.length;
      return placed.filter(({ start, end }) => start < end);
    });
  };
}

/** The types that the scopes stand for: those of the innermost scope that the table names. */
export function typesOf(highlighting: Highlighting): (token: ScopedToken) => readonly TokenType[] {
  const types = new Map<string, Set<TokenType>>();
  const add = (scope: string | undefined, type: TokenType | undefined) => {
    if (scope === undefined || type === undefined) return;
    const name = `${scope.split(" ").at(-1)}.${highlighting.scopeName.split(".").at(-1)}`;
    types.set(name, (types.get(name) ?? new Set()).add(type));
  };
  for (const context of Object.values(highlighting.contexts)) {
    add(context.scope, context.textType);
    for (const { scope, type, parts } of context.leaves) {
      add(scope, type);
      for (const part of Object.values(parts ?? {})) add(part.scope, part.type);
    }
  }
  return ({ scopes }) => {
    const innermost = scopes.findLast((scope) => types.has(scope));
    return innermost === undefined ? [] : [...types.get(innermost)!];
  };
}

/** The type of each UTF-16 unit. */
export function painted(length: number, tokens: readonly HighlightToken[]): (TokenType | undefined)[] {
  const types = new Array<TokenType | undefined>(length).fill(undefined);
  for (const { type, start, end } of tokens) types.fill(type, start, end);
  return types;
}
