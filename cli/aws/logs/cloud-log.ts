import { setTimeout as sleep } from "node:timers/promises";
import type { CloudWatchLogs } from "@aws-sdk/client-cloudwatch-logs";
import { filterPatterns, textPattern } from "../../../grammar/query/cloudwatch/filter-patterns.ts";
import type { Query } from "../../../grammar/query/index.ts";
import { LINES_CAUGHT_UP, type LogLine } from "../../platform/log.ts";
import { mergeByTime } from "../../time/merge-by-time.ts";
import { isNotFound } from "../function/aliases.ts";
import { failureLine, type Slice } from "./failure-line.ts";
import { type LiveTailRequest, liveTail } from "./live-tail.ts";
import { FAILURE_EXPRESSIONS, readPlatformLine } from "./platform-line.ts";
import { type LogEvent, type Period, readEvents } from "./read-events.ts";

export interface CloudLogRequest {
  readonly group: string;
  /** What is asked for as far as CloudWatch can filter; what comes may be more. */
  readonly query: Query;
  readonly sinceMs: number;
  readonly untilMs: number | undefined;
  /** Go on for what is written later, until the signal. */
  readonly follow: boolean;
  /** Have what is written later pushed, rather than look for it every other second: ARN of the group, what to say. */
  readonly live?: Pick<LiveTailRequest, "groupArn" | "onSampled"> | undefined;
  readonly nowMs: () => number;
  /** Asked while there is no such group: whether it will come by itself, as the first request makes it. */
  readonly isAwaited: () => Promise<boolean>;
  /** Called once if the group is awaited. */
  readonly onAwaited: () => void;
  /** Following goes on where this returns; it is called once for each time that the log cannot be read. */
  readonly onTrouble: (error: unknown) => void;
}

/** Between two looks at a log that is followed. Half a dozen patterns stay below the quota of 5 calls a second. */
const POLL_MS = 1500;

/** Between two looks while the log cannot be read. */
const MAX_WAIT_MS = 30_000;

/** Events are found some seconds after they were written: so far a look goes back behind the newest one. */
const LATE_MS = 15_000;

/** An entry's own time may lie this far from the time at which the platform took its line. */
const CLOCK_SLACK_MS = 60_000;

/**
 * The lines of a log group that a query may select, oldest first. A line of the platform that says how a request failed
 * comes as an entry with that request; its other lines are left out. A group that is awaited counts as an empty one: the
 * first batch is empty then. Throws as the client does.
 */
export async function* readCloudLog(
  client: CloudWatchLogs,
  request: CloudLogRequest,
  signal: AbortSignal,
): AsyncGenerator<readonly LogLine[]> {
  const { group, query, follow, nowMs } = request;
  const patterns = patternsFor(query);
  const period: Period = {
    startMs: request.sinceMs - CLOCK_SLACK_MS,
    endMs: (request.untilMs ?? nowMs()) + (follow && request.untilMs === undefined ? 0 : CLOCK_SLACK_MS),
  };
  const slice: Slice = (stream, part) => readEvents(client, { group, stream, pattern: "", period: part }, signal);
  const shown = new Recent();
  const read = async function* (part: Period) {
    const readings = patterns.map((pattern) => readEvents(client, { group, pattern, period: part }, signal));
    for await (const events of mergeByTime(readings)) {
      // Several patterns find one event, at the same time; and a look behind the newest one finds what was shown.
      if (!follow) shown.forgetBefore(shown.newestMs);
      yield await linesOf(
        events.filter((event) => shown.add(event)),
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
  while (follow && !(live !== undefined && isThere) && !signal.aborted && nowMs() < (request.untilMs ?? Infinity)) {
    await sleep(Math.min(POLL_MS * 2 ** failures, MAX_WAIT_MS), undefined, { signal }).catch(() => {});
    if (signal.aborted) return;
    const startMs = Math.max(period.startMs, shown.newestMs - LATE_MS);
    shown.forgetBefore(startMs);
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
    // What came between the end of the reading and the beginning of the session.
    if (isFirst) yield* read({ startMs: Math.max(period.startMs, shown.newestMs - LATE_MS), endMs: undefined });
    isFirst = false;
    // What came while the log was read may come again, with a time that was read.
    yield await linesOf(
      events.filter((event) => event.timeMs > shown.newestMs || !shown.hasLine(event)),
      slice,
    );
  }
}

/** One empty pattern, which is every event, where the query cannot be said. */
function patternsFor(query: Query): readonly string[] {
  const { patterns, expressions } = filterPatterns(query);
  if (patterns.length + expressions.length === 0) return [""];
  return [...patterns, textPattern([...expressions, ...FAILURE_EXPRESSIONS])];
}

async function linesOf(events: readonly LogEvent[], slice: Slice): Promise<readonly LogLine[]> {
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

/** What neither the runtime nor the platform has a form for: the engine's last words, for one. */
function textLine(timeMs: number, text: string): string {
  return JSON.stringify({ timestamp: new Date(timeMs).toISOString(), level: "info", message: text, fields: {} });
}

/** Events that were given out already, as far back as a look goes. */
class Recent {
  newestMs = 0;
  readonly #events = new Map<string, LogEvent>();

  /** Whether it is new. */
  add(event: LogEvent): boolean {
    const { id, timeMs } = event;
    if (this.#events.has(id)) return false;
    this.#events.set(id, event);
    this.newestMs = Math.max(this.newestMs, timeMs);
    return true;
  }

  /** The same for an event that is known by its stream, time and text only. */
  hasLine({ stream, timeMs, text }: LogEvent): boolean {
    for (const event of this.#events.values()) {
      if (event.timeMs === timeMs && event.stream === stream && event.text === text) return true;
    }
    return false;
  }

  forgetBefore(timeMs: number): void {
    for (const [id, event] of this.#events) if (event.timeMs < timeMs) this.#events.delete(id);
  }
}
