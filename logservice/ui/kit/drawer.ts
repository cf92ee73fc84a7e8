import type { RefObject } from "preact";
import { useEffect, useLayoutEffect } from "preact/hooks";
import { isNarrow } from "./narrow.ts";

/** The attributes that tell a person who does not see the page that nothing else can be reached now. */
const MODAL = { role: "dialog", "aria-modal": true } as const;

/**
 * Where there is no room beside it, a part of the page covers all of it: it takes the focus, nothing below it can be
 * reached, and closing it gives the focus back. Returns the attributes that say so. Escape is up to the part itself.
 */
export function useDrawer(part: RefObject<HTMLElement | null>, isOpen: boolean): typeof MODAL | undefined {
  const isOver = isOpen && isNarrow.value;
  useLayoutEffect(() => {
    const element = part.current;
    if (!isOver || element === null) return;
    const before = document.activeElement as HTMLElement | null;
    const covered = outside(element);
    for (const one of covered) one.inert = true;
    focusFirst(element);
    return () => {
      for (const one of covered) one.inert = false;
      before?.focus({ preventScroll: true });
    };
  }, [part, isOver]);
  useEffect(() => {
    // The element that had the focus may be gone, as something else is shown in it.
    if (isOver && document.activeElement === document.body) focusFirst(part.current);
  });
  return isOver ? MODAL : undefined;
}

const focusFirst = (part: HTMLElement | null) => part?.querySelector<HTMLElement>("button:enabled")?.focus();

/** All that is around an element up to the body, but messages: those are still read aloud. */
function outside(element: HTMLElement): HTMLElement[] {
  const elements: HTMLElement[] = [];
  for (let at = element; at !== document.body && at.parentElement !== null; at = at.parentElement)
    for (const one of at.parentElement.children)
      if (one !== at && one instanceof HTMLElement && !one.inert && !one.matches(".toasts, script")) elements.push(one);
  return elements;
}
