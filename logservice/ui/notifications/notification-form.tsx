import type { ComponentChildren } from "preact";
import { useEffect } from "preact/hooks";
import { hasRecipients, MEMBERS } from "../../records/notification-members.ts";
import { session } from "../data/session.ts";
import { type Clash, settling } from "../kit/clash-note.tsx";
import { FormField } from "../kit/field.tsx";
import { FormEnd } from "../kit/form-end.tsx";
import type { Sending } from "../kit/sending.ts";
import { TextField } from "../kit/text-field.tsx";
import { Unsaved } from "../kit/unsaved.tsx";
import { useEdits } from "../kit/use-edits.ts";
import { type NotificationDraft, notificationProblem } from "./draft.ts";
import { ALL_KINDS, missingFor, NOTIFICATION_KINDS, type NotificationKind } from "./kinds.ts";

export interface NotificationFormProps {
  readonly first: NotificationDraft;
  /** The part of the stored secret that is shown; undefined for a new notification. */
  readonly mask: string | undefined;
  readonly isReadOnly?: boolean;
  readonly sending: Sending;
  readonly button: string;
  /** Other buttons. */
  readonly children?: ComponentChildren;
  /** For a form in a window. */
  onCancel?(): void;
  /** Told whether something is not saved. */
  onChanged?(isChanged: boolean): void;
  /**
   * Sends a draft in which nothing is wrong that can be seen here, or what `over` makes of what is saved now. Returns what is
   * stored then, unless the form is gone. Rejects with what the service says.
   */
  onSend(
    draft: NotificationDraft,
    over: (fresh: NotificationDraft) => NotificationDraft,
  ): Promise<NotificationDraft | undefined>;
}

/** The fields of a notification: those of its kind. What was typed for another kind stays, and asks before the page is left. */
export function NotificationForm(props: NotificationFormProps) {
  const { first, mask, isReadOnly = false, sending, button, children, onCancel, onChanged, onSend } = props;
  const editing = useEdits(first);
  const { draft, isChanged, set } = editing;
  useEffect(() => onChanged?.(isChanged), [isChanged]);
  const clashAt = (name: keyof NotificationDraft) =>
    settling(
      editing.clashAt(name, (value) => value.replaceAll("\n", ", ")),
      sending,
    );
  const isNew = mask === undefined;
  const missing = session.value && missingFor(draft.type, session.value);
  return (
    <form
      noValidate
      onSubmit={(event) => {
        event.preventDefault();
        // A form in a window over another form is part of that one for Preact's events.
        event.stopPropagation();
        void sending.send(async () => {
          const problem = notificationProblem(draft, isNew);
          if (problem !== undefined) throw new Error(problem);
          const stored = await onSend(draft, editing.over);
          if (stored !== undefined) editing.sent(stored);
        });
      }}
    >
      <fieldset disabled={isReadOnly}>
        {isNew ? (
          <KindField
            kind={draft.type}
            onChoose={(type) => {
              sending.clear();
              set({ type });
            }}
          />
        ) : (
          <p class="lead">
            <strong>{NOTIFICATION_KINDS[draft.type].text}.</strong> {NOTIFICATION_KINDS[draft.type].about}
          </p>
        )}
        {missing && <p class="note warning">{missing}</p>}
        <TextField
          label="Name"
          hint="Alerts choose it by its name."
          wrong={sending.wrongAt("notification.name")}
          clash={clashAt("name")}
          maxLength={255}
          value={draft.name}
          onText={(text) => set({ name: text })}
        />
        <TargetFields {...{ draft, mask, isReadOnly, sending, clashAt, set }} />
        <FormEnd {...{ sending, button, isReadOnly, onCancel }} isBlocked={!isNew && !isChanged}>
          {children}
        </FormEnd>
      </fieldset>
      <Unsaved isChanged={isChanged && !isReadOnly} />
    </form>
  );
}

function KindField({ kind, onChoose }: { readonly kind: NotificationKind; onChoose(kind: NotificationKind): void }) {
  return (
    <FormField label="Kind" hint={NOTIFICATION_KINDS[kind].about}>
      {(control) => (
        <select {...control} value={kind} onChange={(event) => onChoose(event.currentTarget.value as NotificationKind)}>
          {ALL_KINDS.map((one) => (
            <option key={one} value={one}>
              {NOTIFICATION_KINDS[one].text}
            </option>
          ))}
        </select>
      )}
    </FormField>
  );
}

interface TargetProps {
  readonly draft: NotificationDraft;
  readonly mask: string | undefined;
  readonly isReadOnly: boolean;
  readonly sending: Sending;
  clashAt(name: keyof NotificationDraft): Clash | undefined;
  set(part: Partial<NotificationDraft>): void;
}

function TargetFields({ draft, mask, isReadOnly, sending, clashAt, set }: TargetProps) {
  const wrong = sending.wrongAt(`notification.${MEMBERS[draft.type].needed}`);
  const { type } = draft;
  if (hasRecipients(type)) {
    const isMail = draft.type === "email";
    return (
      <FormField
        label={isMail ? "Email addresses" : "Phone numbers"}
        hint={isMail ? "One in each line." : "One in each line, with the code of the country: +1 555 0100."}
        wrong={wrong}
        clash={clashAt("recipients")}
      >
        {(control) => (
          <textarea
            {...control}
            rows={3}
            spellcheck={false}
            autocapitalize="off"
            inputMode={isMail ? "email" : "tel"}
            value={draft.recipients}
            onInput={(event) => set({ recipients: event.currentTarget.value })}
          />
        )}
      </FormField>
    );
  }
  const { label, hint } = SECRETS[type];
  return (
    <>
      <TextField
        label={label}
        hint={
          <>
            {hint} It is a secret: it is stored encrypted, and not shown again.
            {mask !== undefined && !isReadOnly && " Left empty, the saved one stays."}
          </>
        }
        wrong={wrong}
        class="mono"
        maxLength={2048}
        autoComplete="off"
        spellcheck={false}
        autocapitalize="off"
        placeholder={mask === undefined ? "" : mask === "" ? "none is saved" : `${mask} is saved`}
        value={draft.secret}
        onText={(text) => set({ secret: text })}
      />
      {draft.type === "slack" && (
        <TextField
          label="Channel"
          hint="Only if it is another one than that of the webhook, such as #alerts. Not every chat takes it."
          wrong={sending.wrongAt("notification.slack_channel")}
          clash={clashAt("channel")}
          maxLength={255}
          value={draft.channel}
          onText={(text) => set({ channel: text })}
        />
      )}
    </>
  );
}

const PUBLIC = "It begins with https://. Plain http and private addresses need a permission of the service's operator.";

const SECRETS = {
  slack: {
    label: "Webhook address",
    hint: `The address of an incoming webhook, which the chat shows when you create one. ${PUBLIC}`,
  },
  webhook: { label: "Webhook address", hint: `Where your program takes alerts. ${PUBLIC}` },
  pagerduty: {
    label: "Integration key",
    hint: "The key of an integration “Events API v2” of a PagerDuty service.",
  },
} as const satisfies Partial<Record<NotificationKind, { label: string; hint: string }>>;
