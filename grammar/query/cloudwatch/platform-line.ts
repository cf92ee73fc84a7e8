/** A line that the platform wrote, not the app. */
export type PlatformLine =
  /** The start or end of an invocation or an environment. */
  | { readonly kind: "frame" }
  | { readonly kind: "timeout"; readonly invocation: string; readonly durationMs: number }
  | { readonly kind: "exit"; readonly invocation: string; readonly reason: string }
  | { readonly kind: "report"; readonly invocation: string; readonly report: ReportFigures };

/** The time and memory of an invocation. */
export interface ReportFigures {
  readonly durationMs: number | undefined;
  readonly memoryMiB: number | undefined;
  readonly usedMiB: number | undefined;
}

/**
 * Expressions of a filter pattern that find all error lines of the platform. The app's own lines are JSON and may contain
 * these words too, so the results have to be checked.
 */
export const FAILURE_EXPRESSIONS = [
  "Task timed out after",
  "Error\\x3a Runtime exited",
  "Runtime\\.OutOfMemory",
  "No such file or directory",
];

/** Whether a line, as text, says that the runtime could not be started: what its interpreter or the loader wrote. */
export function isFailedStart(text: string): boolean {
  return /^(?:\/\S+|env): .*No such file or directory\s*$/.test(text);
}

/**
 * Parses a line of the platform in its text format; undefined for a line of the runtime.
 *
 * Source: "Accessing Lambda function logs" and "Troubleshoot execution issues in Lambda" of the Lambda Developer Guide.
 */
export function readPlatformLine(text: string): PlatformLine | undefined {
  // Nearly all lines are entries.
  if (text.startsWith("{")) return undefined;
  const timeout = /^\S+ (ID) Task timed out after ([\d.]+) seconds/.source.replace("ID", ID);
  const timedOut = new RegExp(timeout).exec(text);
  if (timedOut !== null) return { kind: "timeout", invocation: timedOut[1]!, durationMs: Number(timedOut[2]) * 1000 };
  const exited = new RegExp(`^RequestId: (${ID}) Error: (Runtime exited[^\\n]*|[^\\n]*OutOfMemory[^\\n]*)`).exec(text);
  if (exited !== null) return { kind: "exit", invocation: exited[1]!, reason: exited[2]! };
  const reported = new RegExp(`^REPORT RequestId: (${ID})`).exec(text);
  if (reported !== null) return { kind: "report", invocation: reported[1]!, report: readReport(text) };
  return FRAME.test(text) ? { kind: "frame" } : undefined;
}

const ID = "[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}";

const FRAME =
  /^(START RequestId: |END RequestId: |INIT_START |INIT_REPORT |RESTORE_START |RESTORE_REPORT |XRAY TraceId: |EXTENSION\t|TELEMETRY\t|LOGS\t)/;

function readReport(text: string): ReportFigures {
  const number = (name: string) => {
    const digits = new RegExp(`\\t${name}: ([\\d.]+) `).exec(text)?.[1];
    return digits === undefined ? undefined : Number(digits);
  };
  return { durationMs: number("Duration"), memoryMiB: number("Memory Size"), usedMiB: number("Max Memory Used") };
}
