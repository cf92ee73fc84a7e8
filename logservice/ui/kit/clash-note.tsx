import type { Sending } from "./sending.ts";
import { Text } from "./text.tsx";

/** Two values of one field: what was typed here, and what somebody else saved meanwhile. */
export interface Clash {
  /** The other value, in words. */
  readonly theirs: string;
  onMine(): void;
  onTheirs(): void;
}

/** A clash whose end also takes away what the refused save said. */
export function settling(clash: Clash | undefined, sending: Sending): Clash | undefined {
  if (clash === undefined) return undefined;
  const after = (act: () => void) => () => {
    sending.clear();
    act();
  };
  return { ...clash, onMine: after(clash.onMine), onTheirs: after(clash.onTheirs) };
}

/** Says so at the field, and asks which of them stays. */
export function ClashNote({ label, of }: { readonly label: string; readonly of: Clash | undefined }) {
  if (of === undefined) return null;
  // The buttons go with the note: the focus is at the field afterwards.
  const end = (act: () => void) => (event: Event) => {
    const control = controlBefore(event.currentTarget as HTMLElement);
    act();
    control?.focus();
  };
  return (
    <div class="note warning" role="alert">
      <p>
        Somebody else changed this meanwhile:{" "}
        {of.theirs.trim() === "" ? (
          "it is empty now"
        ) : (
          <strong>
            <Text text={of.theirs} />
          </strong>
        )}
      </p>
      <div class="row">
        <button type="button" class="button small" aria-label={`Keep mine: ${label}`} onClick={end(of.onMine)}>
          Keep mine
        </button>
        <button type="button" class="button small" aria-label={`Take theirs: ${label}`} onClick={end(of.onTheirs)}>
          Take theirs
        </button>
      </div>
    </div>
  );
}

/** The control of the field that something is below of. */
function controlBefore(below: HTMLElement): HTMLElement | undefined {
  const all = [...document.querySelectorAll<HTMLElement>("input, select, textarea")];
  return all.findLast((one) => one.compareDocumentPosition(below) & Node.DOCUMENT_POSITION_FOLLOWING);
}
