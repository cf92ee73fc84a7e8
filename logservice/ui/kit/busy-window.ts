import type { Signal } from "@preact/signals";
import { createContext } from "preact";
import { useContext, useLayoutEffect } from "preact/hooks";

/** Whether the window around sends something. Undefined where there is no window. */
export const WindowBusy = createContext<Signal<boolean> | undefined>(undefined);

/** Keeps the window around, if there is one, until what is sent is answered: what it makes may be shown there alone. */
export function useBusyWindow(isSending: boolean): void {
  const isBusy = useContext(WindowBusy);
  // Before the next key, which may be Escape.
  useLayoutEffect(() => {
    if (isBusy === undefined) return;
    isBusy.value = isSending;
    return () => {
      isBusy.value = false;
    };
  }, [isSending]);
}
