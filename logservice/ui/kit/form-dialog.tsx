import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import { Dialog } from "./dialog.tsx";
import { DialogEnd } from "./dialog-end.tsx";
import type { Sending } from "./sending.ts";
import { Unsaved } from "./unsaved.tsx";

export interface FormDialogProps {
  readonly title: string;
  /** The fields. */
  readonly children: ComponentChildren;
  readonly sending: Sending;
  /** The text of the button that sends it. */
  readonly button: string;
  /** Whether something is missing yet. */
  readonly isBlocked?: boolean;
  onSend(): void;
  onClose(): void;
}

/** A window with a form. Asks before the page is left with something typed in it. */
export function FormDialog({ title, children, sending, button, isBlocked = false, onSend, onClose }: FormDialogProps) {
  const [isTyped, setTyped] = useState(false);
  return (
    <>
      <Dialog title={title} isForm onClose={onClose}>
        <form
          onInput={() => setTyped(true)}
          onSubmit={(event) => {
            event.preventDefault();
            onSend();
          }}
        >
          {children}
          <DialogEnd sending={sending} onClose={onClose} isBlocked={isBlocked}>
            {button}
          </DialogEnd>
        </form>
      </Dialog>
      <Unsaved isChanged={isTyped} isSending={sending.isSending} />
    </>
  );
}
