import { useEffect, useRef } from "preact/hooks";
import { focusHeading } from "../kit/focus-heading.ts";

/** How long a page may take until its heading is there; later, the focus stays at the beginning of the page. */
const WAIT_MS = 5_000;

/**
 * Moves the focus to the heading of a page that a link has shown, as a browser begins at the top of a page that it loads:
 * who does not see the page hears what it is. `key` says which page is shown.
 */
export function usePageFocus(key: string): void {
  const lastKey = useRef<string>(undefined);
  useEffect(() => {
    const before = lastKey.current;
    lastKey.current = key;
    if (before === undefined || before === key) return;
    const main = document.getElementById("content")!;
    main.focus({ preventScroll: true });
    if (focusHeading(main)) return;
    const seen = new MutationObserver(() => {
      // Somebody who went on by the keyboard meanwhile is left alone.
      if (document.activeElement !== main || focusHeading(main)) stop();
    });
    seen.observe(main, { childList: true, subtree: true });
    const timer = setTimeout(() => stop(), WAIT_MS);
    const stop = (): void => {
      seen.disconnect();
      clearTimeout(timer);
    };
    return stop;
  }, [key]);
}
