// The meaning of the JSON lines of common loggers. The one place that knows their keys: the runtime, `tool logs` and
// the log service read lines by it, and the scan of bytes follows it.
import { LEVEL_SPELLINGS, type Level, levelOf } from "./levels.ts";
import { parseTimestamp } from "./timestamp.ts";

/** How the numbers of a level are meant: 10 to 60 (pino, bunyan), or 1 to 24 (OpenTelemetry, "Severity Fields"). */
export type LevelNumbers = "tens" | "opentelemetry";

/** The keys of a level. The first that holds a known level counts. */
export const LEVEL_KEYS: readonly { readonly key: string; readonly numbers?: LevelNumbers }[] = [
  // pino and bunyan by numbers; zap, zerolog, slog, logrus, winston, log4j, logback and structlog by words.
  { key: "level", numbers: "tens" },
  // ECS.
  { key: "log.level" },
  // Google Cloud.
  { key: "severity" },
  // Python.
  { key: "levelname" },
  // OpenTelemetry: OTLP, the data model, Python; then the number, which the Go exporter calls Severity.
  { key: "severityText" },
  { key: "SeverityText" },
  { key: "severity_text" },
  { key: "severityNumber", numbers: "opentelemetry" },
  { key: "SeverityNumber", numbers: "opentelemetry" },
  { key: "severity_number", numbers: "opentelemetry" },
  { key: "Severity", numbers: "opentelemetry" },
];

/** The keys of a message: `msg` of pino, bunyan, zap, slog and logrus, `event` of structlog, `body` of OpenTelemetry. */
export const MESSAGE_KEYS = ["message", "msg", "event", "body", "Body"] as const;

/**
 * The keys of a time: `@timestamp` of ECS and Logstash, `ts` of zap, `instant` of log4j's JsonLayout. OpenTelemetry has the
 * time at which an entry was seen besides, which counts where the other is not known.
 */
export const TIME_KEYS = [
  "timestamp",
  "@timestamp",
  "time",
  "ts",
  "instant",
  "timeUnixNano",
  "Timestamp",
  "observedTimeUnixNano",
  "observed_timestamp",
  "ObservedTimestamp",
] as const;

/** A line of a logger: it has a key with a known level, and a message. */
export interface LoggerLine {
  /** As the logger wrote it where that is a spelling of ours, in any case; else the name of the level. */
  readonly level: string;
  readonly message: string;
  /** RFC 3339. Undefined if no key holds a time. */
  readonly timestamp: string | undefined;
  /** The key of the time. */
  readonly timeKey: string | undefined;
  /** All other keys with their values. */
  readonly others: Readonly<Record<string, unknown>>;
}

/** Reads a parsed line. Undefined if no logger that we know writes such lines. */
export function readLoggerLine(object: Readonly<Record<string, unknown>>): LoggerLine | undefined {
  let level: string | undefined;
  let levelKey = "";
  for (const { key, numbers } of LEVEL_KEYS) {
    const value = object[key];
    if (value === undefined) continue;
    level = levelText(value, numbers);
    levelKey = key;
    if (level !== undefined) break;
  }
  if (level === undefined) return undefined;
  let message: string | undefined;
  let messageKey = "";
  for (const key of MESSAGE_KEYS) {
    const value = object[key];
    if (value === undefined) continue;
    message = messageText(value);
    messageKey = key;
    if (message !== undefined) break;
  }
  if (message === undefined) return undefined;
  let timestamp: string | undefined;
  let timeKey: string | undefined;
  for (const key of TIME_KEYS) {
    const value = object[key];
    if (value === undefined) continue;
    timestamp = loggedTime(value);
    if (timestamp === undefined) continue;
    timeKey = key;
    break;
  }
  // Twice as fast as an object pattern with computed keys.
  const others: Record<string, unknown> = {};
  for (const key in object) {
    if (key === levelKey || key === messageKey || key === timeKey) continue;
    if (key === "__proto__") Object.defineProperty(others, key, { ...DATA, value: object[key] });
    else others[key] = object[key];
  }
  return { level, message, timestamp, timeKey, others };
}

const DATA = { configurable: true, enumerable: true, writable: true };

const SPELLINGS: ReadonlySet<string> = new Set(Object.values(LEVEL_SPELLINGS).flat());

/** Whether an object is an entry as the runtime writes them, with nothing to be read out of it. */
export function isOwnForm(object: Readonly<Record<string, unknown>>): boolean {
  const { level, message, fields } = object;
  if (typeof level !== "string" || !SPELLINGS.has(level) || typeof message !== "string") return false;
  if (typeof fields !== "object" || fields === null || Array.isArray(fields)) return false;
  for (const key in object) {
    if (key !== "level" && key !== "message" && key !== "timestamp" && key !== "fields") return false;
  }
  return true;
}

