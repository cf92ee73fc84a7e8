// The table of the language server: every request about a document, what it announces, and the feature that answers it.
// A transport registers them all; a new feature is one row.
import type { CompletionItem, Position } from "vscode-languageserver-types";
import { complete, resolveCompletion } from "./completion/complete.ts";
import type { ToolDocument } from "./document.ts";
import { editingMethods } from "./editing-methods.ts";
import { hover } from "./hover.ts";
import type { Project } from "./project.ts";
import { rulePage } from "./rule-page.ts";
import type { Settings } from "./settings.ts";
import { signatureHelp } from "./signature-help.ts";

/** What the client can do, as it said at start. */
export interface ClientOptions {
  /** Whether completion may leave placeholders to tab through. */
  readonly snippets: boolean;
  /** Whether hovers and documentation may be Markdown. */
  readonly markdown: boolean;
  /** Whether the server reports JSON syntax; false where the client does. */
  readonly syntax: boolean;
  /** Whether a code action may create a file. */
  readonly createsFiles: boolean;
  readonly settings: Settings;
  /** The address of a code's explanation, with `{code}` for the code; undefined where there is none. */
  readonly documentation?: string | undefined;
}

export interface Request<Params = never> {
  readonly document: ToolDocument;
  readonly project: Project;
  readonly client: ClientOptions;
  /** The parameters of the method, as the protocol has them. */
  readonly params: Params;
}

export interface Method {
  /** Such as `textDocument/hover`. Its parameters name a `textDocument`. */
  readonly method: string;
  /** What `initialize` announces for it. */
  readonly capability: Readonly<Record<string, unknown>>;
  /** Answers `null` where there is nothing to say. */
  // biome-ignore lint/suspicious/noExplicitAny: each method has parameters of its own
  answer(request: Request<any>): unknown;
}

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
export interface PlainMethod {
  readonly method: string;
  answer(params: never, client: ClientOptions): unknown;
}

export const plainMethods = (): readonly PlainMethod[] => [
  // Ours: a client that shows explanations itself asks for the text.
  { method: "tool/rule", answer: ({ code }: { readonly code: unknown }) => rulePage(String(code)) },
  { method: "completionItem/resolve", answer: (item: CompletionItem, client) => resolveCompletion(item, client) },
];

interface AtPosition {
  readonly position: Position;
}

// What begins a key, value or item, a capture, a folder's content, and a term or value of a query.
const TRIGGERS = ['"', ":", "/", " ", "(", "=", "."];
