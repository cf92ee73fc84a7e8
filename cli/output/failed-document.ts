import type { Format } from "../argv.ts";
import { EXIT, type SaidError } from "../context.ts";
import { version } from "../version.ts";
import { escapeData } from "./github.ts";
import { failedCodeQuality } from "./gitlab.ts";
import { failedSarif } from "./sarif.ts";

/** Commands whose stdout is a stream (entries, a protocol, a hook's output), which is valid wherever it ends. */
const STREAMS: ReadonlySet<string> = new Set(["logs", "lsp", "run", "start", "service start"]);

/** The kinds of failures, by exit code. */
const KINDS: Readonly<Record<number, string>> = {
  [EXIT.misuse]: "misuse",
  [EXIT.internal]: "internal",
  [EXIT.interrupted]: "interrupted",
};

/**
 * The document on stdout in place of a result, so that programs read a valid one: `{ "error": ... }`, a SARIF log with
 * the failure, a workflow command, a report of one issue. Undefined if the format has none.
 */
export function failedDocument(
  {
    argv,
    command,
    format,
  }: { readonly argv: readonly string[]; readonly command: string | undefined; readonly format: Format },
  exitCode: number,
  said: SaidError | undefined,
): string | undefined {
  const isStream = command !== undefined && STREAMS.has(command) && !argv.includes("--count");
  if (isStream) return undefined;
  const code = KINDS[exitCode] ?? "failed";
  const { message, hint } = said ?? {
    message: code === "interrupted" ? code : "the command failed: stderr says why",
    hint: undefined,
  };
  switch (format) {
    case "json":
      return JSON.stringify({ error: { code, message, hint: hint ?? null } }, null, 2);
    case "sarif":
      return JSON.stringify(failedSarif(message, { version, exitCode }), null, 2);
    case "gitlab":
      return JSON.stringify(failedCodeQuality(message, code), null, 2);
    case "github":
      return `::error title=${code}/error::${escapeData(message)}`;
    default:
      return undefined;
  }
}
