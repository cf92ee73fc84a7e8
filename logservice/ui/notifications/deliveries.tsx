import { useState } from "preact/hooks";
import type { Delivery } from "../../../schema/rpc.generated.ts";
import { pathOf } from "../../address/page.ts";
import { call } from "../data/call.ts";
import { serviceNow } from "../data/clock.ts";
import { useEvery } from "../data/every.ts";
import { type Pages, usePages } from "../data/pages.ts";
import { mayDo, teamId } from "../data/session.ts";
import { AlertGroup } from "../kit/alert-group.tsx";
import { MoreButton } from "../kit/more.tsx";
import { Failure, WhenLoaded } from "../kit/state.tsx";
import { Text } from "../kit/text.tsx";
import { Ago } from "../kit/time.tsx";
import { say } from "../kit/toasts.tsx";

export interface DeliveriesProps {
  readonly projectId: string;
  /** Whose deliveries: those of an alert, or those to a notification. */
  readonly of: { readonly alert_id: string } | { readonly notification_id: string };
  /** Names of notifications by their ids, where those are not clear. */
  readonly names?: ReadonlyMap<string, string>;
}

const PAGE = 20;
/** A delivery that waits is tried within seconds. */
const AGAIN_MS = 10_000;

/** The messages that were sent, with their results; those that were given up can be sent again. */
export function Deliveries({ projectId, of, names }: DeliveriesProps) {
  const key = JSON.stringify(of);
  const pages = usePages(
    async (cursor, signal) => {
      const input = { project_id: projectId, ...of, limit: PAGE, ...(cursor !== undefined && { cursor }) };
      const { deliveries: rows, cursor: next } = await call("get_deliveries", input, { signal });
      return { rows, cursor: next };
    },
    [projectId, key],
  );
  useEvery(AGAIN_MS, () => {
    if (pages.rows.length <= PAGE) void pages.load();
  });
  const isOfAlert = "alert_id" in of;
  return (
    <section class="card" aria-labelledby="deliveries">
      <h2 id="deliveries">Deliveries</h2>
      <p class="lead">Messages of the last 30 days. A target that does not answer is retried for a day.</p>
      <WhenLoaded of={pages.first}>
        {() =>
          pages.rows.length === 0 ? (
            <p class="hint">No deliveries yet. Tests are not listed here.</p>
          ) : (
            <>
              <ul class="log-list wraps" aria-label="Deliveries">
                {pages.rows.map((delivery) => (
                  <DeliveryRow
                    key={delivery.id}
                    projectId={projectId}
                    delivery={delivery}
                    name={isOfAlert ? (names?.get(delivery.notification_id) ?? "a removed notification") : undefined}
                    pages={pages}
                  />
                ))}
              </ul>
              <MoreButton of={pages} />
            </>
          )
        }
      </WhenLoaded>
    </section>
  );
}

const KIND_TEXTS = {
  triggered: "Triggered",
  resolved: "Resolved",
  failed: "Failing",
  repeated: "Still triggered",
} as const satisfies Record<Delivery["kind"], string>;

interface RowProps {
  readonly projectId: string;
  readonly delivery: Delivery;
  /** The name of the notification; undefined if the alert is to be named. */
  readonly name: string | undefined;
  readonly pages: Pages<Delivery>;
}

function DeliveryRow({ projectId, delivery, name, pages }: RowProps) {
  const [error, setError] = useState<unknown>(undefined);
  const [isSending, setSending] = useState(false);
  const { status, kind, attempts, failure, created_at, due_at, finished_at, alert_id, alert_name, group } = delivery;
  const isRetriable = status === "failed" || (status === "waiting" && attempts > 0);
  const tag = status === "waiting" && attempts > 0 ? RETRYING : STATUS[status];
  const retry = async (): Promise<void> => {
    setSending(true);
    setError(undefined);
    try {
      await call("retry_delivery", { project_id: projectId, delivery_id: delivery.id });
      say("Sending again");
      await pages.load();
    } catch (thrown) {
      setError(thrown);
    } finally {
      setSending(false);
    }
  };
  return (
    <li>
      <span class={`tag ${tag.style}`}>{tag.text}</span>
      <span class="grow">
        <strong>{KIND_TEXTS[kind]}</strong>{" "}
        {name === undefined ? (
          <a href={pathOf({ kind: "item", team: teamId.value, project: projectId, section: "alerts", id: alert_id })}>
            <Text text={alert_name} />
          </a>
        ) : (
          <>
            to <Text text={name} />
          </>
        )}{" "}
        <AlertGroup of={group} />
        {failure !== "" && (
          <span class="reason">
            <Text text={sentence(failure)} />
          </span>
        )}
        {status === "waiting" && attempts > 0 && (
          <span class="hint">
            Failed {attempts === 1 ? "once" : `${attempts} times`}, next try {soon(due_at)}
          </span>
        )}
        {error !== undefined && <Failure error={error} />}
      </span>
      <span class="when">
        <Ago at={finished_at ?? created_at} />
      </span>
      {isRetriable && mayDo("notifications:write") && (
        <button type="button" class="button small" disabled={isSending} onClick={() => void retry()}>
          {status === "failed" ? "Send again" : "Try now"}
        </button>
      )}
    </li>
  );
}

const STATUS = {
  delivered: { text: "delivered", style: "good" },
  waiting: { text: "waiting", style: "warning" },
  failed: { text: "failed", style: "error" },
} as const satisfies Record<Delivery["status"], { text: string; style: string }>;

/** Shown for a delivery that has failed and is tried again. */
const RETRYING = { text: "retrying", style: "error" };

/** When a time that is to come is: the attempt itself is made by the service. */
function soon(at: string): string {
  const seconds = Math.round((Date.parse(at) - serviceNow()) / 1000);
  if (seconds <= 1) return "now";
  return seconds < 90 ? `in ${seconds} s` : `in ${Math.round(seconds / 60)} min`;
}

function sentence(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}
