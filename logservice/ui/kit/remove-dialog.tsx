import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import { Dialog } from "./dialog.tsx";
import { DialogEnd } from "./dialog-end.tsx";
import { useSending } from "./sending.ts";
import { TextField } from "./text-field.tsx";

export interface RemoveDialogProps {
  readonly title: string;
  /** The things that will be gone. */
  readonly children: ComponentChildren;
  /** Must be typed first, where what is removed cannot be made again. */
  readonly typed?: string;
  readonly button: string;
  onRemove(): Promise<unknown>;
  onClose(): void;
}

/** Asks before something is removed, and removes it. Closes when it is gone. */
export function RemoveDialog({ title, children, typed, button, onRemove, onClose }: RemoveDialogProps) {
  const [text, setText] = useState("");
  const sending = useSending();
  return (
    <Dialog title={title} onClose={onClose}>
      <form
        onSubmit={async (event) => {
          event.preventDefault();
          if (await sending.send(onRemove)) onClose();
        }}
      >
        <div class="lead">{children}</div>
        {typed !== undefined && (
          <TextField label={`Type ${typed} to go on`} autoComplete="off" value={text} onText={setText} />
        )}
        <DialogEnd
          sending={sending}
          onClose={onClose}
          isBlocked={typed !== undefined && oneLine(text) !== oneLine(typed)}
          isDanger
        >
          {button}
        </DialogEnd>
      </form>
    </Dialog>
  );
}

/** Several blanks look like one. */
const oneLine = (text: string) => text.trim().replace(/\s+/g, " ");
