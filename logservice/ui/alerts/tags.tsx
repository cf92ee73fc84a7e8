import type { Alert } from "../../../schema/rpc.generated.ts";
import type { AlertSeverity } from "./draft.ts";
import { statesOf } from "./history.ts";
import { alertPath } from "./paths.ts";

/** A severity by its colour and its word. */
export function SeverityTag({ severity }: { readonly severity: AlertSeverity }) {
  return <span class={`severity level-${severity}`}>{severity}</span>;
}

/** The present state of an alert, as tags. */
export function StateTags({ alert, isUndelivered }: { readonly alert: Alert; readonly isUndelivered: boolean }) {
  return (
    <span class="tags">
      {statesOf(alert).map(({ text, style }) => (
        <span
          key={text}
          class={`tag ${style}`}
          title={text === "failing" ? `Cannot be evaluated: ${alert.failure ?? ""}` : undefined}
        >
          {text}
        </span>
      ))}
      {isUndelivered && (
        <a class="tag error" href={`${alertPath(alert.project_id, alert.id!)}#deliveries`}>
          not delivered
        </a>
      )}
      {alert.muted && <span class="tag">muted</span>}
    </span>
  );
}
