import { exchangeHalf } from "../../../grammar/summary/index.ts";
import type { Event } from "../../../schema/rpc.generated.ts";

/** Which requests are in the row of their response. */
export interface Fold {
  /** How many: of the events that are known so far. */
  readonly count: number;
  /** Whether an event is a request whose response is known. */
  isFolded(event: Event): boolean;
  /** The request that is in the row of a response. */
  requestOf(event: Event): Event | undefined;
}

export const NO_FOLD: Fold = { count: 0, isFolded: () => false, requestOf: () => undefined };

interface Pair {
  requests: number;
  responses: number;
  request?: Event;
  response?: Event;
}

/**
 * Finds the requests and responses of the same id. An id that several requests have, as those of a program that has started
 * again, folds nothing: nobody knows which belong together.
 */
export function foldOf(events: Iterable<Event>): Fold {
  const pairs = new Map<string, Pair>();
  for (const event of events) {
    const exchange = exchangeHalf(event);
    if (exchange === undefined) continue;
    const { id, half } = exchange;
    const pair = pairs.get(id) ?? { requests: 0, responses: 0 };
    pairs.set(id, pair);
    pair[half] = event;
    pair[half === "request" ? "requests" : "responses"]++;
  }
  const folded = new Set<string>();
  const requests = new Map<string, Event>();
  for (const { requests: requestCount, responses, request, response } of pairs.values()) {
    if (requestCount !== 1 || responses !== 1) continue;
    folded.add(request!.id);
    requests.set(response!.id, request!);
  }
  if (folded.size === 0) return NO_FOLD;
  return {
    count: folded.size,
    isFolded: ({ id }) => folded.has(id),
    requestOf: ({ id }) => requests.get(id),
  };
}
