import type { Connection, ResponseError } from "vscode-languageserver";
import type { Directory } from "../schema/index.ts";

/** What a process of Node, a thread of it and a worker of a browser each do in their own way. */
export interface Host {
  /** The connection to the client; it does not listen yet. */
  readonly connection: Connection;
  /** An answer that is an error, in the protocol library's own class: it takes no other. */
  responseError(code: number, message: string): ResponseError<void>;
  /** The folder at an address that ends with a slash; undefined if no files can be read there. */
  directoryOf(uri: string): Directory | undefined;
  /** Resolves after the messages that have arrived so far were read. */
  nextTurn(): Promise<void>;
}
