import type { RefObject } from "preact";
import { useEffect } from "preact/hooks";

const STOPS = "a[href], button, input, select, textarea, summary, [tabindex]";

/**
 * Makes an element that covers the page a window: the focus is in it, Tab stays in it, Escape closes it. Afterwards the
 * focus is where it was.
 */
export function useCover(element: RefObject<HTMLElement | null>, isOver: boolean, onClose: () => void): void {
  useEffect(() => {
    if (!isOver) return;
    const cover = element.current!;
    const before = document.activeElement;
    stopsIn(cover)[0]?.focus();
    const onKey = (event: KeyboardEvent): void => {
      if (event.key === "Escape" && !event.defaultPrevented) onClose();
      if (event.key !== "Tab") return;
      const stops = stopsIn(cover);
      const at = document.activeElement;
      const isOutside = !cover.contains(at);
      if (!isOutside && at !== (event.shiftKey ? stops[0] : stops.at(-1))) return;
      event.preventDefault();
      (event.shiftKey ? stops.at(-1) : stops[0])?.focus();
    };
    document.addEventListener("keydown", onKey);
    return () => {
      document.removeEventListener("keydown", onKey);
      if (before instanceof HTMLElement && before.isConnected) before.focus();
    };
  }, [isOver]);
}

/** What Tab leads to in an element, in its order. */
const stopsIn = (element: HTMLElement) =>
  [...element.querySelectorAll<HTMLElement>(STOPS)].filter(
    (one) => one.tabIndex >= 0 && !one.matches(":disabled") && one.getClientRects().length > 0,
  );
