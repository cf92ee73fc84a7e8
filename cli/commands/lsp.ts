import { serve } from "../../language-server/node.ts";
import type { Context } from "../context.ts";
import { version } from "../version.ts";

export interface LspFlags {
  readonly stdio: boolean;
  readonly "node-ipc": boolean;
}

/** `tool lsp`: the language server, for an editor to start. Ends with the editor; never prints. */
export async function lsp(context: Context, flags: LspFlags): Promise<number> {
  if (!flags.stdio && !flags["node-ipc"]) {
    return context.misuse(
      "tool lsp is started by an editor",
      "tool lsp --stdio speaks the protocol on stdin and stdout",
    );
  }
  return serve({ version, ipc: flags["node-ipc"] });
}
