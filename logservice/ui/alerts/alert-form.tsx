import type { ComponentChildren } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { call } from "../data/call.ts";
import { useLoaded } from "../data/loaded.ts";
import { type Clash, ClashNote, settling } from "../kit/clash-note.tsx";
import { FormField } from "../kit/field.tsx";
import { useSending } from "../kit/sending.ts";
import { TextField } from "../kit/text-field.tsx";
import { Unsaved } from "../kit/unsaved.tsx";
import type { AlertAnswer } from "../language/messages.ts";
import { ChooseNotification, MakeNotification } from "./choose-notification.tsx";
import { ConditionFields, MoreFields } from "./condition-fields.tsx";
import { type AlertDraft, type AlertSeverity, alertOf, conditionProblem, problemIn, SEVERITIES } from "./draft.ts";
import { MeasuredFields } from "./measured-fields.tsx";
import { Preview } from "./preview.tsx";
import { queryRefusal } from "./query-wrong.tsx";
import { useAlertQuery } from "./use-alert-query.ts";
import { draftSummary, EVENTS, FREE_DISK } from "./words.ts";

const PATHS = [
  ...[
    "name",
    "description",
    "kind",
    "query",
    "severity",
    "operator",
    "threshold",
    "interval",
    "for",
    "recover",
    "repeat",
  ],
  ...["limit", "notification_id", "muted"],
].map((name) => `alert.${name}`);

export interface AlertFormProps {
  readonly projectId: string;
  /** The alert that is changed; undefined for a new one. */
  readonly id: string | undefined;
  readonly draft: AlertDraft;
  readonly isChanged: boolean;
  readonly isReadOnly: boolean;
  /** Whether somebody removed it meanwhile: what was typed stays, and cannot be saved. */
  readonly isRemoved?: boolean;
  /** The other value of what somebody else changed too. */
  clashAt?(name: keyof AlertDraft, words?: (value: string | boolean) => string): Clash | undefined;
  /** Other buttons. */
  readonly children?: ComponentChildren;
  /** `isTyped` unless it was chosen for the person. */
  onChange(part: Partial<AlertDraft>, isTyped: boolean): void;
  /** Sends a draft in which nothing is wrong that can be seen here. Rejects with what the service says. */
  onSend(): Promise<unknown>;
}

