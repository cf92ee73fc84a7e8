import type { CloudWatchLogs } from "@aws-sdk/client-cloudwatch-logs";
import { filterPatterns, textPattern } from "../../../grammar/query/cloudwatch/filter-patterns.ts";
import {
  FAILURE_EXPRESSIONS,
  isFailedStart,
  readPlatformLine,
} from "../../../grammar/query/cloudwatch/platform-line.ts";
import type { Query } from "../../../grammar/query/index.ts";
import type { Clock } from "../../../grammar/units/clock.ts";
import { type Allowance, LINES_CAUGHT_UP, type LogLine } from "../../platform/log.ts";
import { mergeByTime } from "../../time/merge-by-time.ts";
import { isNotFound } from "../function/aliases.ts";
import { failureLine, type Slice } from "./failure-line.ts";
import { type LiveTailRequest, liveTail } from "./live-tail.ts";
import { type CloudLogEvent, type Period, readLogEvents } from "./read-events.ts";

export interface CloudLogRequest {
  readonly group: string;
  /** CloudWatch filters as far as it can; lines that do not match may be returned, too. */
  readonly query: Query;
  readonly sinceMs: number;
  readonly untilMs: number | undefined;
  /** Continue with what is written later, until the signal. */
  readonly follow: boolean;
  /** How many requests may be made for events; undefined for as many as it takes. */
  readonly allowance?: Allowance | undefined;
  /** Use a live tail for what is written later, instead of polling. */
  readonly live?: Pick<LiveTailRequest, "groupArn" | "onSampled"> | undefined;
  readonly clock: Clock;
  /** Called while there is no such group: whether it will be created, as the first request does. */
  readonly isAwaited: () => Promise<boolean>;
  /** Called once if the group is awaited. */
  readonly onAwaited: () => void;
  /** Called once for each time that a followed log cannot be read. If it returns, following continues. */
  readonly onTrouble: (error: unknown) => void;
}

/** Time between two polls of a followed log. Half a dozen patterns stay below the quota of 5 calls a second. */
const POLL_MS = 1500;

/** Longest time between two polls while the log cannot be read. */
const MAX_WAIT_MS = 30_000;

/** How far before the newest event a poll starts, as events are found some seconds after they were written. */
const LATE_MS = 15_000;

/** An entry's own time may differ by this from the time at which the platform received its line. */
const CLOCK_SLACK_MS = 60_000;

/**
 * The lines of a log group that a query may select, oldest first. A line of the platform about a failed request becomes an
 * entry with that request; its other lines are left out. A group that does not exist yet counts as empty: then the first
 * batch is empty. Throws what the client throws.
 */
