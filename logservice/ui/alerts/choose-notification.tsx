import { useState } from "preact/hooks";
import type { Notification } from "../../../schema/rpc.generated.ts";
import type { Loaded } from "../data/loaded.ts";
import { mayDo, session } from "../data/session.ts";
import type { Clash } from "../kit/clash-note.tsx";
import { Dialog } from "../kit/dialog.tsx";
import { FormField } from "../kit/field.tsx";
import { useSending } from "../kit/sending.ts";
import { visibleText } from "../kit/visible.ts";
import { NEW_NOTIFICATION, NOTIFICATION_PATHS } from "../notifications/draft.ts";
import { missingFor, NOTIFICATION_KINDS, unconfirmedText } from "../notifications/kinds.ts";
import { makeNotification } from "../notifications/make.ts";
import { NotificationForm } from "../notifications/notification-form.tsx";
import { NewSecret } from "../notifications/secret-dialog.tsx";

export interface ChooseProps {
  readonly notifications: Loaded<readonly Notification[]>;
  readonly chosen: string;
  readonly wrong: string | undefined;
  readonly clash: Clash | undefined;
  onChoose(id: string): void;
  onMake(): void;
}

/** Whom an alert notifies. */
export function ChooseNotification({ notifications, chosen, wrong, clash, onChoose, onMake }: ChooseProps) {
  const all = notifications.value.value;
  const one = all?.find(({ id }) => id === chosen);
  const missing = one && ((session.value && missingFor(one.type, session.value)) ?? unconfirmedText(one));
  return (
    <>
      <FormField
        label="Notification"
        hint={
          all?.length === 0
            ? "This project has none yet. Create one here: what you typed is kept."
            : one && NOTIFICATION_KINDS[one.type].about
        }
        wrong={wrong}
        clash={clash}
      >
        {(control) => (
          <div class="row nowrap">
            <select {...control} value={chosen} onChange={(event) => onChoose(event.currentTarget.value)}>
              <option value="">{all === undefined ? "Loading …" : "Choose one"}</option>
              {chosen !== "" && one === undefined && (
                <option value={chosen}>
                  {all === undefined || notifications.isLoading.value ? "Loading …" : "One that is not there"}
                </option>
              )}
              {all?.map(({ id, name, type }) => (
                <option key={id} value={id}>
                  {visibleText(name)} ({NOTIFICATION_KINDS[type].text})
                </option>
              ))}
            </select>
            {mayDo("notifications:write") && (
              <button type="button" class="button" onClick={onMake}>
                New notification
              </button>
            )}
          </div>
        )}
      </FormField>
      {missing && <p class="note warning">{missing}</p>}
    </>
  );
}

/** Makes a notification without leaving the alert. */
export function MakeNotification({
  projectId,
  onMade,
  onClose,
}: {
  readonly projectId: string;
  onMade(id: string): Promise<void>;
  onClose(): void;
}) {
  const [secret, setSecret] = useState("");
  const sending = useSending(NOTIFICATION_PATHS);
  if (secret !== "") return <NewSecret secret={secret} onClose={onClose} />;
  return (
    <Dialog title="New notification" isForm onClose={onClose}>
      <NotificationForm
        first={NEW_NOTIFICATION}
        mask={undefined}
        sending={sending}
        button="Create notification"
        onCancel={onClose}
        onSend={async (draft) => {
          const { id, secret } = await makeNotification(projectId, draft);
          await onMade(id);
          if (secret !== "") setSecret(secret);
          else onClose();
          return undefined;
        }}
      />
    </Dialog>
  );
}
