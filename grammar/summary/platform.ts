import { deepJson } from "../deep-json.ts";
import { humanDuration } from "../units/duration.ts";
import { type FieldMembers, isMembers } from "./field-path.ts";
import { type EntrySummary, plain, quiet, type SummaryPart } from "./part.ts";

const NONE: ReadonlySet<string> = new Set();
const OF_RECORD: ReadonlySet<string> = new Set(["type", "record"]);

/**
 * A line that the function platform writes about an invocation or an environment, as JSON (`platform.report`) or as text
 * (`REPORT RequestId: ...`); undefined for all other entries.
 * https://docs.aws.amazon.com/lambda/latest/dg/telemetry-schema-reference.html
 */
export function platformLine(message: string, { type, record }: FieldMembers): EntrySummary | undefined {
  if (typeof type === "string" && type.startsWith("platform.") && record !== undefined && message === "") {
    const parts = recordParts(wordsOf(type.slice("platform.".length)), record);
    return { kind: "platform", parts, used: OF_RECORD, isOfFields: true };
  }
  const parts = textParts(message);
  return parts && { kind: "platform", parts, used: NONE, isOfFields: false };
}

/** `runtimeDone` as `runtime done`. */
const wordsOf = (name: string) => name.replace(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`);

/** The values of a report, in milliseconds and in MB as the platform counts them. */
interface Metrics {
  readonly durationMs?: number | undefined;
  readonly billedMs?: number | undefined;
  readonly initMs?: number | undefined;
  readonly restoreMs?: number | undefined;
  readonly memoryMb?: number | undefined;
  readonly usedMb?: number | undefined;
}

function metricsParts({ durationMs, billedMs, initMs, restoreMs, memoryMb, usedMb }: Metrics): readonly SummaryPart[] {
  const timed = (name: string, ms: number | undefined) => (ms === undefined ? [] : [`${name} ${humanDuration(ms)}`]);
  const memory = memoryMb === undefined ? [] : [`memory ${usedMb === undefined ? "" : `${usedMb} of `}${memoryMb} MB`];
  const more = [...timed("billed", billedMs), ...memory, ...timed("init", initMs), ...timed("restore", restoreMs)];
  return [
    ...(durationMs === undefined ? [] : [plain(humanDuration(durationMs))]),
    ...(more.length === 0 ? [] : [quiet(more.join(", "))]),
  ];
}

/** `Status` of the platform: success, failure, error or timeout. */
function statusParts(status: unknown, kind: unknown): readonly SummaryPart[] {
  if (typeof status !== "string" || status === "success") return [];
  return [{ text: typeof kind === "string" && kind !== "" ? `${status} ${kind}` : status, tone: "failed" }];
}

function recordParts(name: string, record: unknown): SummaryPart[] {
  if (!isMembers(record)) return [plain(name), plain(typeof record === "string" ? record : deepJson(record))];
  const { requestId, status, errorType, metrics, tracing: _, spans: _spans, ...others } = record;
  const measured = isMembers(metrics) ? metrics : {};
  const numberOf = (key: string) => (typeof measured[key] === "number" ? measured[key] : undefined);
  const rest = Object.entries(others).filter(([, value]) => typeof value !== "object" || value === null);
  return [
    plain(name),
    ...statusParts(status, errorType),
    ...metricsParts({
      durationMs: numberOf("durationMs"),
      billedMs: numberOf("billedDurationMs"),
      initMs: numberOf("initDurationMs"),
      restoreMs: numberOf("restoreDurationMs"),
      memoryMb: numberOf("memorySizeMB"),
      usedMb: numberOf("maxMemoryUsedMB"),
    }),
    ...(rest.length === 0 ? [] : [quiet(rest.map(([key, value]) => `${key}=${value}`).join(" "))]),
    ...(typeof requestId === "string" ? [quiet(requestId)] : []),
  ];
}

const REQUEST = /^(START|END|REPORT) RequestId: (\S+)\s*(.*)$/s;
const INIT = /^(INIT_START|INIT_REPORT|RESTORE_START|RESTORE_REPORT) (.*)$/s;
/** Before it may be a time, which the entry has, too. */
const TIMED_OUT = /^(?:\d{4}-\S+ )?(\S+) (Task timed out after [\d.]+ seconds)\s*$/;
const TIME_OUT = " Task timed out after ";
const BEGINNINGS = ["START ", "END ", "REPORT ", "INIT_", "RESTORE_", "RequestId: "];
const EXITED = /^RequestId: (\S+) (Error: .*)$/s;

function textParts(message: string): readonly SummaryPart[] | undefined {
  // Nearly no message is one of these, and all are asked.
  if (!BEGINNINGS.some((text) => message.startsWith(text)) && !message.includes(TIME_OUT)) return undefined;
  const [, word, requestId, rest] = REQUEST.exec(message) ?? [];
  if (word !== undefined) return reportParts(word.toLowerCase(), rest!, requestId);
  const [, phase, facts] = INIT.exec(message) ?? [];
  if (phase !== undefined) return reportParts(phase.toLowerCase().replace("_", " "), facts!, undefined);
  const [, id, failure] = TIMED_OUT.exec(message) ?? EXITED.exec(message) ?? [];
  return failure === undefined ? undefined : [{ text: failure.trim(), tone: "failed" }, quiet(id!)];
}

/** Facts of a line, such as `Duration: 12.34 ms`, which are between tabs. */
function reportParts(name: string, facts: string, requestId: string | undefined): readonly SummaryPart[] {
  const named = new Map<string, string>();
  const rest: string[] = [];
  for (const fact of facts.split(/[\t\n]+/)) {
    const [, key, value] = /^([A-Z][A-Za-z -]{1,40}): (.*)$/.exec(fact.trim()) ?? [];
    if (key !== undefined) named.set(key, value!.trim());
    else if (fact.trim() !== "") rest.push(fact.trim());
  }
  const take = (key: string): string | undefined => {
    const value = named.get(key);
    named.delete(key);
    return value;
  };
  const numberOf = (key: string): number | undefined => {
    const [, digits] = /^([\d.]+) (?:ms|MB)$/.exec(named.get(key) ?? "") ?? [];
    if (digits !== undefined) named.delete(key);
    return digits === undefined ? undefined : Number(digits);
  };
  const status = statusParts(take("Status"), take("Error Type"));
  const metrics = metricsParts({
    durationMs: numberOf("Duration"),
    billedMs: numberOf("Billed Duration"),
    initMs: numberOf("Init Duration"),
    restoreMs: numberOf("Restore Duration"),
    memoryMb: numberOf("Memory Size"),
    usedMb: numberOf("Max Memory Used"),
  });
  for (const [key, value] of named) rest.push(`${key}: ${value}`);
  return [
    plain(name),
    ...status,
    ...metrics,
    ...(rest.length === 0 ? [] : [quiet(rest.join(", "))]),
    ...(requestId === undefined ? [] : [quiet(requestId)]),
  ];
}
