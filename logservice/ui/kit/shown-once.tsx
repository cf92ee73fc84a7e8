import type { ComponentChildren } from "preact";
import { CopyableCode } from "./copy.tsx";
import { Dialog } from "./dialog.tsx";
import { Unsaved } from "./unsaved.tsx";

export interface OneTimeSecretProps {
  readonly title: string;
  /** The secret that was just made, and is not shown again. */
  readonly text: string;
  /** Says how to use it. */
  readonly children: ComponentChildren;
  onClose(): void;
}

/** Shows a secret that is shown only once. */
export function OneTimeSecret({ title, text, children, onClose }: OneTimeSecretProps) {
  return (
    <>
      <Dialog title={title} isKept onClose={onClose}>
        <p class="lead">{children}</p>
        <CopyableCode text={text} />
        <div class="row end spaced">
          <button type="button" class="button primary" onClick={onClose}>
            Done
          </button>
        </div>
      </Dialog>
      <Unsaved isChanged question="Leave without a copy?" reason="What this page shows will not be shown again." />
    </>
  );
}
