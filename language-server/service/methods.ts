// The table of the language server: every request about a document, what it announces, and the feature that answers it.
// server.ts registers them all; a new feature is one row.
import type { CompletionItem, Position } from "vscode-languageserver-types";
import { complete, resolveCompletion } from "./completion/complete.ts";
import { editingMethods } from "./editing-methods.ts";
import { hover } from "./hover.ts";
import type { Method, PlainMethod, Request } from "./method.ts";
import { rulePage } from "./rule-page.ts";
import { signatureHelp } from "./signature-help.ts";

export const methods = (): readonly Method[] => [
  {
    method: "textDocument/completion",
    capability: { completionProvider: { resolveProvider: true, triggerCharacters: TRIGGERS } },
    answer: ({ document, project, client, params }: Request<AtPosition>) =>
      complete(document, document.offsetAt(params.position), project, client),
  },
  {
    method: "textDocument/hover",
    capability: { hoverProvider: true },
    answer: ({ document, project, client, params }: Request<AtPosition>) =>
      hover(document, document.offsetAt(params.position), project, client),
  },
  {
    method: "textDocument/signatureHelp",
    capability: { signatureHelpProvider: { triggerCharacters: ["(", " ", ","] } },
    answer: ({ document, params }: Request<AtPosition>) => signatureHelp(document, document.offsetAt(params.position)),
  },
  ...editingMethods(),
];

/** Requests that name no document. */
export const plainMethods = (): readonly PlainMethod[] => [
  // Ours: a client that shows explanations itself asks for the text.
  { method: "tool/rule", answer: ({ code }: { readonly code: unknown }) => rulePage(String(code)) },
  { method: "completionItem/resolve", answer: (item: CompletionItem, client) => resolveCompletion(item, client) },
];

interface AtPosition {
  readonly position: Position;
}

// Characters that begin a key, value or item, a capture, a folder's content, and a term or value of a query.
const TRIGGERS = ['"', ":", "/", " ", "(", "=", "."];
