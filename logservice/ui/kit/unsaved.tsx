import { useLayoutEffect, useRef, useState } from "preact/hooks";
import { pageAt } from "../../address/page.ts";
import { go, keepHere } from "../data/location.ts";
import { Dialog } from "./dialog.tsx";

export interface UnsavedProps {
  readonly isChanged: boolean;
  /** Whether something is sent whose answer is shown on this page alone. */
  readonly isSending?: boolean;
  /** The question, and its reason, if it is about something else than changes that would be lost. */
  readonly question?: string;
  readonly reason?: string;
}

/** Asks before a link, the button back or the search over pages leads away from changes that are not saved. The browser asks before the page is closed. */
export function Unsaved({ isChanged, isSending = false, question, reason }: UnsavedProps) {
  const [to, setTo] = useState("");
  const isLeaving = useRef(false);
  // The answer to a change that was sent may lead to another page before this is drawn anew without the listeners.
  const isKept = isChanged || isSending;
  const isAsking = useRef(isKept);
  isAsking.current = isKept;
  // At once, as the button back may be the next thing after a key.
  useLayoutEffect(() => {
    if (!isKept) return;
    const onLink = (event: MouseEvent): void => {
      if (!isAsking.current || event.button !== 0 || event.metaKey || event.ctrlKey || event.shiftKey) return;
      const link = (event.target as Element).closest?.("a");
      if (link == null || link.target !== "" || link.hasAttribute("download")) return;
      if (link.pathname === location.pathname) return;
      event.preventDefault();
      setTo(link.href);
    };
    const letBack = keepHere((href) => {
      const stays = isAsking.current && !isLeaving.current;
      if (stays) setTo(href);
      return stays;
    });
    const onClose = (event: Event): void => {
      if (isAsking.current && !isLeaving.current) event.preventDefault();
    };
    // Before links are followed, which leaves alone what is prevented.
    document.addEventListener("click", onLink, { capture: true });
    addEventListener("beforeunload", onClose);
    return () => {
      document.removeEventListener("click", onLink, { capture: true });
      letBack();
      removeEventListener("beforeunload", onClose);
    };
  }, [isKept]);
  if (to === "") return null;
  return (
    <Dialog
      title={question ?? (isSending ? "Leave before the answer?" : "Leave without saving?")}
      onClose={() => setTo("")}
    >
      <p class="lead">{reason ?? (isSending ? SENT : "What you changed on this page is not saved.")}</p>
      <div class="row end">
        <button type="button" class="button" onClick={() => setTo("")}>
          Stay here
        </button>
        <button
          type="button"
          class="button danger"
          onClick={() => {
            setTo("");
            const url = new URL(to);
            isLeaving.current = true;
            if (url.origin === location.origin && pageAt(url.pathname) !== undefined) go(to);
            else location.assign(to);
          }}
        >
          Leave
        </button>
      </div>
    </Dialog>
  );
}

const SENT = "What was sent is not answered yet, and may be done all the same. What it makes may be shown here alone.";
