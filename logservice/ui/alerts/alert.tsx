import { signal, useSignal } from "@preact/signals";
import type { Alert as Stored } from "../../../schema/rpc.generated.ts";
import { call } from "../data/call.ts";
import { changedMembers } from "../data/changes.ts";
import { useEvery } from "../data/every.ts";
import { type Loaded, useLoaded } from "../data/loaded.ts";
import { go, goFromHere } from "../data/location.ts";
import { usePages } from "../data/pages.ts";
import { LinkedText } from "../kit/linked-text.tsx";
import { ManagedNote } from "../kit/managed.tsx";
import { isGone, NoItem } from "../kit/no-item.tsx";
import { ReleaseDialog } from "../kit/release.tsx";
import { RemoveDialog } from "../kit/remove-dialog.tsx";
import { useSending } from "../kit/sending.ts";
import { WhenLoaded } from "../kit/state.tsx";
import { Text } from "../kit/text.tsx";
import { Ago, LastingSince } from "../kit/time.tsx";
import { say } from "../kit/toasts.tsx";
import { useEdits } from "../kit/use-edits.ts";
import { Deliveries } from "../notifications/deliveries.tsx";
import { AlertForm } from "./alert-form.tsx";
import { alertOf, draftOfAlert, searchOfDraft } from "./draft.ts";
import { Episodes } from "./episodes.tsx";
import { firstEvaluated } from "./first-evaluated.ts";
import { isUndelivered, sinceOf } from "./history.ts";
import { mayChangeAlert, mayReleaseAlert } from "./may-change.ts";
import { setMuted } from "./mute.ts";
import { NewAlert } from "./new-alert.tsx";
import { alertPath, listPath } from "./paths.ts";
import { SeverityTag, StateTags } from "./tags.tsx";
import { paceWords } from "./words.ts";

/** An alert, or a new one: its address may say what it begins with. */
export function Alert({ projectId, id }: { readonly projectId: string; readonly id: string }) {
  return id === "new" ? <NewAlert projectId={projectId} /> : <OneAlert projectId={projectId} id={id} />;
}

/** How often the state is asked for again: less than the shortest interval. */
const AGAIN_MS = 15_000;
/** The latest ones are above the form. */
const FIRST_EPISODES = 5;
const PAGE = 20;
/** That it is gone is said in words of its own. */
const NO_ERROR = signal<unknown>(undefined);

function OneAlert({ projectId, id }: { readonly projectId: string; readonly id: string }) {
  const alert = useLoaded(
    async (signal) => (await call("get_alert", { project_id: projectId, alert_id: id }, { signal })).alert,
    [projectId, id],
  );
  const isRemoved = isGone(alert.error.value);
  useEvery(AGAIN_MS, () => {
    if (!isRemoved) void alert.load();
  });
  if (isRemoved && alert.value.value === undefined) return <NoItem what="alert" href={listPath(projectId)} />;
  return (
    <div class="page alert">
      <WhenLoaded of={isRemoved ? { ...alert, error: NO_ERROR } : alert}>
        {(value) => <AlertDetails of={alert} alert={value} isRemoved={isRemoved} />}
      </WhenLoaded>
    </div>
  );
}

interface AlertDetailsProps {
  readonly of: Loaded<Stored>;
  readonly alert: Stored;
  /** Whether somebody removed it while it was shown. */
  readonly isRemoved: boolean;
}

