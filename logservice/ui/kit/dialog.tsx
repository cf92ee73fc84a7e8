import { useSignal } from "@preact/signals";
import type { ComponentChildren } from "preact";
import { useEffect, useId, useLayoutEffect, useRef, useState } from "preact/hooks";
import { WindowBusy } from "./busy-window.ts";
import { focusHeading } from "./focus-heading.ts";
import { SignedOut } from "./signed-out.tsx";
import { Toasts } from "./toasts.tsx";

export interface DialogProps {
  readonly title: string;
  readonly children: ComponentChildren;
  /** Whether what it shows is not shown again: a press beside it does not close it, and Escape only if it is pressed twice. */
  readonly isKept?: boolean;
  /** Whether what is typed in it would be lost: Escape closes it only if it is pressed twice then. */
  readonly isForm?: boolean;
  /** Called when it was closed, by its button, Escape, or a press beside it before anything was typed. */
  onClose(): void;
}

/** After so long without an answer nobody has to wait for it. */
const STUCK_MS = 10_000;

/** The element that gets the focus back from the window that opened last. */
let waiting: Element | null = null;

/**
 * A window over the page. The focus is in it while it is open, and back where it was afterwards. What is said meanwhile is
 * said in it, too: what is below can be neither pressed nor heard. While something in it is sent, it stays.
 */
export function Dialog({ title, children, isKept = false, isForm = false, onClose }: DialogProps) {
  const isSending = useSignal(false);
  const [isStuck, setStuck] = useState(false);
  const isBusy = isSending.value && !isStuck;
  const close = (): void => {
    if (!isBusy) onClose();
  };
  const element = useRef<HTMLDialogElement>(null);
  const id = useId();
  const isTyped = useRef(false);
  const [isWarned, setWarned] = useState(false);
  // Before the next key: what is typed right after the key that opens a window is for the window.
  useLayoutEffect(() => {
    const dialog = element.current!;
    // Nothing has it while another window is being removed, which gives it back a moment later.
    const before = document.activeElement === document.body ? waiting : document.activeElement;
    waiting = before;
    dialog.showModal();
    firstControl(dialog)?.focus();
    // A key that is held is one press: it must not be taken for the second one.
    const onKeyDown = (event: KeyboardEvent): void => {
      if (event.key === "Escape" && event.repeat) event.preventDefault();
    };
    addEventListener("keydown", onKeyDown, { capture: true });
    return () => {
      removeEventListener("keydown", onKeyDown, { capture: true });
      dialog.close();
      if (waiting === before) waiting = null;
      if (before instanceof HTMLElement && before.isConnected) before.focus();
      // The element that had it was removed, such as the row of a list.
      else focusHeading(document);
    };
  }, []);
  useEffect(() => {
    const dialog = element.current!;
    // Another title is another step of the window: what had the focus may be gone.
    if (!dialog.contains(document.activeElement)) firstControl(dialog)?.focus();
  }, [title]);
  useEffect(() => {
    if (!isSending.value) return setStuck(false);
    const timer = setTimeout(() => setStuck(true), STUCK_MS);
    return () => clearTimeout(timer);
  }, [isSending.value]);
  /** Whether it stays open this time, and says what closing costs. */
  const isHeld = (): boolean => {
    if (isBusy) return true;
    if (isWarned || !(isKept || (isForm && isTyped.current))) return false;
    setWarned(true);
    return true;
  };
  return (
    <WindowBusy.Provider value={isSending}>
      <dialog
        ref={element}
        aria-labelledby={id}
        // Browsers do not ask before they close it at the second Escape: this lets them not even for a moment.
        closedby={isBusy ? "none" : "closerequest"}
        onCancel={(event) => {
          // It cannot be stopped: what follows is that it was closed.
          if (!event.cancelable) return;
          event.preventDefault();
          if (!isHeld()) onClose();
        }}
        onClose={(event) => {
          // Some close it at the second Escape all the same, or without asking after it was pressed in vain.
          if (event.target !== element.current) return;
          if (isHeld()) event.currentTarget.showModal();
          else onClose();
        }}
        onInput={() => {
          isTyped.current = true;
          setWarned(false);
        }}
        onMouseDown={(event) => {
          const dialog = event.currentTarget;
          if (event.target !== dialog) return;
          const box = dialog.getBoundingClientRect();
          const isInside =
            event.clientX >= box.left &&
            event.clientX <= box.right &&
            event.clientY >= box.top &&
            event.clientY <= box.bottom;
          // A press beside it may be a slip, which must not cost what was typed.
          if (!isInside && !isTyped.current && !isKept) close();
        }}
      >
        <header>
          <h2 id={id}>{title}</h2>
          <button type="button" class="button quiet small icon" aria-label="Close" onClick={close}>
            ✕
          </button>
        </header>
        {children}
        {isStuck && isSending.value && (
          <p class="note warning spaced at-end" role="status">
            There is no answer yet. You need not wait: close this window. What was sent may be done all the same.
          </p>
        )}
        {isWarned && (
          <p class="note warning spaced at-end" role="status">
            {isKept ? "This will not be shown again." : "What you typed is not saved."} Press Escape again to close.
          </p>
        )}
        <SignedOut class="note error spaced" />
        <Toasts />
      </dialog>
    </WindowBusy.Provider>
  );
}

/** The control that a person uses first: a field, else a button. The button that closes the window comes before all. */
function firstControl(dialog: HTMLElement): HTMLElement | null {
  const inContent = (what: string) => dialog.querySelector<HTMLElement>(`:scope > :not(header) :is(${what}):enabled`);
  return inContent("input, textarea, select") ?? inContent("button, a[href]");
}
