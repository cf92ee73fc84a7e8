import type { Format, Invocation } from "../argv.ts";
import { EXIT } from "../context.ts";
import { version } from "../version.ts";
import { escapeData } from "./github.ts";
import { failedSarif } from "./sarif.ts";

/** Commands whose stdout is a stream (entries, a protocol): what was written is whole without a last word. */
const STREAMS: ReadonlySet<string> = new Set(["logs", "lsp", "start", "service start"]);

/**
 * What stdout holds after a mistake of the tool's own, so that programs read one valid document: `{ "error": ... }`, a
 * SARIF log that says so, a workflow command. Undefined where nothing belongs there.
 */
export function failedDocument(
  invocation: Invocation,
  format: Format | undefined,
  thrown: unknown,
): string | undefined {
  if (invocation.kind === "command" && STREAMS.has(invocation.name) && !invocation.argv.includes("--count")) {
    return undefined;
  }
  const message = `internal error: ${thrown instanceof Error ? thrown.message : String(thrown)}`;
  switch (format) {
    case "json":
      return JSON.stringify({ error: { code: "internal", message } }, null, 2);
    case "sarif":
      return JSON.stringify(failedSarif(message, { version, exitCode: EXIT.internal }), null, 2);
    case "github":
      return `::error title=internal/error::${escapeData(message)}`;
    default:
      return undefined;
  }
}
