import { useState } from "preact/hooks";
import type { Alert, Notification as Stored } from "../../../schema/rpc.generated.ts";
import { pathOf } from "../../address/page.ts";
import { call } from "../data/call.ts";
import { changedMembers } from "../data/changes.ts";
import { type Loaded, useLoaded } from "../data/loaded.ts";
import { go, goFromHere } from "../data/location.ts";
import { mayDo, session, teamId } from "../data/session.ts";
import { ManagedNote } from "../kit/managed.tsx";
import { isGone, NoItem } from "../kit/no-item.tsx";
import { ProblemNote } from "../kit/problem.tsx";
import { ReleaseDialog } from "../kit/release.tsx";
import { RemoveDialog } from "../kit/remove-dialog.tsx";
import { useSending } from "../kit/sending.ts";
import { WhenLoaded } from "../kit/state.tsx";
import { Text } from "../kit/text.tsx";
import { say } from "../kit/toasts.tsx";
import { Unsaved } from "../kit/unsaved.tsx";
import { ConfirmNumbers } from "./confirm-numbers.tsx";
import { Deliveries } from "./deliveries.tsx";
import { draftOfNotification, maskOf, membersOf, NEW_NOTIFICATION, NOTIFICATION_PATHS } from "./draft.ts";
import { missingFor } from "./kinds.ts";
import { makeNotification, makeSecret } from "./make.ts";
import { NotificationForm } from "./notification-form.tsx";
import { NewSecret, SecretDialog } from "./secret-dialog.tsx";
import { testAlertOf } from "./test-alert.ts";
import { UsedBy } from "./used-by.tsx";

/** A notification, or a new one. */
export function Notification({ projectId, id }: { readonly projectId: string; readonly id: string }) {
  return id === "new" ? <NewNotification projectId={projectId} /> : <OneNotification projectId={projectId} id={id} />;
}

const listPath = (project: string) =>
  pathOf({ kind: "project", team: teamId.value, project, section: "notifications" });

function NewNotification({ projectId }: { readonly projectId: string }) {
  const [made, setMade] = useState<{ readonly id: string; readonly secret: string } | undefined>(undefined);
  const sending = useSending(NOTIFICATION_PATHS);
  const show = (id: string, goOn = go): void =>
    goOn(pathOf({ kind: "item", team: teamId.value, project: projectId, section: "notifications", id }), {
      replaces: true,
    });
  return (
    <div class="page narrow">
      <header>
        <h1>New notification</h1>
      </header>
      {made === undefined ? (
        <section class="card">
          <NotificationForm
            first={NEW_NOTIFICATION}
            mask={undefined}
            sending={sending}
            button="Create notification"
            onSend={async (draft) => {
              const goOn = goFromHere();
              const next = await makeNotification(projectId, draft);
              if (next.secret !== "") setMade(next);
              else {
                say("Notification created");
                show(next.id, goOn);
              }
              return undefined;
            }}
          >
            <a class="button" href={listPath(projectId)}>
              Cancel
            </a>
          </NotificationForm>
        </section>
      ) : (
        <NewSecret secret={made.secret} onClose={() => show(made.id)} />
      )}
    </div>
  );
}

function OneNotification({ projectId, id }: { readonly projectId: string; readonly id: string }) {
  const notification = useLoaded(
    async (signal) =>
      (await call("get_notification", { project_id: projectId, notification_id: id }, { signal })).notification,
    [projectId, id],
  );
  const alerts = useLoaded(
    async (signal) =>
      (await call("get_alerts", { project_id: projectId }, { signal })).alerts.filter(
        ({ notification_id }) => notification_id === id,
      ),
    [projectId, id],
  );
  if (isGone(notification.error.value)) return <NoItem what="notification" href={listPath(projectId)} />;
  return (
    <div class="page narrow">
      <WhenLoaded of={notification}>
        {(value) => <NotificationDetails of={notification} notification={value} />}
      </WhenLoaded>
      {notification.value.value !== undefined && (
        <>
          <UsedBy projectId={projectId} alerts={alerts} />
          <Deliveries projectId={projectId} of={{ notification_id: id }} />
          {mayDo("notifications:write") && notification.value.value.managed_by === "" && (
            <Remove
              notification={notification.value.value}
              alerts={alerts.value.value ?? (alerts.error.value === undefined ? undefined : [])}
            />
          )}
        </>
      )}
    </div>
  );
}

interface NotificationDetailsProps {
  readonly of: Loaded<Stored>;
  readonly notification: Stored;
}

