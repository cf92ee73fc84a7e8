import { type FieldMembers, isMembers, memberAt, memberPath } from "./field-path.ts";

/** An error that an entry tells of, with the trace of its stack. */
export interface Trace {
  /** `TypeError: x is not a function`; empty if the trace does not say it. */
  readonly headline: string;
  /** The same without the type of the error. */
  readonly said: string;
  /** How many lines the trace has besides. */
  readonly furtherLines: number;
  readonly used: readonly string[];
}

/** The beginning of frames, in each way that languages write them. */
const FRAMES =
  /\n\s+at \S|(?:^|\n)Traceback \(most recent call last\)|\ngoroutine \d+ \[|\n\s+from \S+:\d+|\nstack backtrace:/;
/** Frames are at the beginning, and a message may have a megabyte. */
const SEEN = 4_000;

/** The trace that is in a message after its first line, or is the whole of it. */
export function traceInMessage(message: string): Trace | undefined {
  if (!message.includes("\n") || !FRAMES.test(message.slice(0, SEEN))) return undefined;
  const headline = headlineOf(message);
  return { headline, said: headline, furtherLines: linesOf(message) - 1, used: [] };
}

/** Names that objects of errors have, in the serializers of pino, bunyan, winston, ECS, OpenTelemetry, logback and log4j. */
const ERRORS = ["err", "error", "exception", "thrown", "throwable"];
const TYPES = ["type", "name", "class", "className"];
const MESSAGES = ["message", "msg"];
const STACKS = ["stack", "stack_trace", "stacktrace", "stackTrace", "extendedStackTrace"];
/** Texts of traces among the fields: winston, logback, zap, Python (json-logger, structlog). */
const TEXTS = [
  "stack",
  "stack_trace",
  "stacktrace",
  "stackTrace",
  "exc_info",
  "exception",
  "traceback",
  "errorVerbose",
];
/** Where the attributes of OpenTelemetry are. */
const CONTAINERS = ["", "attributes"];

/** The keys of entries that have a trace among their fields. */
const HINTS: ReadonlySet<string> = new Set([
  ...[...CONTAINERS, ...ERRORS, ...TEXTS].filter((key) => key !== ""),
  ...ERRORS.flatMap((name) => [...MESSAGES, ...STACKS].map((key) => `${name}.${key}`)),
]);

/** The trace that is among the fields. */
export function traceInFields(fields: FieldMembers): Trace | undefined {
  // Nearly no entry has one, and all are asked.
  for (const key in fields) if (HINTS.has(key)) return traceIn(fields);
  return undefined;
}

function traceIn(fields: FieldMembers): Trace | undefined {
  for (const container of CONTAINERS) {
    const members = container === "" ? fields : fields[container];
    if (!isMembers(members)) continue;
    for (const name of ERRORS) {
      const trace = traceOfError(members, container, name);
      if (trace !== undefined) return trace;
    }
  }
  for (const name of TEXTS) {
    const stack = fields[name];
    if (typeof stack !== "string" || !stack.trimEnd().includes("\n")) continue;
    // zap has the frames alone, and the error beside them.
    const isFrames = /^\S+\n\t\S+:\d+/.test(stack);
    const said = isFrames && typeof fields.error === "string" ? fields.error : undefined;
    const headline = isFrames ? (said ?? "") : headlineOf(stack);
    return {
      ...{ headline, said: headline },
      furtherLines: linesOf(stack) - (isFrames ? 0 : 1),
      used: [memberPath("", name), ...(said === undefined ? [] : ["error"])],
    };
  }
  return undefined;
}

function traceOfError(members: FieldMembers, path: string, name: string): Trace | undefined {
  const used: string[] = [];
  const take = (keys: readonly string[]): string | undefined => {
    for (const key of keys) {
      const member = memberAt(members, path, `${name}.${key}`);
      if (member === undefined || typeof member.value !== "string") continue;
      used.push(member.path);
      return member.value;
    }
    return undefined;
  };
  const stack = take(STACKS);
  const message = take(MESSAGES);
  const type = take(TYPES);
  if (stack === undefined && message === undefined) return undefined;
  const headline = message === undefined ? headlineOf(stack!) : withType(type, message);
  const furtherLines = stack === undefined ? 0 : linesOf(stack) - 1;
  return { headline, said: message ?? headline, furtherLines, used };
}

const withType = (type: string | undefined, message: string) =>
  type === undefined || message.startsWith(type) ? message : `${type}: ${message}`;

/** Python has the error after the frames, the others before them. */
function headlineOf(text: string): string {
  const lines = text.trimEnd().split("\n", MAX_LINES);
  const python = lines.findIndex((line) => line.startsWith("Traceback (most recent call last)"));
  const first = (lines[0] ?? "").trimEnd();
  if (python < 0) return first;
  const error = lines.findLast((line) => /^\S/.test(line))?.trimEnd() ?? "";
  return python === 0 ? error : `${first}: ${error}`;
}

const MAX_LINES = 10_000;

function linesOf(text: string): number {
  let count = 1;
  const end = text.trimEnd().length;
  for (let at = text.indexOf("\n"); at >= 0 && at < end; at = text.indexOf("\n", at + 1)) count++;
  return count;
}
