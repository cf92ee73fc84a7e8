import type { CloudWatchLogs } from "@aws-sdk/client-cloudwatch-logs";

/** A line of the log group. */
export interface LogEvent {
  readonly id: string;
  readonly stream: string;
  /** When it was written, in milliseconds since 1970. */
  readonly timeMs: number;
  /** Without the line's end. */
  readonly text: string;
}

export interface Period {
  readonly startMs: number;
  /** Undefined for no end: what comes while it is read is there too. */
  readonly endMs: number | undefined;
}

/**
 * The events of a period that a filter pattern matches, oldest first, a page at a time. A page may be empty: so much was
 * searched without a match. An empty pattern matches every event.
 * Of one stream where it is named. Throws as the client does.
 */
export async function* readEvents(
  client: CloudWatchLogs,
  group: string,
  pattern: string,
  { startMs, endMs }: Period,
  signal: AbortSignal,
  stream?: string,
): AsyncGenerator<readonly LogEvent[]> {
  let nextToken: string | undefined;
  do {
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