function AlertDetails({ of, alert, isRemoved }: AlertDetailsProps) {
  const { project_id: projectId } = alert;
  const id = alert.id!;
  const editing = useEdits(draftOfAlert(alert));
  const read = async () => (await call("get_alert", { project_id: projectId, alert_id: id })).alert;
  /** Makes a change; one that finds the alert gone shows so at once. */
  const changing = async (change: () => Promise<void>): Promise<void> => {
    try {
      await change();
    } catch (error) {
      if (isGone(error)) void of.load();
      throw error;
    }
  };
  const { draft, isChanged } = editing;
  const isRemoving = useSignal(false);
  const mayChange = mayChangeAlert(alert);
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
    if (!isRemoved && episodes.rows.length <= FIRST_EPISODES) void episodes.load();
  });
  const last = useLoaded(
    async (signal) =>
      (await call("get_deliveries", { project_id: projectId, alert_id: id, limit: 1 }, { signal })).deliveries,
    [projectId, id],
  );
  useEvery(AGAIN_MS, () => {
    if (!isRemoved) void last.load();
  });
  const muting = useSending();
  const mute = (muted: boolean): Promise<unknown> =>
    muting.send(() =>
      changing(async () => {
        const show = async (): Promise<void> => {
          await of.load();
          editing.drop("muted");
        };
        await setMuted(alert, muted, () => void show());
        await show();
      }),
    );
  const since = sinceOf(alert, episodes.rows);
  return (
    <>
      <header>
        <h1>
          <Text text={alert.name} />
        </h1>
        {mayChange && !isRemoved && (
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
      {isRemoved && (
        <div class="note warning" role="alert">
          <div class="row">
            <span class="grow">
              Somebody removed this alert.{isChanged && " What you typed is not lost: it can be a new alert."}
            </span>
            {isChanged && (
              <button
                type="button"
                class="button small"
                onClick={() => go(`${alertPath(projectId, "new")}${searchOfDraft(draft)}`)}
              >
                Make a new alert of it
              </button>
            )}
          </div>
        </div>
      )}
      {muting.problem && !isRemoved && <p class="note error">{muting.problem}</p>}
      <section class="card state" aria-label="State">
        <div class="row">
          <StateTags alert={alert} isUndelivered={isUndelivered(id, last.value.value ?? [])} />
          <span class="grow">{since !== undefined && <LastingSince at={since} />}</span>
          <span>
            Severity <SeverityTag severity={alert.severity} />
          </span>
          <span class="hint">
            <Evaluated alert={alert} />
          </span>
        </div>
        <EvaluationNotes alert={alert} />
      </section>
      {alert.description?.trim() && (
        <section class="card" aria-labelledby="what-to-do">
          <h2 id="what-to-do">What to do</h2>
          <p class="described">
            <LinkedText text={alert.description} />
          </p>
        </section>
      )}
      <Episodes alert={alert} pages={episodes} />
      <Deliveries projectId={projectId} of={{ alert_id: id }} names={names.value.value ?? new Map()} />
      <ReadOnlyNote alert={alert} onReleased={() => of.load()} />
      <AlertForm
        projectId={projectId}
        id={id}
        draft={draft}
        isChanged={isChanged}
        isReadOnly={!mayChange}
        isRemoved={isRemoved}
        clashAt={(name, words) => editing.clashAt(name, words)}
        onChange={(part) => editing.set(part)}
        onSend={() =>
          changing(async () => {
            const before = await read();
            of.set(before);
            const fresh = draftOfAlert(before);
            const changes = changedMembers(alertOf(fresh, projectId), alertOf(editing.over(fresh), projectId));
            await call("update_alert", { alert: { ...changes, id, project_id: projectId } });
            // The edits are kept until the stored alert is known: otherwise they would seem to be gone.
            const stored = await read();
            of.set(stored);
            editing.sent(draftOfAlert(stored));
            say("Saved");
          })
        }
      />
      {mayChange && !isRemoved && (
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
            const goOn = goFromHere();
            try {
              await call("remove_alert", { project_id: projectId, alert_id: id });
            } catch (error) {
              // Somebody else did the same.
              if (!isGone(error)) throw error;
            }
            goOn(listPath(projectId), { replaces: true });
            say(`${alert.name} was removed`);
          }}
        >
          Nobody is notified any more. Its history is kept for 90 days.
        </RemoveDialog>
      )}
    </>
  );
}

/** Why the person may not change it here, if so. */
function ReadOnlyNote({ alert, onReleased }: { readonly alert: Stored; onReleased(): Promise<unknown> }) {
  const isReleasing = useSignal(false);
  const record = { kind: "alert", record: alert } as const;
  const release = (): void => {
    isReleasing.value = true;
  };
  return (
    <>
      {alert.managed_by === "" && !mayChangeAlert(alert) && <p class="note">Your role may not change this alert.</p>}
      <ManagedNote of={record} onRelease={mayReleaseAlert(alert) ? release : undefined} />
      {isReleasing.value && (
        <ReleaseDialog of={record} onReleased={onReleased} onClose={() => (isReleasing.value = false)} />
      )}
    </>
  );
}

/** When it was evaluated, or will be first. */
function Evaluated({ alert: { evaluated_at, first_evaluated_at } }: { readonly alert: Stored }) {
  if (evaluated_at)
    return (
      <>
        Evaluated <Ago at={evaluated_at} />
      </>
    );
  return <>{first_evaluated_at ? firstEvaluated(first_evaluated_at) : "The first interval is not over yet"}</>;
}

/** Why it cannot be evaluated, and that it is evaluated seldom. */
function EvaluationNotes({ alert }: { readonly alert: Stored }) {
  const seldom = paceWords(alert);
  return (
    <>
      {alert.failure !== "" && (
        <p class="note warning spaced">
          The alert cannot be evaluated: <Text text={alert.failure ?? ""} />
        </p>
      )}
      {seldom !== undefined && <p class="note warning spaced">{seldom}</p>}
    </>
  );
}