/** The level that a value stands for, as it is shown. Undefined for a value that is none. */
export function levelText(value: unknown, numbers: LevelNumbers | undefined): string | undefined {
  if (typeof value === "string") {
    if (levelOf(value) !== undefined) return value;
    const lower = value.toLowerCase();
    return OTHER_WORDS.get(lower) ?? STEPPED.exec(value)?.[1];
  }
  return typeof value === "number" && numbers !== undefined ? levelOfNumber(value, numbers) : undefined;
}

/** Words of loggers that are not spellings of ours: zap, zerolog and logrus panic, winston has http and silly. */
export const OTHER_WORDS: ReadonlyMap<string, Level> = new Map([
  ["panic", "emergency"],
  ["dpanic", "critical"],
  ["http", "debug"],
  ["silly", "debug"],
]);

/** Steps above or below a level: slog writes DEBUG-4 and INFO+2, OpenTelemetry INFO2. */
const STEPPED = /^(trace|debug|info|warn|error|fatal)(?:[2-4]|[+-]\d{1,9})$/i;

/** The word of the level that a number reaches. */
export function levelOfNumber(number: number, numbers: LevelNumbers): string | undefined {
  const step = numbers === "tens" ? number / 10 : (number + 3) / 4;
  const isIn = numbers === "tens" ? number >= 10 && number <= 60 : number >= 1 && number <= 24;
  return isIn && Number.isInteger(number) ? NUMBERED[Math.floor(step) - 1] : undefined;
}

const NUMBERED = ["trace", "debug", "info", "warn", "error", "fatal"] as const;

/** A text; or one as OTLP writes it, `{"stringValue": ""}`, or the exporter of Go, `{"Type": "STRING", "Value": ""}`. */
function messageText(value: unknown): string | undefined {
  if (typeof value === "string") return value;
  if (typeof value !== "object" || value === null) return undefined;
  const { stringValue, Type, Value } = value as Record<string, unknown>;
  if (typeof stringValue === "string") return stringValue;
  const isText = Type === "STRING" || Type === "String";
  return isText && typeof Value === "string" ? Value : undefined;
}

/** Whether a text, if it is a time at all, is one without a change. */
export const isWholeTime = (text: string) => text.endsWith("Z") || text.at(-3) === ":";

/**
 * The time of a value: RFC 3339, also with a zone without its colon; seconds, milli-, micro- or nanoseconds since 1970;
 * seconds and nanoseconds.
 */
export function loggedTime(value: unknown): string | undefined {
  if (typeof value === "number") return sinceEpoch(value);
  if (typeof value === "string") {
    if (value.length > MAX_TIME_LENGTH || ZERO_TIME.test(value)) return undefined;
    if (parseTimestamp(value) !== undefined) return value;
    if (/^\d{10,19}$/.test(value)) return sinceEpoch(Number(value));
    const mended = value.replace(/([+-]\d\d)(\d\d)$/, "$1:$2");
    return parseTimestamp(mended) === undefined ? undefined : mended;
  }
  if (typeof value !== "object" || value === null) return undefined;
  const { epochSecond, nanoOfSecond, seconds, nanos } = value as Record<string, unknown>;
  const [whole, rest] = epochSecond === undefined ? [seconds, nanos] : [epochSecond, nanoOfSecond];
  if (typeof whole !== "number" || !(whole >= FIRST_SECOND && whole < FIRST_SECOND * 10)) return undefined;
  const ms = typeof rest === "number" && rest >= 0 && rest < 1e9 ? Math.floor(rest / 1e6) : 0;
  return new Date(Math.floor(whole) * 1000 + ms).toISOString();
}

/** Nanoseconds and a zone take 35. */
const MAX_TIME_LENGTH = 64;

/** The zero time, which Go writes if there is none. */
const ZERO_TIME = /^0001-01-01T00:00:00(\.0+)?Z$/;

/** September 2001. Ten times as much is 2286: each unit has its own range, and durations and counters are in none. */
const FIRST_SECOND = 1e9;

function sinceEpoch(time: number): string | undefined {
  for (let unit = 1; unit <= 1e9; unit *= 1000) {
    if (time >= FIRST_SECOND * unit && time < FIRST_SECOND * 10 * unit) {
      // Fractions of seconds are exact to some tenths of a microsecond.
      const microseconds = Math.round(unit <= 1000 ? time * (1e6 / unit) : time / (unit / 1e6));
      return new Date(Math.floor(microseconds / 1000)).toISOString();
    }
  }
  return undefined;
}
