import { computed, effect, type ReadonlySignal, type Signal, useSignal } from "@preact/signals";
import { useEffect, useMemo, useRef } from "preact/hooks";
import type { Event } from "../../../schema/rpc.generated.ts";
import type { Rows } from "../rows/rows.ts";
import type { ListControl } from "../rows/virtual-list.tsx";
import type { ExplorerState } from "./explorer-state.ts";
import { type LiveView, useLive } from "./use-live.ts";

/** The list of events: those that were read, those that have arrived above them, and where a person is in it. */
export interface ListView {
  readonly rows: Rows | undefined;
  /** The new events, while there are any to come. */
  readonly streamed: LiveView | undefined;
  /** The new events if they are above the others: in a list that begins with the newest. */
  readonly live: LiveView | undefined;
  /** How many events are above the rows that were read. */
  readonly arrived: number;
  readonly total: number;
  /** The row that is chosen; -1 if none is. */
  readonly chosen: Signal<number>;
  readonly firstVisible: Signal<number>;
  /** The time of the first visible event, unless the list is at its beginning. */
  readonly mark: ReadonlySignal<number | undefined>;
  readonly control: ListControl;
  eventAt(row: number): Event | undefined;
  /** How many events are above the rows at the time of the call. */
  arrivedNow(): number;
}

export function useList(state: ExplorerState): ListView {
  const { range, isOldestFirst } = state.view.value;
  const result = state.result.value;
  const rows = result?.rows.value;
  if (rows) rows.isOldestFirst = isOldestFirst;
  const chosen = useSignal(-1);
  const firstVisible = useSignal(0);
  const control = useRef<ListControl>({}).current;
  const streamed = useLive(state, chosen);
  // The events that have arrived are above the newest.
  const live = isOldestFirst ? undefined : streamed;
  const lastKey = useRef("");
  // Before the row of the open event is looked for.
  useEffect(() => {
    chosen.value = -1;
    // The same view read anew, such as while it is live, stays where it is.
    const key = `${result?.query}\n${JSON.stringify(range)}\n${isOldestFirst}`;
    if (lastKey.current === key) return;
    lastKey.current = key;
    control.show?.(0, "top");
  }, [result, isOldestFirst]);
  const arrived = live?.shownEvents.value.length ?? 0;
  // Scrolling and reading draw the list anew, and nothing else.
  const read = useMemo(() => computed(() => (rows && rows.version.value >= 0 ? rows.total : 0)), [rows]);
  const listed = useRef(live);
  listed.current = live;
  // New events move the list only if its beginning is what is looked at.
  useEffect(() => effect(() => live?.hold(firstVisible.value > 0)), [live]);
  const mark = useMemo(
    () =>
      computed(() => {
        rows?.version.value;
        const row = firstVisible.value - (live?.shownEvents.value.length ?? 0);
        return firstVisible.value > 0 ? timeOf(rows?.at(row)) : undefined;
      }),
    [rows, live, isOldestFirst],
  );
  return {
    ...{ rows, streamed, live, arrived, chosen, firstVisible, mark, control },
    total: arrived + read.value,
    eventAt: (row) => (row < arrived ? live?.shownEvents.value[row] : rows?.at(row - arrived)),
    arrivedNow: () => listed.current?.shownEvents.peek().length ?? 0,
  };
}

const timeOf = (event: Event | undefined) => (event === undefined ? undefined : Date.parse(event.timestamp));
