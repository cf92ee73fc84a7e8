import { effect, untracked } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import type { Event } from "../../../schema/rpc.generated.ts";
import type { ExplorerState } from "./explorer-state.ts";
import { eventText } from "./open-event.ts";
import type { ListView } from "./use-list.ts";
import { type OpenEvent, useOpenEvent } from "./use-open-event.ts";

/** The event that is open, and how another one of the list is chosen and opened. */
export interface EventChoice {
  readonly open: OpenEvent;
  openRow(row: number, event: Event): void;
  close(): void;
  /** Chooses a row, and opens its event if one is open. */
  choose(row: number): void;
  /** Choose the row above or below; absent if there is none. */
  readonly previous: (() => void) | undefined;
  readonly next: (() => void) | undefined;
}

export function useEventChoice(state: ExplorerState, list: ListView): EventChoice {
  const view = state.view.value;
  const { rows, chosen, control, eventAt } = list;
  const open = useOpenEvent({ state, chosen, control, arrived: list.arrivedNow });
  const openRow = (row: number, event: Event): void => {
    chosen.value = row;
    open.take(event);
    state.change({ event: eventText(event) }, { replaces: view.event !== "" });
  };
  const close = (): void => {
    if (view.event === "") return;
    state.change({ event: "" });
    document.getElementById("events")?.focus();
  };
  /** Opens the chosen event once it was read. */
  const awaited = useRef<() => void>(undefined);
  const choose = (row: number): void => {
    chosen.value = row;
    const event = eventAt(row);
    // The open event follows the keys, and one that is not read yet as soon as it is.
    awaited.current = undefined;
    if (view.event === "") return;
    if (event !== undefined) openRow(row, event);
    else awaited.current = () => chosen.peek() === row && eventAt(row) !== undefined && choose(row);
  };
  useEffect(
    () =>
      effect(() => {
        if (rows && rows.version.value > 0) untracked(() => awaited.current?.());
      }),
    [rows],
  );
  const step = (by: number): void => {
    choose(list.shownFrom(chosen.value, by));
    control.show?.(chosen.value, "nearest");
  };
  return {
    ...{ open, openRow, close, choose },
    previous: hasStep(list, -1) ? () => step(-1) : undefined,
    next: chosen.value >= 0 && hasStep(list, 1) ? () => step(1) : undefined,
  };
}

const hasStep = ({ chosen, shownFrom }: ListView, by: number) => shownFrom(chosen.value, by) !== chosen.value;
