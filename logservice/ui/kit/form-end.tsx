import type { ComponentChildren } from "preact";
import { useBusyWindow } from "./busy-window.ts";
import { ProblemNote } from "./problem.tsx";
import type { Sending } from "./sending.ts";

export interface FormEndProps {
  readonly sending: Sending;
  readonly button: string;
  /** Whether something is missing yet, or nothing was changed. */
  readonly isBlocked: boolean;
  readonly isReadOnly: boolean;
  /** For a form in a window. */
  readonly onCancel: (() => void) | undefined;
  /** Other buttons. */
  readonly children?: ComponentChildren;
}

/** The end of a form that is on a page or in a window: what went wrong, and its buttons. */
export function FormEnd({ sending, button, isBlocked, isReadOnly, onCancel, children }: FormEndProps) {
  useBusyWindow(sending.isSending);
  return (
    <>
      <ProblemNote text={sending.problem} />
      {!isReadOnly && (
        <div class={onCancel ? "row end" : "row"}>
          {onCancel && (
            <button type="button" class="button" disabled={sending.isSending} onClick={onCancel}>
              Cancel
            </button>
          )}
          <button type="submit" class="button primary" disabled={sending.isSending || isBlocked}>
            {button}
          </button>
          {children}
        </div>
      )}
    </>
  );
}
