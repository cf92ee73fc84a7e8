import { visibleText } from "./visible.ts";

export interface RowButtonProps {
  /** Its text for a person who sees its row. */
  readonly text: string;
  /** Its text for a person who does not. */
  readonly spoken: string;
  readonly isDisabled?: boolean;
  onPress(): void;
}

/** A button in a row of a table, whose short text is clear by its place alone. */
export function RowButton({ text, spoken, isDisabled = false, onPress }: RowButtonProps) {
  return (
    <button type="button" class="button small" aria-label={visibleText(spoken)} disabled={isDisabled} onClick={onPress}>
      {text}
    </button>
  );
}
