import type { ClientOptions } from "./client-options.ts";
import type { ToolDocument } from "./document.ts";
import type { Project } from "./project.ts";

/** A request about one document: a row of the table in methods.ts. */
export interface Method {
  /** Such as `textDocument/hover`. Its parameters name a `textDocument`. */
  readonly method: string;
  /** The capability that `initialize` announces for it. */
  readonly capability: Readonly<Record<string, unknown>>;
  /** Answers `null` if there is nothing to say. May throw a Refusal. */
  // biome-ignore lint/suspicious/noExplicitAny: each method has parameters of its own
  answer(request: Request<any>): unknown;
}

export interface Request<Params = never> {
  readonly document: ToolDocument;
  readonly project: Project;
  readonly client: ClientOptions;
  /** The parameters of the method, as the protocol has them. */
  readonly params: Params;
}

/** A request that names no document. */
export interface PlainMethod {
  readonly method: string;
  answer(params: never, client: ClientOptions): unknown;
}

/** A request about all configurations of the workspace. */
export interface WorkspaceMethod {
  readonly method: string;
  /** The capability that `initialize` announces for it. */
  readonly capability: Readonly<Record<string, unknown>>;
  /** The same, within `workspace`. */
  readonly workspaceCapability?: Readonly<Record<string, unknown>>;
  /** Whether the answer is an edit that the client is asked to carry out, or a `Move`, which ends with one. */
  readonly isEdit?: boolean;
  /** `documents` are those of kind `config`: open, or at the top of a workspace folder. */
  answer(params: never, documents: readonly ToolDocument[]): unknown;
}

/** Thrown for a request that cannot be carried out; its message is a sentence for the user. */
export class Refusal extends Error {}
