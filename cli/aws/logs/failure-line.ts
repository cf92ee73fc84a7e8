import type { PlatformLine, ReportFigures } from "../../../grammar/query/cloudwatch/platform-line.ts";
import { readPlatformLine } from "../../../grammar/query/cloudwatch/platform-line.ts";
import type { CloudLogEvent, Period } from "./read-events.ts";

/** The events of one stream in a period: the lines of one execution environment. */
export type Slice = (stream: string, period: Period) => AsyncIterable<readonly CloudLogEvent[]>;

type Failure = Extract<PlatformLine, { kind: "timeout" | "exit" }>;

/** A request takes at most 25 seconds, and so does starting up. */
const BEFORE_MS = 60_000;
/** The report of an invocation is written right after its end. */
const AFTER_MS = 5_000;

/**
 * An entry for a failure that the platform reports, with the request that failed. An environment handles one request at a
 * time, so it is the last one before the failure without a response.
 */
export async function failureLine(event: CloudLogEvent, failure: Failure, slice: Slice): Promise<string> {
  const { request, report } = await around(event, failure, slice);
  const isOutOfMemory =
    failure.kind === "exit" &&
    (failure.reason.includes("OutOfMemory") ||
      (/signal: killed/.test(failure.reason) &&
        report?.usedMiB !== undefined &&
        report.usedMiB >= (report.memoryMiB ?? 0)));
  const message =
    failure.kind === "timeout"
      ? "the platform ended a request that took too long"
      : isOutOfMemory
        ? "the platform ended a request that ran out of memory"
        : "the process ended during a request";
  const durationMs = failure.kind === "timeout" ? failure.durationMs : report?.durationMs;
  return JSON.stringify({
    timestamp: new Date(event.timeMs).toISOString(),
    level: "error",
    message,
    fields: {
      ...request,
      invocation: failure.invocation,
      ...(durationMs !== undefined && { duration: durationMs }),
      ...(failure.kind === "exit" && !isOutOfMemory && { reason: failure.reason }),
      ...(isOutOfMemory && report?.memoryMiB !== undefined && { memory: report.memoryMiB * 1024 * 1024 }),
    },
  });
}

interface Around {
  readonly request: Readonly<Record<string, unknown>> | undefined;
  readonly report: ReportFigures | undefined;
}

async function around(event: CloudLogEvent, failure: Failure, slice: Slice): Promise<Around> {
  let request: Record<string, unknown> | undefined;
  let report: ReportFigures | undefined;
  const period = { startMs: event.timeMs - BEFORE_MS, endMs: event.timeMs + AFTER_MS };
  for await (const events of slice(event.stream, period)) {
    for (const { text, timeMs, id } of events) {
      const line = readPlatformLine(text);
      if (line?.kind === "report" && line.invocation === failure.invocation) report = line.report;
      if (line !== undefined || timeMs > event.timeMs || id === event.id) continue;
      const entry = requestOrResponse(text);
      if (entry?.message === "request") request = entry.fields;
      else if (entry?.message === "response" && entry.fields.id === request?.id) request = undefined;
    }
  }
  return { request, report };
}

function requestOrResponse(text: string): { message: string; fields: Record<string, unknown> } | undefined {
  // A cheap test first, as most lines are other entries.
  if (!/"message":"(?:request|response)"/.test(text)) return undefined;
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
