import type { ComponentChildren } from "preact";
import { useId } from "preact/hooks";
import { type Clash, ClashNote } from "./clash-note.tsx";

/** The attributes that tie a control to its field. */
export interface ControlProps {
  readonly id: string;
  readonly "aria-describedby"?: string | undefined;
  readonly "aria-invalid"?: "true" | undefined;
}

export interface FormFieldProps {
  readonly label: string;
  readonly hint?: ComponentChildren;
  /** The problem of the value. */
  readonly wrong?: string | undefined;
  /** The other value, if somebody else changed it too. */
  readonly clash?: Clash | undefined;
  children(control: ControlProps): ComponentChildren;
}

/** A control with its label, a hint and what is wrong, all tied together for who does not see them. */
export function FormField({ label, hint, wrong, clash, children }: FormFieldProps) {
  const id = useId();
  const described = [hint && `${id}-hint`, wrong && `${id}-wrong`].filter(Boolean).join(" ");
  return (
    <div class="field">
      <label for={id}>{label}</label>
      {children({ id, "aria-describedby": described || undefined, "aria-invalid": wrong ? "true" : undefined })}
      {wrong && (
        <span class="wrong" id={`${id}-wrong`}>
          {wrong}
        </span>
      )}
      <ClashNote label={label} of={clash} />
      {hint && (
        <span class="hint" id={`${id}-hint`}>
          {hint}
        </span>
      )}
    </div>
  );
}
