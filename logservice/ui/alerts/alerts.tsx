import { useState } from "preact/hooks";
import type { Alert, AlertEpisode, Notification } from "../../../schema/rpc.generated.ts";
import { pathOf } from "../../address/page.ts";
import { call } from "../data/call.ts";
import { useEvery } from "../data/every.ts";
import { useLoaded } from "../data/loaded.ts";
import { mayDo, teamId } from "../data/session.ts";
import { ManagedTag } from "../kit/managed.tsx";
import { RowButton } from "../kit/row-button.tsx";
import { Failure, WhenLoaded } from "../kit/state.tsx";
import { Table } from "../kit/table.tsx";
import { Text } from "../kit/text.tsx";
import { LastingSince } from "../kit/time.tsx";
import { NOTIFICATION_KINDS } from "../notifications/kinds.ts";
import { coloured } from "../query-box/coloured-text.tsx";
import { isUndelivered, sinceOf } from "./history.ts";
import { mayChangeAlert } from "./may-change.ts";
import { setMuted } from "./mute.ts";
import { SeverityTag, StateTags } from "./tags.tsx";
import { urgentFirst } from "./urgent-first.ts";
import { useMeasured } from "./use-alert-query.ts";
import { conditionWords, paceWords, unbroken } from "./words.ts";

/** How often the states are asked for again. */
const AGAIN_MS = 15_000;
/** So many of the newest deliveries say whether the last message of an alert has arrived. */
const DELIVERIES = 500;
/** So many of the newest episodes say since when alerts are what they are. */
const EPISODES = 1_000;

/** The alerts of a project, the ones that need somebody first. */
export function Alerts({ projectId }: { readonly projectId: string }) {
  const alerts = useLoaded(
    async (signal) => (await call("get_alerts", { project_id: projectId }, { signal })).alerts,
    [projectId],
  );
  const episodes = useLoaded(
    async (signal) =>
      (await call("get_alert_episodes", { project_id: projectId, limit: EPISODES }, { signal })).episodes,
    [projectId],
  );
  const notifications = useLoaded(
    async (signal) => (await call("get_notifications", { project_id: projectId }, { signal })).notifications,
    [projectId],
  );
  const deliveries = useLoaded(
    async (signal) =>
      (await call("get_deliveries", { project_id: projectId, limit: DELIVERIES }, { signal })).deliveries,
    [projectId],
  );
  useEvery(AGAIN_MS, () => {
    void alerts.load();
    void episodes.load();
    void deliveries.load();
  });
  const [error, setError] = useState<unknown>(undefined);
  const mayChange = mayDo("alerts:write");
  const at = { team: teamId.value, project: projectId };
  const newPath = pathOf({ kind: "item", ...at, section: "alerts", id: "new" });
  const mute = async (alert: Alert, muted: boolean): Promise<void> => {
    setError(undefined);
    try {
      await setMuted(alert, muted, () => void alerts.load());
      await alerts.load();
    } catch (thrown) {
      setError(thrown);
    }
  };
  return (
    <div class="page">
      <header>
        <h1>Alerts</h1>
        {mayChange && (alerts.value.value?.length ?? 0) > 0 && (
          <a class="button primary" href={newPath}>
            New alert
          </a>
        )}
      </header>
      {error !== undefined && <Failure error={error} />}
      <WhenLoaded of={alerts}>
        {(all) =>
          all.length === 0 ? (
            <div class="empty card">
              <h2>No alerts yet</h2>
              <p>
                An alert counts the events that match a query in each interval, and notifies somebody when there are too
                many or too few. The easiest way to create one is to search for what should not happen, and to choose
                “Alert on this search”.
              </p>
              <div class="row centre">
                {mayChange && (
                  <a class="button primary" href={newPath}>
                    New alert
                  </a>
                )}
                <a class="button" href={pathOf({ kind: "project", ...at, section: "events" })}>
                  Explore
                </a>
              </div>
            </div>
          ) : (
            <Table
              class="stack alerts"
              columns={["State", "Alert", "Condition", "Notifies", "Duration"]}
              hasActions={mayChange}
            >
              {urgentFirst(all).map((alert) => (
                <Row
                  key={alert.id}
                  alert={alert}
                  isUndelivered={isUndelivered(alert.id!, deliveries.value.value ?? [])}
                  episodes={episodes.value.value}
                  notification={notifications.value.value?.find(({ id }) => id === alert.notification_id)}
                  onMute={mayChange ? (muted) => mute(alert, muted) : undefined}
                  mayMute={mayChangeAlert(alert)}
                />
              ))}
            </Table>
          )
        }
      </WhenLoaded>
    </div>
  );
}

interface RowProps {
  readonly alert: Alert;
  readonly episodes: readonly AlertEpisode[] | undefined;
  readonly isUndelivered: boolean;
  readonly notification: Notification | undefined;
  /** Undefined if the table has no column for it. */
  readonly onMute: ((muted: boolean) => Promise<void>) | undefined;
  readonly mayMute: boolean;
}

function Row({ alert, episodes, isUndelivered, notification, onMute, mayMute }: RowProps) {
  const { id, project_id: project, name, kind, query, severity, operator, threshold = 0, interval = 5, muted } = alert;
  const measured = useMeasured(alert);
  const team = teamId.value;
  const since = episodes && sinceOf(alert, episodes);
  const seldom = paceWords(alert);
  return (
    <tr>
      <td>
        <StateTags alert={alert} isUndelivered={isUndelivered} />
      </td>
      <td class="grow-cell">
        <a class="strong" href={pathOf({ kind: "item", team, project, section: "alerts", id: id! })}>
          <Text text={name} />
        </a>{" "}
        <SeverityTag severity={severity} /> <ManagedTag by={alert.managed_by} />
        {kind === "disk" ? (
          <span class="reason">The disk of this service</span>
        ) : (
          <code class="query-line">{coloured(query)}</code>
        )}
        {alert.failure !== "" && (
          <span class="reason">
            <Text text={alert.failure ?? ""} />
          </span>
        )}
        {seldom !== undefined && <span class="reason">{seldom}</span>}
      </td>
      <td>{unbroken(conditionWords({ operator, threshold, interval, for: alert.for }, measured))}</td>
      <td>
        {notification && (
          <>
            <a
              href={pathOf({
                ...{ kind: "item", team, project, section: "notifications", id: notification.id! },
              } as const)}
            >
              <Text text={notification.name} />
            </a>
            <span class="hint"> {NOTIFICATION_KINDS[notification.type].text}</span>
          </>
        )}
      </td>
      <td class="nowrap">{since === undefined ? "" : <LastingSince at={since} />}</td>
      {onMute && (
        <td class="actions">
          {mayMute && (
            <RowButton
              text={muted ? "Unmute" : "Mute"}
              spoken={`${muted ? "Unmute" : "Mute"} ${name}`}
              onPress={() => void onMute(!muted)}
            />
          )}
        </td>
      )}
    </tr>
  );
}
