import { type Signal, useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import type { Event } from "../../../schema/rpc.generated.ts";
import { isAborted } from "../data/call.ts";
import type { ListControl } from "../rows/virtual-list.tsx";
import type { ExplorerState } from "./explorer-state.ts";
import { type EventPlace, eventPlace, readEventAt } from "./open-event.ts";

export interface OpenEventOptions {
  readonly state: ExplorerState;
  /** The row that is chosen. */
  readonly chosen: Signal<number>;
  readonly control: ListControl;
  /** How many live events are above the numbered rows now. */
  arrived(): number;
}

export interface OpenEvent {
  /** Undefined if no event is open. */
  readonly place: EventPlace | undefined;
  /** Undefined while it is read. */
  readonly event: Event | undefined;
  readonly isMissing: boolean;
  /** Why it could not be read. */
  readonly error: unknown;
  /** Reads it again. */
  retry(): void;
  /** An event is about to be opened that is known already. */
  take(event: Event): void;
}

/** The event that the address names: read where it is not known, and its row shown where it was not chosen there. */
export function useOpenEvent({ state, chosen, control, arrived }: OpenEventOptions): OpenEvent {
  const { event: text, isOldestFirst } = state.view.value;
  const place = text === "" ? undefined : eventPlace(text);
  const event = useSignal<Event | undefined>(undefined);
  const isMissing = useSignal(false);
  const error = useSignal<unknown>(undefined);
  const attempt = useSignal(0);
  const rows = state.result.value?.rows.value;
  useEffect(() => {
    isMissing.value = false;
    error.value = undefined;
    if (place === undefined) {
      event.value = undefined;
      return;
    }
    if (event.peek()?.id === place.id) return;
    event.value = undefined;
    const over = new AbortController();
    readEventAt(state.projectId, place, over.signal).then(
      (answer) => {
        event.value = answer;
        isMissing.value = answer === undefined;
      },
      (thrown) => {
        if (!isAborted(thrown)) error.value = thrown;
      },
    );
    return () => over.abort();
  }, [text, attempt.value]);
  useEffect(() => {
    if (place === undefined || rows === undefined || chosen.peek() >= 0) return;
    void rows.rowOf(place.id, place.timeMs).then((row) => {
      if (row === undefined || chosen.peek() >= 0) return;
      // Some may have come while it was looked for.
      chosen.value = row + arrived();
      control.show?.(chosen.peek(), "nearest");
    });
  }, [text, rows, isOldestFirst]);
  return {
    ...{ place, event: event.value, isMissing: isMissing.value, error: error.value },
    retry() {
      attempt.value++;
    },
    take(next) {
      event.value = next;
    },
  };
}
