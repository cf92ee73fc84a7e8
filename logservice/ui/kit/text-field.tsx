import { FormField, type FormFieldProps } from "./field.tsx";

export interface TextFieldProps extends Omit<FormFieldProps, "children"> {
  readonly type?: "text" | "email";
  readonly class?: string;
  readonly required?: boolean;
  readonly maxLength?: number;
  readonly pattern?: string;
  readonly title?: string;
  readonly placeholder?: string;
  readonly autoFocus?: boolean;
  readonly autoComplete?: "off";
  readonly autocapitalize?: "off";
  readonly spellcheck?: boolean;
  readonly value: string;
  onText(text: string): void;
}

/** A field of one line of text. What is not of the field is of the input. */
export function TextField({ label, hint, wrong, clash, type = "text", value, onText, ...input }: TextFieldProps) {
  return (
    <FormField {...{ label, hint, wrong, clash }}>
      {(control) => (
        <input
          // The types of Preact know each kind of input apart.
          type={type as "text"}
          {...input}
          {...control}
          value={value}
          onInput={(event) => onText(event.currentTarget.value)}
        />
      )}
    </FormField>
  );
}

/** For the name of something, which has to be seen. */
export const NOT_BLANK = {
  required: true,
  pattern: ".*\\S.*",
  title: "At least one character that is not blank",
} as const;
