// The table of the language server: every request about a document, what it announces, and the feature that answers it.
// A transport registers them all; a new feature is one row.
import type { ToolDocument } from "./document.ts";
import type { Project } from "./project.ts";

/** What the client can do, as it said at start. */
export interface ClientOptions {
  /** Whether completion may leave placeholders to tab through. */
  readonly snippets: boolean;
  /** Whether hovers and documentation may be Markdown. */
  readonly markdown: boolean;
  /** Whether the server reports JSON syntax; false where the client does. */
  readonly syntax: boolean;
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

export const methods = (): readonly Method[] => [];
