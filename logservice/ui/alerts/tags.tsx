import type { Alert } from "../../../schema/rpc.generated.ts";
import type { Severity } from "./draft.ts";
import { statesOf } from "./history.ts";

/** A severity by its colour and its word. */
export function SeverityTag({ severity }: { readonly severity: Severity }) {
  return <span class={`severity level-${severity}`}>{severity}</span>;
}

/** What an alert is just now. */
export function StateTags({ alert }: { readonly alert: Alert }) {
  return (
    <span class="tags">
      {statesOf(alert).map(({ text, style }) => (
        <span key={text} class={`tag ${style}`} title={text === "cannot be evaluated" ? (alert.failure ?? "") : ""}>
          {text}
        </span>
      ))}
      {alert.muted && <span class="tag">muted</span>}
    </span>
  );
}