function NotificationDetails({ of, notification }: NotificationDetailsProps) {
  const [isChanged, setChanged] = useState(false);
  const sending = useSending(NOTIFICATION_PATHS);
  const testing = useSending();
  const [tested, setTested] = useState(false);
  const [isReleasing, setReleasing] = useState(false);
  const { project_id, type, name } = notification;
  const id = notification.id!;
  const isManaged = notification.managed_by !== "";
  const mayChange = mayDo("notifications:write") && !isManaged;
  const isMissing = session.value !== undefined && missingFor(type, session.value) !== undefined;
  const read = async () => {
    const stored = await call("get_notification", { project_id, notification_id: id });
    of.set(stored.notification);
    return draftOfNotification(stored.notification);
  };
  const test = async (): Promise<void> => {
    setTested(false);
    setTested(await testing.send(() => call("test_alert", { alert: testAlertOf(notification) })));
  };
  return (
    <>
      <header>
        <h1>
          <Text text={name} />
        </h1>
      </header>
      <section class="card">
        <ManagedNote
          of={{ kind: "notification", record: notification }}
          onRelease={mayDo("notifications:write") ? () => setReleasing(true) : undefined}
        />
        {!mayChange && !isManaged && <p class="hint">Your role may not change notifications.</p>}
        <NotificationForm
          first={draftOfNotification(notification)}
          mask={maskOf(notification)}
          isReadOnly={!mayChange}
          sending={sending}
          button="Save"
          onChanged={(isOther) => {
            setChanged(isOther);
            testing.clear();
            setTested(false);
          }}
          onSend={async (_, over) => {
            const fresh = await read();
            const changes = changedMembers(membersOf(fresh), membersOf(over(fresh)));
            await call("update_notification", { notification: { ...changes, id, project_id } });
            const stored = await read();
            say("Saved");
            return stored;
          }}
        />
      </section>
      <ConfirmNumbers of={of} notification={notification} />
      {mayDo("alerts:write") && (
        <section class="card" aria-labelledby="test">
          <h2 id="test">Test</h2>
          <p class="lead">
            Sends a message, marked TEST, to what is saved, and waits for the outcome.
            {type === "pagerduty" && " PagerDuty opens an incident of severity info, which a person has to resolve."}
          </p>
          {testing.problem && (
            <p class="note error" role="alert">
              The test was not delivered. {testing.problem}
            </p>
          )}
          {tested && (
            <p class="note good" role="status">
              The test was delivered.
            </p>
          )}
          <div class="row">
            <button
              type="button"
              class="button"
              disabled={testing.isSending || isChanged || isMissing}
              onClick={() => void test()}
            >
              {testing.isSending ? "Sending …" : "Send a test"}
            </button>
            {isChanged && <span class="hint">Save first.</span>}
            {isMissing && <span class="hint">Not possible while the service sends none of these.</span>}
          </div>
        </section>
      )}
      {type === "webhook" && <Signature of={of} notification={notification} />}
      {isReleasing && (
        <ReleaseDialog
          of={{ kind: "notification", record: notification }}
          onReleased={() => of.load()}
          onClose={() => setReleasing(false)}
        />
      )}
    </>
  );
}

/** Whether what is posted to a webhook is signed, and what makes its secret. */
function Signature({ of, notification: { project_id, id, signed } }: NotificationDetailsProps) {
  const [isRotating, setRotating] = useState(false);
  const [secret, setSecret] = useState("");
  const sending = useSending();
  const mayChange = mayDo("notifications:write");
  const make = (): void => {
    if (signed) setRotating(true);
    else void sending.send(async () => setSecret(await makeSecret(project_id, id!)));
  };
  const close = (): void => {
    setRotating(false);
    setSecret("");
    void of.load();
  };
  return (
    <section class="card" aria-labelledby="signing">
      <h2 id="signing">Signature</h2>
      {signed ? (
        <p class="lead">
          Each request is signed with a secret, so that your program can tell that it comes from here and was not
          changed.
        </p>
      ) : (
        <p class="note warning">
          Requests are not signed yet: your program cannot tell who sent them. They will be signed once you create a
          secret.
        </p>
      )}
      <ProblemNote text={sending.problem} />
      {mayChange && (
        <button type="button" class="button" disabled={sending.isSending} onClick={make}>
          {signed ? "Make a new secret" : "Create the secret"}
        </button>
      )}
      <Unsaved isChanged={false} isSending={sending.isSending} />
      {isRotating && <SecretDialog projectId={project_id} notificationId={id!} onClose={close} />}
      {secret !== "" && <NewSecret secret={secret} onClose={close} />}
    </section>
  );
}

function Remove({
  notification,
  alerts,
}: {
  readonly notification: Stored;
  /** Those that use it; undefined until they are known. Without an answer the service says what it thinks of it. */
  readonly alerts: readonly Alert[] | undefined;
}) {
  const [isRemoving, setRemoving] = useState(false);
  const { project_id, name } = notification;
  const isUsed = (alerts?.length ?? 0) > 0;
  return (
    <section class="card" aria-labelledby="remove">
      <h2 id="remove">Remove notification</h2>
      <p class="lead">
        {isUsed
          ? `${alerts!.length === 1 ? "An alert still uses" : `${alerts!.length} alerts still use`} it. Choose another notification there first.`
          : "Messages that still wait for it are dropped."}
      </p>
      <button
        type="button"
        class="button danger"
        disabled={isUsed || alerts === undefined}
        onClick={() => setRemoving(true)}
      >
        Remove notification
      </button>
      {isRemoving && (
        <RemoveDialog
          title={`Remove ${name}?`}
          button="Remove notification"
          onClose={() => setRemoving(false)}
          onRemove={async () => {
            const goOn = goFromHere();
            await call("remove_notification", { project_id, notification_id: notification.id! });
            goOn(listPath(project_id), { replaces: true });
            say(`${name} was removed`);
          }}
        >
          Alerts cannot choose it any more, and its secrets are gone.
        </RemoveDialog>
      )}
    </section>
  );
}
