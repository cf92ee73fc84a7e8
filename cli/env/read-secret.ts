import { addAbortSignal } from "node:stream";
import { type Context, EXIT } from "../context.ts";
import { readStream } from "../read-stream.ts";
import { MAX_VALUE_BYTES } from "./assignments.ts";

/**
 * The value of a variable from stdin, or typed on the terminal without being shown. Whoever looks at the list of processes,
 * or at the shell's history, does not see it there. After a single line the line end is left out, as `echo` writes one; a
 * text of several lines stays as it is. Nothing is no value: what should have written it may have failed. Ends with `signal`.
 */
export async function readSecret(
  context: Context,
  name: string,
  { from, signal }: { readonly from: "stdin" | "asked"; readonly signal: AbortSignal },
): Promise<string> {
  const { io } = context;
  const asEmpty = `${name}= sets an empty value`;
  if (io.stdin.isTTY === true) {
    const typed = await io.askHidden(`Value of ${name} (not shown): `, signal);
    if (typed.kind === "interrupted") {
      await context.say("interrupted: nothing was set");
      return context.exit(EXIT.interrupted);
    }
    const value = typed.kind === "value" ? typed.value : "";
    if (value === "") return context.misuse("nothing was typed, and nothing was set", asEmpty);
    // Enter after the last line of a pasted text was its line end.
    return value.includes("\n") && !value.endsWith("\n") ? `${value}\n` : value;
  }
  if (from === "asked") {
    return context.misuse(`${name} has no value`, `write NAME VALUE, NAME=VALUE, or ${name} - for a value from stdin`);
  }
  // A byte more than may be, so that too large a value is refused and not cut.
  const bytes = await readStream(addAbortSignal(signal, io.stdin), MAX_VALUE_BYTES + 2);
  if (bytes.length === 0) return context.misuse("stdin is empty, and nothing was set", asEmpty);
  try {
    return withoutLineEnd(new TextDecoder("utf-8", { fatal: true }).decode(bytes));
  } catch {
    return context.misuse(`the value of ${name} is not UTF-8 text`, "write it as base64, and let the app decode it");
  }
}

function withoutLineEnd(text: string): string {
  const line = text.replace(/\r?\n$/, "");
  return line.includes("\n") ? text : line;
}
