import { useEffect } from "preact/hooks";
import { letterKeys } from "../data/preferences.ts";
import { Finder } from "./finder.tsx";
import { KeyList } from "./key-list.tsx";
import { overlay } from "./open.ts";

/** The windows that keys open on every page: Ctrl-K and `?`. */
export function Overlay() {
  useEffect(() => {
    const open = (event: KeyboardEvent) => {
      if ((event.ctrlKey || event.metaKey) && event.key.toLowerCase() === "k" && !event.shiftKey) {
        event.preventDefault();
        overlay.value = overlay.value === "find" ? undefined : "find";
      } else if (event.key === "?" && letterKeys.peek() === "on" && !isTyping(event.target)) {
        event.preventDefault();
        overlay.value = "keys";
      }
    };
    addEventListener("keydown", open);
    return () => removeEventListener("keydown", open);
  }, []);
  const close = () => {
    overlay.value = undefined;
  };
  if (overlay.value === "find") return <Finder onClose={close} />;
  if (overlay.value === "keys") return <KeyList onClose={close} />;
  return null;
}

/** Whether keys go into a text. */
function isTyping(target: EventTarget | null): boolean {
  return target instanceof HTMLElement && target.matches("input, textarea, select, [contenteditable]");
}
