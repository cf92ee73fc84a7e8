// A session of Live Tail: a stream that gives, now and then, what came since.

import type { StartLiveTailCommandInput, StartLiveTailResponseStream } from "@aws-sdk/client-cloudwatch-logs";
import type { Clock } from "../../../grammar/units/clock.ts";
import type { LogEvent } from "./log-group.ts";

/** "The sessionUpdate event is emitted every second"; a tenth of it, so that nobody waits for it. */
const UPDATE_MS = 100;

/** "If more than 500 events match per second, the results are sampled." */
const MAX_EVENTS_PER_UPDATE = 500;

interface Tailed {
  readonly groups: readonly string[];
  readonly matches: (message: string) => boolean;
  readonly followers: Set<(group: string, event: LogEvent) => void>;
  readonly accountId: string;
  readonly clock: Clock;
}

export async function* tailOf(
  input: StartLiveTailCommandInput,
  { groups, matches, followers, accountId, clock }: Tailed,
): AsyncGenerator<StartLiveTailResponseStream> {
  let waiting: { group: string; event: LogEvent }[] = [];
  const follow = (group: string, event: LogEvent) => {
    if (groups.includes(group) && matches(event.message)) waiting.push({ group, event });
  };
  followers.add(follow);
  try {
    yield {
      sessionStart: {
        requestId: "1",
        sessionId: "1",
        logGroupIdentifiers: input.logGroupIdentifiers,
        ...(input.logEventFilterPattern !== undefined && { logEventFilterPattern: input.logEventFilterPattern }),
      },
    };
    for (;;) {
      await clock.sleep(UPDATE_MS);
      const sampled = waiting.length > MAX_EVENTS_PER_UPDATE;
      const results = waiting.slice(0, MAX_EVENTS_PER_UPDATE).map(({ group, event }) => ({
        logStreamName: event.stream,
        logGroupIdentifier: `${accountId}:${group}`,
        message: event.message,
        timestamp: event.timestamp,
        ingestionTime: event.ingestedAt,
      }));
      waiting = [];
      yield { sessionUpdate: { sessionMetadata: { sampled }, sessionResults: results } };
    }
  } finally {
    followers.delete(follow);
  }
}
