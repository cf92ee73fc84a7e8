import type { Context } from "../context.ts";
import { readStdin } from "../read-stdin.ts";
import { MAX_VALUE_BYTES } from "./assignments.ts";

/**
 * The value of a variable from stdin, without one line end after it, or typed on the terminal without being shown. Whoever
 * looks at the list of processes, or at the shell's history, does not see it there.
 */
export async function readSecret(context: Context, name: string, from: "stdin" | "asked"): Promise<string> {
  const { io } = context;
  if (io.stdin.isTTY === true) {
    const typed = await io.askHidden(`Value of ${name} (not shown): `);
    if (typed === undefined) return context.misuse("nothing was typed", "nothing was set");
    return typed;
  }
  if (from === "asked") {
    return context.misuse(`${name} has no value`, `write NAME VALUE, NAME=VALUE, or ${name} - for a value from stdin`);
  }
  // A byte more than may be, so that too large a value is refused and not cut.
  const bytes = await readStdin(io, MAX_VALUE_BYTES + 2);
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes).replace(/\r?\n$/, "");
  } catch {
    return context.misuse(`the value of ${name} is not UTF-8 text`, "write it as base64, and let the app decode it");
  }
}
