import { type Signal, signal } from "@preact/signals";
import { useEffect, useState } from "preact/hooks";
import type { Event } from "../../../schema/rpc.generated.ts";
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

/** The new events of the explorer while it is live; undefined while it is not. `chosen` stays on its event. */
export function useLive(state: ExplorerState, chosen: Signal<number>): LiveView | undefined {
  const [live, setLive] = useState<LiveView | undefined>(undefined);
  const { isLive } = state.view.value;
  const found = state.found.value;
  const isEvents = found !== undefined && found.table.value === undefined;
  useEffect(() => {
    if (!isLive || found === undefined || !isEvents) return setLive(undefined);
    const histogram = signal<Histogram | undefined>(undefined);
    const times = signal<{ startMs: number; stopMs: number } | undefined>(undefined);
    let arrived: Event[] = [];
    const known = (): ReadonlySet<string> => new Set(found.newest.peek()?.map(({ id }) => id));
    const opened = openLive({
      ...{ projectId: state.projectId, team: teamId.peek(), query: found.query },
      // What arrived while the list was being read is in both.
      isKnown: (id) => known().has(id),
      arrived(events) {
        arrived.push(...events);
      },
      full: () => state.run(),
    });
    const before = opened.shown.peek();
    let count = before.length;
    const unsubscribe = opened.shown.subscribe((events) => {
      if (chosen.peek() >= 0) chosen.value = chosen.peek() + events.length - count;
      count = events.length;
    });
    const move = (): void => {
      const whole = histogram.peek() ?? found.histogram.peek();
      if (whole === undefined) return;
      const { startMs, stopMs } = found.times;
      const next = grown(whole, arrived, Date.now(), stopMs - startMs);
      arrived = [];
      histogram.value = next;
      times.value = { startMs: Date.now() - (stopMs - startMs), stopMs: Date.now() };
    };
    const timer = setInterval(move, MOVE_MS);
    setLive({ ...opened, histogram, times });
    return () => {
      clearInterval(timer);
      unsubscribe();
      opened.close();
    };
  }, [isLive, isEvents, found]);
  return isLive ? live : undefined;
}
