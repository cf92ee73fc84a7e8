import { type Signal, signal } from "@preact/signals";
import { useEffect, useRef, useState } from "preact/hooks";
import type { Event } from "../../../schema/rpc.generated.ts";
import { serviceNow } from "../data/clock.ts";
import { teamId } from "../data/session.ts";
import type { ExplorerState } from "./explorer-state.ts";
import type { Histogram } from "./histogram-data.ts";
import { type Live, openLive } from "./live.ts";
import { grown } from "./live-histogram.ts";

/** A stream of new events, with a histogram that goes on. */
export interface LiveView extends Live {
  readonly histogram: Signal<Histogram | undefined>;
  readonly times: Signal<{ readonly startMs: number; readonly stopMs: number } | undefined>;
}

/** How often the histogram moves on. */
const MOVE_MS = 1_000;

/**
 * The new events of the explorer while it is live, and after that until the list was read with them; undefined otherwise.
 * `chosen` stays on its event.
 */
export function useLive(state: ExplorerState, chosen: Signal<number>): LiveView | undefined {
  const [live, setLive] = useState<LiveView | undefined>(undefined);
  const watched = useRef<LiveView>(undefined);
  const { isLive, query } = state.view.value;
  // A stream of a query that is not valid would be refused.
  const isValid = state.latest.value?.isWrong.value === false;
  useEffect(() => {
    if (!isLive || !isValid) return;
    const histogram = signal<Histogram | undefined>(undefined);
    const times = signal<{ startMs: number; stopMs: number } | undefined>(undefined);
    let arrived: Event[] = [];
    const opened = openLive({
      ...{ projectId: state.projectId, team: teamId.peek(), query },
      isInList(event) {
        const result = state.result.peek();
        // One that is being read anew may be without what the one before has.
        return result === state.latest.peek() && (result?.rows.peek()?.has(event) ?? false);
      },
      arrived(events) {
        arrived.push(...events);
      },
      stale: () => state.run(),
      full() {
        // One run at a time: what arrives meanwhile is above what it finds.
        if (!state.latest.peek()?.isRunning.peek()) state.run();
      },
    });
    state.follow(opened.arrivals);
    let count = 0;
    const unsubscribe = opened.shownEvents.subscribe((events) => {
      if (chosen.peek() >= 0) chosen.value = Math.max(-1, chosen.peek() + events.length - count);
      count = events.length;
    });
    let mark = opened.mark();
    const unmark = state.latest.subscribe(() => {
      mark = opened.mark();
    });
    // The list was read: what is in it has not arrived since.
    const unbase = state.result.subscribe((result) => {
      if (result === undefined) return;
      const ids = new Set(result.newest.peek()?.map(({ id }) => id));
      const isInList = ({ id }: Event) => ids.has(id);
      arrived = [];
      histogram.value = undefined;
      times.value = undefined;
      opened.rebase(mark, isInList);
    });
    const move = (): void => {
      const result = state.result.peek();
      const whole = histogram.peek() ?? result?.histogram.peek();
      if (result === undefined || whole === undefined) return;
      const { startMs, stopMs } = result.times;
      const nowMs = serviceNow();
      histogram.value = grown(whole, arrived, nowMs, stopMs - startMs);
      arrived = [];
      times.value = { startMs: nowMs - (stopMs - startMs), stopMs: nowMs };
    };
    const timer = setInterval(move, MOVE_MS);
    const view: LiveView = { ...opened, histogram, times };
    const isWatched = watched.current !== undefined;
    // The events of the query before stay until the list of this one is there: that takes as long as the service is gone.
    const unshow = afterResult(isWatched ? state : undefined, () => {
      watched.current = view;
      setLive(view);
    });
    return () => {
      clearInterval(timer);
      unshow();
      opened.close();
      // The events that were watched stay until they are in the list.
      afterResult(state, () => {
        for (const end of [unsubscribe, unmark, unbase]) end();
        if (watched.current === view) watched.current = undefined;
        setLive((now) => (now === view ? undefined : now));
      });
    };
  }, [isLive, isValid, query, state]);
  return live;
}

/** Does something once another result is shown than now; at once without a state. Returns what gives that up. */
function afterResult(state: ExplorerState | undefined, act: () => void): () => void {
  const first = state?.result.peek();
  let isOver = false;
  const unfollow = state?.result.subscribe((result) => {
    if (result === first || isOver) return;
    isOver = true;
    act();
    queueMicrotask(() => unfollow?.());
  });
  if (state === undefined) act();
  return () => unfollow?.();
}
