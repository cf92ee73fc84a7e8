import type { Connection, ResponseError } from "vscode-languageserver";
import type { Directory } from "../schema/index.ts";

/** What a Node process, a Node thread and a browser worker each do in their own way. */
export interface Host {
  /** The connection to the client; it does not listen yet. */
  readonly connection: Connection;
  /** An error answer, as an instance of the protocol library's own class: it accepts no other. */
  responseError(code: number, message: string): ResponseError<void>;
  /** The folder at an address that ends with a slash; undefined if no files can be read there. */
  directoryOf(uri: string): Directory | undefined;
  /** Resolves after the messages that have arrived so far were read. */
  nextTurn(): Promise<void>;
}