/** The fields of an alert, what it would have done, and a test of it. Nothing that was typed is lost by an error. */
export function AlertForm(props: AlertFormProps) {
  const { projectId, id, draft, isChanged, isReadOnly, isRemoved = false, children, onChange, onSend } = props;
  const [isMaking, setMaking] = useState(false);
  const [tested, setTested] = useState("");
  const saving = useSending(PATHS);
  const testing = useSending(PATHS);
  const notifications = useLoaded(
    async (signal) => (await call("get_notifications", { project_id: projectId }, { signal })).notifications,
    [projectId],
  );
  const all = notifications.value.value;
  useEffect(() => {
    // Whoever has only one has nothing to choose.
    if (id === undefined && draft.notification === "" && all?.length === 1)
      onChange({ notification: all[0]!.id! }, false);
  }, [all]);
  useEffect(() => {
    // Somebody else has made one meanwhile, and had this alert notify it.
    if (draft.notification !== "" && all !== undefined && !all.some(({ id }) => id === draft.notification))
      void notifications.load();
  }, [draft.notification]);
  const answer = useAlertQuery(draft.kind === "disk" ? undefined : draft.query);
  const latest = useRef<AlertAnswer | undefined>(undefined);
  if (answer !== undefined) latest.current = answer;
  const set = (part: Partial<AlertDraft>): void => {
    setTested("");
    onChange(part, true);
  };
  const clashAt = (name: keyof AlertDraft, words?: (value: string | boolean) => string) =>
    settling(props.clashAt?.(name, words), saving);
  const wrongAt = (path: string) => saving.wrongAt(path) ?? testing.wrongAt(path);
  const problem = saving.problem ?? testing.problem;
  const send = (how: typeof saving, act: () => Promise<unknown>): Promise<boolean> => {
    saving.clear();
    testing.clear();
    setTested("");
    return how.send(async () => {
      const draftProblem = problemIn(draft) ?? queryRefusal(answer);
      if (draftProblem !== undefined) throw new Error(draftProblem);
      await act();
    });
  };
  const test = async (): Promise<void> => {
    const alert = { ...alertOf(draft, projectId), ...(id !== undefined && { id }) };
    const to = all?.find((one) => one.id === draft.notification)?.name ?? "";
    if (await send(testing, () => call("test_alert", { alert }))) setTested(to);
  };
  const { measured, isGrouped } = latest.current?.ok ? latest.current : { measured: EVENTS, isGrouped: false };
  const summary =
    draft.kind === "disk" ? draftSummary(draft, FREE_DISK, false) : draftSummary(draft, measured, isGrouped);
  const isWhole = answer?.ok === true && draft.query.trim() !== "" && conditionProblem(draft) === undefined;
  return (
    <>
      <form
        noValidate
        class="card alert-form"
        onSubmit={(event) => {
          event.preventDefault();
          void send(saving, onSend);
        }}
      >
        <fieldset disabled={isReadOnly}>
          <MeasuredFields
            projectId={projectId}
            draft={draft}
            isNew={id === undefined}
            answer={answer}
            wrong={wrongAt("alert.query")}
            clash={clashAt("query")}
            set={set}
          />
          <ConditionFields draft={draft} wrongAt={wrongAt} clashAt={clashAt} set={set} />
          <p class="summary-words" role="status">
            {summary ?? "Write whole numbers for the threshold and the interval."}
          </p>
          {draft.kind === "events" && (
            <Preview alert={isWhole ? alertOf(draft, projectId) : undefined} isEmpty={draft.query.trim() === ""} />
          )}
          <div class="field-row two">
            <TextField
              label="Name"
              wrong={wrongAt("alert.name")}
              clash={clashAt("name")}
              maxLength={255}
              value={draft.name}
              onText={(text) => set({ name: text })}
            />
            <FormField label="Severity" wrong={wrongAt("alert.severity")} clash={clashAt("severity")}>
              {(control) => (
                <select
                  {...control}
                  value={draft.severity}
                  onChange={(event) => set({ severity: event.currentTarget.value as AlertSeverity })}
                >
                  {SEVERITIES.map((severity) => (
                    <option key={severity} value={severity}>
                      {severity}
                    </option>
                  ))}
                </select>
              )}
            </FormField>
          </div>
          <ChooseNotification
            notifications={notifications}
            chosen={draft.notification}
            wrong={wrongAt("alert.notification_id")}
            clash={clashAt("notification", (id) => all?.find((one) => one.id === id)?.name ?? "another notification")}
            onChoose={(notification) => set({ notification })}
            onMake={() => setMaking(true)}
          />
          <FormField
            label="Description"
            hint="What to do when it triggers. Every message except an SMS includes it."
            wrong={wrongAt("alert.description")}
            clash={clashAt("description")}
          >
            {(control) => (
              <textarea
                {...control}
                rows={2}
                maxLength={4096}
                value={draft.description}
                onInput={(event) => set({ description: event.currentTarget.value })}
              />
            )}
          </FormField>
          <MoreFields draft={draft} wrongAt={wrongAt} clashAt={clashAt} set={set} />
          <label class="check">
            <input
              type="checkbox"
              checked={draft.muted}
              onChange={(event) => set({ muted: event.currentTarget.checked })}
            />
            <span>
              Muted: <span class="hint">it is evaluated, but nobody is notified.</span>
            </span>
          </label>
          <ClashNote label="Muted" of={clashAt("muted", (isMuted) => (isMuted ? "muted" : "not muted"))} />
          {problem && !isRemoved && (
            <p class="note error" role="alert">
              {testing.problem && "The test was not delivered. "}
              {problem}
            </p>
          )}
          {tested !== "" && (
            <p class="note good" role="status">
              The test was delivered to {JSON.stringify(tested)}.
            </p>
          )}
          {!isReadOnly && !isRemoved && (
            <div class="row">
              <button
                type="submit"
                class="button primary"
                disabled={saving.isSending || (id !== undefined && !isChanged)}
              >
                {id === undefined ? "Create alert" : "Save"}
              </button>
              <button type="button" class="button" disabled={testing.isSending} onClick={() => void test()}>
                {testing.isSending ? "Sending …" : "Send a test"}
              </button>
              {children}
            </div>
          )}
        </fieldset>
      </form>
      {isMaking && (
        <MakeNotification
          projectId={projectId}
          onClose={() => setMaking(false)}
          onMade={async (made) => {
            await notifications.load();
            set({ notification: made });
          }}
        />
      )}
      <Unsaved isChanged={isChanged} />
    </>
  );
}
