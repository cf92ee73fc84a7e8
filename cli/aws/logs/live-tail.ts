import type { CloudWatchLogs, StartLiveTailResponseStream } from "@aws-sdk/client-cloudwatch-logs";
import { asTheyCome } from "../../time/merge-by-time.ts";
import type { CloudLogEvent } from "./read-events.ts";

export interface LiveTailRequest {
  readonly groupArn: string;
  /** Each pattern takes a session; an account has 15 at a time. */
  readonly patterns: readonly string[];
  /** Called when the service starts to drop events: above 500 a second. */
  readonly onSampled: () => void;
}

/**
 * The events of a log group as they come in, within a second, until the signal. The first batch is empty: from then on
 * nothing is missed. A session ends after three hours and is replaced by another. Events have no ids here; an event that
 * several sessions return is recognized by stream, time and text.
 */
export async function* liveTail(
  client: CloudWatchLogs,
  { groupArn, patterns, onSampled }: LiveTailRequest,
  signal: AbortSignal,
): AsyncGenerator<readonly CloudLogEvent[]> {
  let isSampled = false;
  const starting = new Set(patterns.keys());
  const session = async function* (pattern: string, i: number): AsyncGenerator<readonly SessionEvent[]> {
    while (!signal.aborted) {
      const { responseStream } = await client.startLiveTail(
        { logGroupIdentifiers: [groupArn], ...(pattern !== "" && { logEventFilterPattern: pattern }) },
        { abortSignal: signal },
      );
      try {
        for await (const part of responseStream ?? []) {
          if (part.sessionStart !== undefined && starting.delete(i) && starting.size === 0) yield [];
          const { sampled = false, events } = readPart(part);
          if (sampled && !isSampled) onSampled();
          isSampled = sampled;
          if (events.length > 0) yield events.map((event) => ({ session: i, event }));
        }
      } catch (error) {
        if (signal.aborted) return;
        if ((error as Error).name !== "SessionTimeoutException") throw error;
      }
    }
  };
  const once = new OncePerSession(patterns.length);
  for await (const events of asTheyCome(patterns.map(session))) {
    yield events.filter((one) => once.isNew(one)).map(({ event }) => event);
  }
}

interface SessionEvent {
  readonly session: number;
  readonly event: CloudLogEvent;
}

function readPart({ sessionUpdate }: StartLiveTailResponseStream) {
  return {
    sampled: sessionUpdate?.sessionMetadata?.sampled,
    events: (sessionUpdate?.sessionResults ?? []).map(
      ({ logStreamName = "", timestamp = 0, message = "" }): CloudLogEvent => ({
        id: `${logStreamName} ${timestamp} ${message}`,
        stream: logStreamName,
        timeMs: timestamp,
        text: message.replace(/\r?\n$/, ""),
      }),
    ),
  };
}

/** How much later one session may return an event than another. */
const SKEW_MS = 10_000;

/** Returns each event once. Two equal lines of the same millisecond are two events: they come twice in one session. */
class OncePerSession {
  readonly #sessions: number;
  /** How often each session returned each event. */
  readonly #counts = new Map<string, { readonly timeMs: number; readonly counts: number[]; yields: number }>();
  #newestMs = 0;

  constructor(sessions: number) {
    this.#sessions = sessions;
  }

  isNew({ session, event }: SessionEvent): boolean {
    if (this.#sessions === 1) return true;
    this.#forget(event.timeMs);
    const entry = this.#counts.get(event.id) ?? {
      timeMs: event.timeMs,
      counts: new Array<number>(this.#sessions).fill(0),
      yields: 0,
    };
    this.#counts.set(event.id, entry);
    entry.counts[session]!++;
    if (entry.counts[session]! <= entry.yields) return false;
    entry.yields++;
    return true;
  }

  #forget(timeMs: number): void {
    if (timeMs <= this.#newestMs) return;
    this.#newestMs = timeMs;
    for (const [id, entry] of this.#counts) {
      // The map is in order of arrival: what follows is not much older.
      if (entry.timeMs > timeMs - SKEW_MS) break;
      this.#counts.delete(id);
    }
  }
}
