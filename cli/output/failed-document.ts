import type { Format, ParsedArgv } from "../argv.ts";
import { EXIT } from "../context.ts";
import { version } from "../version.ts";
import { escapeData } from "./github.ts";
import { failedCodeQuality } from "./gitlab.ts";
import { failedSarif } from "./sarif.ts";

/** Commands whose stdout is a stream (entries, a protocol), which is valid wherever it ends. */
const STREAMS: ReadonlySet<string> = new Set(["logs", "lsp", "start", "service start"]);

/**
 * The document on stdout after a bug of the tool, so that programs read a valid one: `{ "error": ... }`, a SARIF log with
 * the failure, a workflow command, a report of one issue. Undefined if the format has none.
 */
export function failedDocument(
  invocation: ParsedArgv,
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
    case "gitlab":
      return JSON.stringify(failedCodeQuality(message), null, 2);
    case "github":
      return `::error title=internal/error::${escapeData(message)}`;
    default:
      return undefined;
  }
}
