import { serve } from "../../language-server/node.ts";
import type { Context } from "../context.ts";
import { version } from "../version.ts";

export interface LspFlags {
  readonly stdio: boolean;
  readonly "node-ipc": boolean;
  /** vscode-languageserver reads it from the command line by itself and watches the process. */
  readonly clientProcessId: string;
}

/** `tool lsp`: the language server, for an editor to start. Ends with the editor; never prints. */
export async function lsp(context: Context, flags: LspFlags): Promise<number> {
  if (!flags.stdio && !flags["node-ipc"]) {
    return context.misuse(
      "tool lsp is started by an editor",
      "tool lsp --stdio speaks the protocol on stdin and stdout",
    );
  }
  if (flags["node-ipc"] && !context.io.hasParent()) {
    return context.misuse(
      "--node-ipc needs a parent process of Node that opened a channel",
      "write --stdio to speak on stdin and stdout",
    );
  }
  if (flags.clientProcessId !== "" && !/^[1-9]\d*$/.test(flags.clientProcessId)) {
    return context.misuse(
      `${JSON.stringify(flags.clientProcessId)} is no id of a process`,
      "write a number: --clientProcessId=<id>",
    );
  }
  return serve({ version, ipc: flags["node-ipc"] });
}
