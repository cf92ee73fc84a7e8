import type { CloudWatchLogs } from "@aws-sdk/client-cloudwatch-logs";
import type { Allowance } from "../../platform/log.ts";

/** A line of the log group. */
export interface CloudLogEvent {
  readonly id: string;
  readonly stream: string;
  /** When it was written, in milliseconds since 1970. */
  readonly timeMs: number;
  /** The line without its line end. */
  readonly text: string;
}

export interface Period {
  readonly startMs: number;
  /** Undefined for no end: events that come while reading are included. */
  readonly endMs: number | undefined;
}

/** Which events of a log group are read. */
export interface EventSelection {
  readonly group: string;
  /** Only this stream; undefined for all. */
  readonly stream?: string;
  /** A filter pattern; an empty one matches every event. */
  readonly pattern: string;
  readonly period: Period;
  /** How many pages may be asked for; undefined for all. */
  readonly allowance?: Allowance | undefined;
}

/**
 * Reads events, oldest first, a page at a time. A page may be empty if nothing in the part that was searched matches.
 * Throws what the client throws.
 */
export async function* readLogEvents(
  client: CloudWatchLogs,
  { group, stream, pattern, period: { startMs, endMs }, allowance }: EventSelection,
  signal: AbortSignal,
): AsyncGenerator<readonly CloudLogEvent[]> {
  let nextToken: string | undefined;
  do {
    if (allowance?.take() === false) return;
    const page = await client.filterLogEvents(
      {
        logGroupName: group,
        startTime: Math.max(0, Math.floor(startMs)),
        ...(endMs !== undefined && { endTime: Math.ceil(endMs) }),
        ...(stream !== undefined && { logStreamNames: [stream] }),
        ...(pattern !== "" && { filterPattern: pattern }),
        ...(nextToken !== undefined && { nextToken }),
      },
      { abortSignal: signal },
    );
    yield (page.events ?? []).map(({ eventId = "", logStreamName = "", timestamp = 0, message = "" }) => ({
      id: eventId,
      stream: logStreamName,
      timeMs: timestamp,
      text: message.replace(/\r?\n$/, ""),
    }));
    nextToken = page.nextToken;
  } while (nextToken !== undefined && !signal.aborted);
}
