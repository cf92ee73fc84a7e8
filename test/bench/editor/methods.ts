import type { Subject } from "./subject.ts";

export interface BenchMethod {
  readonly method: string;
  /** Whether the rival has it. */
  readonly isShared: boolean;
  params(subject: Subject): object;
}

const at = (word: string) => (subject: Subject) => ({ position: subject.place(word) });
const none = () => ({});
const FORMAT = { options: { tabSize: 2, insertSpaces: true } };
const screen = { range: { start: { line: 0, character: 0 }, end: { line: 50, character: 0 } } };

const row = (method: string, params: BenchMethod["params"] = none, isShared = false): BenchMethod => ({
  method: `textDocument/${method}`,
  isShared,
  params,
});

/** Every request that the server announces about one document, each asked right after a keystroke. */
export const METHODS: readonly BenchMethod[] = [
  row("diagnostic", none, true),
  row("completion", at('ooks"'), true),
  row("hover", at("old/section-0"), true),
  row("signatureHelp", at("status >= 500")),
  row("definition", at('ops",'), true),
  row("references", (subject) => ({ position: subject.place('ops",'), context: { includeDeclaration: true } })),
  row("documentHighlight", at('ops",')),
  row("prepareRename", at("page.html")),
  row("rename", (subject) => ({ position: subject.place("page.html"), newName: "other" })),
  row("linkedEditingRange", at("page.html")),
  row("documentSymbol", none, true),
  row("documentLink", none, true),
  row("codeAction", () => ({ ...screen, context: { diagnostics: [] } })),
  row("codeLens"),
  row("documentColor", none, true),
  row("foldingRange", none, true),
  row("selectionRange", (subject) => ({ positions: [subject.place("old/section-0")] }), true),
  row("formatting", () => FORMAT, true),
  row("rangeFormatting", () => ({ ...screen, ...FORMAT }), true),
  row("onTypeFormatting", (subject) => ({ position: subject.end, ch: "\n", ...FORMAT })),
  row("inlayHint", () => screen),
  row("semanticTokens/full"),
  row("semanticTokens/full/delta", () => ({ previousResultId: "0" })),
  row("semanticTokens/range", () => screen),
];
