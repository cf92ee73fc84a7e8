import type { ComponentChildren } from "preact";
import { useBusyWindow } from "./busy-window.ts";
import { ProblemNote } from "./problem.tsx";
import type { Sending } from "./sending.ts";

export interface DialogEndProps {
  readonly sending: Sending;
  /** The text of the button that does it. */
  readonly children: ComponentChildren;
  /** The text of the button that does not. */
  readonly cancel?: string;
  /** Whether something is missing yet. */
  readonly isBlocked?: boolean;
  /** Whether it destroys something. */
  readonly isDanger?: boolean;
  onClose(): void;
  /** Does it, where there is no form to submit. */
  onPress?(): void;
}

/** The end of a dialog: what went wrong, and the two ways out of it. */
export function DialogEnd(props: DialogEndProps) {
  const { sending, children, cancel = "Cancel", isBlocked = false, isDanger = false, onClose, onPress } = props;
  useBusyWindow(sending.isSending);
  return (
    <>
      <ProblemNote text={sending.problem} />
      <div class="row end">
        <button type="button" class="button" disabled={sending.isSending} onClick={onClose}>
          {cancel}
        </button>
        <button
          type={onPress === undefined ? "submit" : "button"}
          class={`button ${isDanger ? "danger" : "primary"}`}
          disabled={sending.isSending || isBlocked}
          onClick={onPress}
        >
          {children}
        </button>
      </div>
    </>
  );
}
