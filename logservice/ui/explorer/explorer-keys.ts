import { useEffect } from "preact/hooks";
import { serviceNow } from "../data/clock.ts";
import { facets, letterKeys, wrap } from "../data/preferences.ts";
import { say } from "../kit/toasts.tsx";
import type { ExplorerState } from "./explorer-state.ts";
import { endingNow, shifted, widened } from "./range-steps.ts";

export interface ExplorerKeys {
  readonly state: ExplorerState;
  /** Closes the event that is open. */
  close(): void;
}

/** The keys of the explorer, wherever the focus is but in a text. */
export function useExplorerKeys({ state, close }: ExplorerKeys): void {
  useEffect(() => {
    const press = (event: KeyboardEvent): void => {
      if (letterKeys.peek() === "off") return;
      if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey) return;
      const target = event.target as HTMLElement;
      if (target.matches("input, textarea, select, dialog *, .menu *")) return;
      const { range, isLive } = state.view.peek();
      const keys: Readonly<Record<string, () => void>> = {
        "/": () => document.querySelector<HTMLElement>(".query-text")?.focus(),
        l: () => {
          state.change({ isLive: !isLive, range: endingNow(range) });
          say(isLive ? "Live off" : "Live on");
        },
        w: () => {
          wrap.value = wrap.value === "wrapped" ? "one line" : "wrapped";
          say(wrap.value === "wrapped" ? "Long messages are wrapped" : "Each event is one line");
        },
        f: () => {
          facets.value = facets.value === "shown" ? "hidden" : "shown";
          say(facets.value === "shown" ? "Fields are shown" : "Fields are hidden");
        },
        "[": () => state.change({ range: shifted(range, -1, serviceNow()), isLive: false }),
        "]": () => state.change({ range: shifted(range, 1, serviceNow()), isLive: false }),
        "-": () => state.change({ range: widened(range, serviceNow()), isLive: false }),
        x: close,
        j: () => passOn(event),
        k: () => passOn(event),
      };
      const act = keys[event.key];
      if (act === undefined || !Object.hasOwn(keys, event.key)) return;
      event.preventDefault();
      act();
    };
    addEventListener("keydown", press);
    return () => removeEventListener("keydown", press);
  }, [state, close]);
}

/** Gives a key to the list, and the focus. */
function passOn({ key }: KeyboardEvent): void {
  const list = document.getElementById("events");
  list?.focus();
  list?.dispatchEvent(new KeyboardEvent("keydown", { key }));
}
