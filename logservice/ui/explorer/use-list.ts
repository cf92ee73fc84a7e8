import { computed, effect, type ReadonlySignal, type Signal, useSignal } from "@preact/signals";
import { useEffect, useMemo, useRef } from "preact/hooks";
import type { Event } from "../../../schema/rpc.generated.ts";
import { requests } from "../data/preferences.ts";
import type { Rows } from "../rows/rows.ts";
import type { ListControl } from "../rows/virtual-list.tsx";
import type { ExplorerState } from "./explorer-state.ts";
import { type Fold, foldOf, NO_FOLD } from "./fold.ts";
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
  /** The requests and responses that belong together, whether or not they are one row. */
  pairs(): Fold;
  /** The same if they are one row. */
  fold(): Fold;
  /** Whether a row is left out, as what it says is in another one. */
  isHidden(row: number): boolean;
  /** The row that is so many shown rows below, or above if negative; the last on the way if there are fewer. */
  shownFrom(row: number, steps: number): number;
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
  const pairs = usePairs(rows, listed);
  const fold = () => (requests.value === "folded" ? pairs() : NO_FOLD);
  const total = arrived + read.value;
  const isHidden = (row: number): boolean => {
    // One that is open by its address has a row.
    if (row === chosen.peek() || fold().count === 0) return false;
    const event = row < arrived ? live?.shownEvents.peek()[row] : rows?.peek(row - arrived);
    return event !== undefined && fold().isFolded(event);
  };
  return {
    ...{ rows, streamed, live, arrived, chosen, firstVisible, mark, control, pairs, fold, isHidden, total },
    shownFrom(row, steps) {
      let at = row;
      const by = Math.sign(steps);
      for (let left = Math.abs(steps), next = row + by; left > 0 && next >= 0 && next < total; next += by) {
        if (isHidden(next)) continue;
        at = next;
        left--;
      }
      return at;
    },
    eventAt: (row) => (row < arrived ? live?.shownEvents.value[row] : rows?.at(row - arrived)),
    arrivedNow: () => listed.current?.shownEvents.peek().length ?? 0,
  };
}

/** Pairs of the events that were read and have arrived: looked for again once there are others. */
function usePairs(rows: Rows | undefined, listed: { readonly current: LiveView | undefined }): () => Fold {
  const last = useRef<{ version: number; arrived: readonly Event[] | undefined; rows: Rows | undefined; fold: Fold }>(
    undefined,
  );
  return () => {
    const version = rows?.version.peek() ?? 0;
    const arrived = listed.current?.shownEvents.peek();
    const { current } = last;
    if (current?.rows === rows && current?.version === version && current.arrived === arrived) return current.fold;
    const fold = foldOf([...(arrived ?? []), ...(rows?.readEvents ?? [])]);
    last.current = { version, arrived, rows, fold };
    return fold;
  };
}

const timeOf = (event: Event | undefined) => (event === undefined ? undefined : Date.parse(event.timestamp));
