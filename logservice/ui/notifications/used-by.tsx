import type { Alert } from "../../../schema/rpc.generated.ts";
import { pathOf } from "../../address/page.ts";
import type { Loaded } from "../data/loaded.ts";
import { teamId } from "../data/session.ts";
import { WhenLoaded } from "../kit/state.tsx";
import { Text } from "../kit/text.tsx";

/** The alerts that tell a notification. */
export function UsedBy({
  projectId,
  alerts,
}: {
  readonly projectId: string;
  readonly alerts: Loaded<readonly Alert[]>;
}) {
  return (
    <section class="card" aria-labelledby="used-by">
      <h2 id="used-by">Alerts that use it</h2>
      <WhenLoaded of={alerts}>
        {(all) =>
          all.length === 0 ? (
            <p class="hint">None yet. An alert chooses it on its page.</p>
          ) : (
            <AlertLinks projectId={projectId} alerts={all} />
          )
        }
      </WhenLoaded>
    </section>
  );
}

function AlertLinks({ projectId, alerts }: { readonly projectId: string; readonly alerts: readonly Alert[] }) {
  const team = teamId.value;
  return (
    <ul class="log-list">
      {alerts.map(({ id, name }) => (
        <li key={id}>
          <a href={pathOf({ kind: "item", team, project: projectId, section: "alerts", id: id! })}>
            <Text text={name} />
          </a>
        </li>
      ))}
    </ul>
  );
}