export async function* readCloudLog(
  client: CloudWatchLogs,
  request: CloudLogRequest,
  signal: AbortSignal,
): AsyncGenerator<readonly LogLine[]> {
  const { group, query, follow, clock, allowance } = request;
  const patterns = patternsFor(query);
  const startMs = Math.max(0, request.sinceMs - CLOCK_SLACK_MS);
  const period: Period = {
    startMs,
    // CloudWatch refuses a period that ends before it begins, as that of the future does.
    endMs: Math.max(
      startMs,
      (request.untilMs ?? clock.nowMs()) + (follow && request.untilMs === undefined ? 0 : CLOCK_SLACK_MS),
    ),
  };
  const slice: Slice = (stream, part) =>
    readLogEvents(client, { group, stream, pattern: "", period: part, allowance }, signal);
  const recent = new Recent();
  const read = async function* (part: Period) {
    const readings = patterns.map((pattern) =>
      readLogEvents(client, { group, pattern, period: part, allowance }, signal),
    );
    for await (const events of mergeByTime(readings)) {
      // Several patterns may find the same event, and a poll finds events again that were returned before.
      if (!follow) recent.forgetBefore(recent.newestMs);
      yield await linesOf(
        events.filter((event) => recent.add(event)),
        slice,
      );
    }
  };
  /** Returns whether the group is there. */
  const readIfThere = async function* (part: Period): AsyncGenerator<readonly LogLine[], boolean> {
    try {
      yield* read(part);
      return true;
    } catch (error) {
      if (!isNotFound(error) || !(await request.isAwaited())) throw error;
      return false;
    }
  };
  let isThere = yield* readIfThere(
    follow ? { ...period, endMs: request.untilMs === undefined ? undefined : period.endMs } : period,
  );
  if (!isThere) {
    request.onAwaited();
    yield [];
  }
  if (follow) yield LINES_CAUGHT_UP;
  const { live } = request;
  let failures = 0;
  while (
    follow &&
    !(live !== undefined && isThere) &&
    !signal.aborted &&
    clock.nowMs() < (request.untilMs ?? Infinity)
  ) {
    await clock.sleep(Math.min(POLL_MS * 2 ** failures, MAX_WAIT_MS), signal).catch(() => {});
    if (signal.aborted) return;
    const startMs = Math.max(period.startMs, recent.newestMs - LATE_MS);
    recent.forgetBefore(startMs);
    try {
      isThere = yield* readIfThere({ startMs, endMs: undefined });
      failures = 0;
    } catch (error) {
      if (signal.aborted) return;
      if (failures === 0) request.onTrouble(error);
      failures++;
    }
  }
  if (!follow || live === undefined || !isThere || signal.aborted) return;
  let isFirst = true;
  for await (const events of liveTail(client, { ...live, patterns }, signal)) {
    // Events between the last poll and the start of the session.
    if (isFirst) yield* read({ startMs: Math.max(period.startMs, recent.newestMs - LATE_MS), endMs: undefined });
    isFirst = false;
    // Events that came while the log was read may come again.
    yield await linesOf(
      events.filter((event) => event.timeMs > recent.newestMs || !recent.hasLine(event)),
      slice,
    );
  }
}

/** A single empty pattern, which matches every event, if no pattern expresses the query. */
function patternsFor(query: Query): readonly string[] {
  const { patterns, expressions } = filterPatterns(query);
  if (patterns.length + expressions.length === 0) return [""];
  return [...patterns, textPattern([...expressions, ...FAILURE_EXPRESSIONS])];
}

async function linesOf(events: readonly CloudLogEvent[], slice: Slice): Promise<readonly LogLine[]> {
  const lines: LogLine[] = [];
  for (const event of events) {
    const { timeMs, text } = event;
    if (text.trim() === "") continue;
    const platform = readPlatformLine(text);
    if (platform === undefined) {
      lines.push({ timeMs, text: text.startsWith("{") ? text : textLine(timeMs, text) });
    } else if (platform.kind === "timeout" || platform.kind === "exit") {
      lines.push({ timeMs, text: await failureLine(event, platform, slice) });
    }
  }
  return lines;
}

/** An entry for text that is neither JSON nor a line of the platform, such as an engine's crash message. */
function textLine(timeMs: number, text: string): string {
  const level = isFailedStart(text) ? "error" : "info";
  return JSON.stringify({ timestamp: new Date(timeMs).toISOString(), level, message: text, fields: {} });
}

/** Events that were returned already, as far back as a poll starts. */
class Recent {
  newestMs = 0;
  readonly #events = new Map<string, CloudLogEvent>();

  /** Returns whether the event is new. */
  add(event: CloudLogEvent): boolean {
    const { id, timeMs } = event;
    if (this.#events.has(id)) return false;
    this.#events.set(id, event);
    this.newestMs = Math.max(this.newestMs, timeMs);
    return true;
  }

  /** Whether an event with the same stream, time and text was returned. */
  hasLine({ stream, timeMs, text }: CloudLogEvent): boolean {
    for (const event of this.#events.values()) {
      if (event.timeMs === timeMs && event.stream === stream && event.text === text) return true;
    }
    return false;
  }

  forgetBefore(timeMs: number): void {
    for (const [id, event] of this.#events) if (event.timeMs < timeMs) this.#events.delete(id);
  }
}
