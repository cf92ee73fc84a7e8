import type { Clash } from "../kit/clash-note.tsx";
import { FormField } from "../kit/field.tsx";
import { type AlertDraft, boundsOf, type NumberName, type Operator, operatorsOf } from "./draft.ts";

export interface ConditionProps {
  readonly draft: AlertDraft;
  wrongAt(path: string): string | undefined;
  clashAt(name: keyof AlertDraft): Clash | undefined;
  set(part: Partial<AlertDraft>): void;
}

const OPERATOR_TEXTS: Readonly<Record<Operator, string>> = {
  ">": "more than",
  ">=": "at least",
  "<": "fewer than",
  "<=": "at most",
};

/** When it is triggered: the comparison, and over how many minutes. */
export function ConditionFields({ draft, wrongAt, clashAt, set }: ConditionProps) {
  const all = { draft, wrongAt, clashAt, set };
  const isOfDisk = draft.kind === "disk";
  const words = (operator: Operator) => (isOfDisk && operator === "<" ? "less than" : OPERATOR_TEXTS[operator]);
  return (
    <div class="field-row">
      <FormField label="Condition" wrong={wrongAt("alert.operator")} clash={clashAt("operator")}>
        {(control) => (
          <select
            {...control}
            value={draft.operator}
            onChange={(event) => set({ operator: event.currentTarget.value as Operator })}
          >
            {operatorsOf(draft).map((operator) => (
              <option key={operator} value={operator}>
                {words(operator)} ({operator})
              </option>
            ))}
          </select>
        )}
      </FormField>
      <NumberField name="threshold" label={isOfDisk ? "Free, in percent" : "Threshold"} {...all} />
      <NumberField name="interval" label="Interval in minutes" {...all} />
    </div>
  );
}

/** The fields that most alerts leave as they are. */
export function MoreFields({ draft, wrongAt, clashAt, set }: ConditionProps) {
  const all = { draft, wrongAt, clashAt, set };
  return (
    <div class="field-row">
      <NumberField
        name="for"
        label="Triggers after"
        hint="Intervals in a row that must meet the condition, 1 to 60."
        {...all}
      />
      <NumberField
        name="recover"
        label="Resolves after"
        hint="Intervals in a row that must not meet it, 1 to 60."
        {...all}
      />
      <NumberField name="repeat" label="Remind every" hint="Minutes, while it stays triggered; 0 for never." {...all} />
      {draft.kind === "events" && (
        <NumberField name="limit" label="Sample events" hint="How many a message shows, 1 to 100." {...all} />
      )}
    </div>
  );
}

interface NumberFieldProps extends ConditionProps {
  readonly name: NumberName;
  readonly label: string;
  readonly hint?: string;
}

function NumberField({ name, label, hint, draft, wrongAt, clashAt, set }: NumberFieldProps) {
  const { least, most } = boundsOf(draft, name);
  return (
    <FormField label={label} hint={hint} wrong={wrongAt(`alert.${name}`)} clash={clashAt(name)}>
      {(control) => (
        <input
          type="number"
          {...control}
          min={least}
          max={most}
          step={1}
          inputMode="numeric"
          value={draft[name]}
          onInput={(event) => set({ [name]: event.currentTarget.value })}
        />
      )}
    </FormField>
  );
}
