import { useSignal } from "@preact/signals";
import { useState } from "preact/hooks";
import type { Alert as Stored } from "../../../schema/rpc.generated.ts";
import { call } from "../data/call.ts";
import { useEvery } from "../data/every.ts";
import { type Loaded, useLoaded } from "../data/loaded.ts";
import { go } from "../data/location.ts";
import { usePages } from "../data/pages.ts";
import { mayDo } from "../data/session.ts";
import { isGone, NoItem } from "../kit/no-item.tsx";
import { RemoveDialog } from "../kit/remove-dialog.tsx";
import { useSending } from "../kit/sending.ts";
import { Shown } from "../kit/state.tsx";
import { Text } from "../kit/text.tsx";
import { Ago, LastingSince } from "../kit/time.tsx";
import { say } from "../kit/toasts.tsx";
import { Deliveries } from "../notifications/deliveries.tsx";
import { AlertForm } from "./alert-form.tsx";
import { type AlertDraft, alertOf, draftOfAlert, searchOfDraft } from "./draft.ts";
import { Episodes } from "./episodes.tsx";
import { sinceOf } from "./history.ts";
import { setMuted } from "./mute.ts";
import { NewAlert } from "./new-alert.tsx";
import { alertPath, listPath } from "./paths.ts";
import { SeverityTag, StateTags } from "./tags.tsx";

/** An alert, or a new one: its address may say what it begins with. */
export function Alert({ projectId, id }: { readonly projectId: string; readonly id: string }) {
  return id === "new" ? <NewAlert projectId={projectId} /> : <OneAlert projectId={projectId} id={id} />;
}

/** How often the state is asked for again: less than the shortest interval. */
const AGAIN_MS = 15_000;
/** The latest ones are above the form. */
const FIRST_EPISODES = 5;
const PAGE = 20;

function OneAlert({ projectId, id }: { readonly projectId: string; readonly id: string }) {
  const found = useLoaded(
    async (signal) => (await call("get_alert", { project_id: projectId, alert_id: id }, { signal })).alert,
    [projectId, id],
  );
  const isRemoved = isGone(found.error.value);
  useEvery(AGAIN_MS, () => {
    if (!isRemoved) void found.load();
  });
  if (isRemoved) return <NoItem what="alert" href={listPath(projectId)} />;
  return (
    <div class="page alert">
      <Shown of={found}>{(alert) => <Known of={found} alert={alert} />}</Shown>
    </div>
  );
}

function Known({ of, alert }: { readonly of: Loaded<Stored>; readonly alert: Stored }) {
  const { project_id: projectId } = alert;
  const id = alert.id!;
  const saved = draftOfAlert(alert);
  const [draft, setDraft] = useState(saved);
  const isRemoving = useSignal(false);
  const mayChange = mayDo("alerts:write");
  const names = useLoaded(
    async (signal) =>
      new Map(
        (await call("get_notifications", { project_id: projectId }, { signal })).notifications.map(
          (one) => [one.id!, one.name] as const,
        ),
      ),
    [projectId, alert.notification_id],
  );
  const episodes = usePages(
    async (cursor, signal) => {
      const limit = cursor === undefined ? FIRST_EPISODES : PAGE;
      const input = { project_id: projectId, alert_id: id, limit, ...(cursor !== undefined && { cursor }) };
      const { episodes: rows, cursor: next } = await call("get_alert_episodes", input, { signal });
      return { rows, cursor: next };
    },
    [id, alert.state, alert.triggered],
  );
  useEvery(AGAIN_MS, () => {
    if (episodes.rows.length <= FIRST_EPISODES) void episodes.load();
  });
  const muting = useSending();
  const mute = (muted: boolean): Promise<unknown> =>
    muting.send(async () => {
      await setMuted(alert, muted, () => void mute(!muted));
      await of.load();
      setDraft((before) => ({ ...before, muted }));
    });
  const isChanged = JSON.stringify(draft) !== JSON.stringify(saved);
  const since = sinceOf(alert, episodes.rows);
  return (
    <>
      <header>
        <h1>
          <Text text={alert.name} />
        </h1>
        {mayChange && (
          <>
            <button
              type="button"
              class="button"
              disabled={muting.isSending}
              onClick={() => void mute(alert.muted !== true)}
            >
              {alert.muted ? "Unmute" : "Mute"}
            </button>
            <a class="button" href={`${alertPath(projectId, "new")}${searchOfDraft({ ...draft, name: "" })}`}>
              Duplicate
            </a>
          </>
        )}
      </header>
      {muting.problem && <p class="note error">{muting.problem}</p>}
      <section class="card state" aria-label="State">
        <div class="row">
          <StateTags alert={alert} />
          <span class="grow">{since !== undefined && <LastingSince at={since} />}</span>
          <span>
            Severity <SeverityTag severity={alert.severity} />
          </span>
          <span class="hint">
            {alert.evaluated_at ? (
              <>
                Evaluated <Ago at={alert.evaluated_at} />
              </>
            ) : (
              "The first interval is not over yet"
            )}
          </span>
        </div>
        {alert.failure !== "" && (
          <p class="note warning spaced">
            The last evaluation failed: <Text text={alert.failure ?? ""} />
          </p>
        )}
      </section>
      <Episodes alert={alert} pages={episodes} />
      {!mayChange && <p class="note">Your role may not change alerts.</p>}
      <AlertForm
        projectId={projectId}
        id={id}
        draft={draft}
        isChanged={isChanged}
        isReadOnly={!mayChange}
        onChange={(part) => setDraft((before) => ({ ...before, ...part }))}
        onSend={async () => {
          const sent = alertOf(draft, projectId);
          await call("update_alert", { alert: { ...sent, id } });
          await of.load();
          const clean: Partial<AlertDraft> = {
            name: sent.name,
            query: sent.query,
            description: sent.description ?? "",
          };
          setDraft((before) => ({ ...before, ...clean }));
          say("Saved");
        }}
      />
      <Deliveries projectId={projectId} of={{ alert_id: id }} names={names.value.value ?? new Map()} />
      {mayChange && (
        <section class="card" aria-labelledby="remove">
          <h2 id="remove">Remove alert</h2>
          <p class="lead">
            If it is triggered, its recipients are told that it was closed. To silence it for a while, mute it.
          </p>
          <button type="button" class="button danger" onClick={() => (isRemoving.value = true)}>
            Remove alert
          </button>
        </section>
      )}
      {isRemoving.value && (
        <RemoveDialog
          title={`Remove ${alert.name}?`}
          button="Remove alert"
          onClose={() => (isRemoving.value = false)}
          onRemove={async () => {
            await call("remove_alert", { project_id: projectId, alert_id: id });
            go(listPath(projectId), { replaces: true });
            say(`${alert.name} was removed`);
          }}
        >
          Nobody is notified any more. Its history is kept for 90 days.
        </RemoveDialog>
      )}
    </>
  );
}
