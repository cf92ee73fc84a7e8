import { call } from "../data/call.ts";
import { useLoaded } from "../data/loaded.ts";
import { mayDo, teamId } from "../data/session.ts";
import { type Clash, ClashNote } from "../kit/clash-note.tsx";
import { FormField } from "../kit/field.tsx";
import type { AlertAnswer } from "../language/messages.ts";
import { QueryBox } from "../query-box/query-box.tsx";
import { type AlertDraft, ON_DISK, ON_EVENTS } from "./draft.ts";
import { QueryWrong } from "./query-wrong.tsx";
import { useFieldValues } from "./use-field-values.ts";

interface MeasuredProps {
  readonly projectId: string;
  readonly draft: AlertDraft;
  /** A stored alert keeps its kind. */
  readonly isNew: boolean;
  readonly answer: AlertAnswer | undefined;
  readonly wrong: string | undefined;
  readonly clash: Clash | undefined;
  set(part: Partial<AlertDraft>): void;
}

/** The measure of an alert: the events of a query, or the disk, which is for whoever runs the service. */
export function MeasuredFields({ projectId, draft, isNew, answer, wrong, clash, set }: MeasuredProps) {
  const values = useFieldValues(projectId);
  const mayWatchDisk = useMayWatchDisk(isNew);
  return (
    <>
      {mayWatchDisk && (
        <FormField label="Watch">
          {(control) => (
            <select
              {...control}
              value={draft.kind}
              onChange={(event) => set(event.currentTarget.value === "disk" ? ON_DISK : ON_EVENTS)}
            >
              <option value="events">Events that match a query</option>
              <option value="disk">The disk of this service</option>
            </select>
          )}
        </FormField>
      )}
      {draft.kind === "disk" ? (
        <p class="hint">
          The free part of the disk that the service stores events on. Nobody but an owner of this team can change this
          alert. Have it triggered well before the disk is full: then events are refused.
        </p>
      ) : (
        <div class="field">
          <span class="label" aria-hidden="true">
            Query
          </span>
          <QueryBox
            query={draft.query}
            values={values}
            isRefused={wrong !== undefined}
            onRun={() => {}}
            onText={(query) => set({ query })}
          />
          <QueryWrong query={draft.query} answer={answer} wrong={wrong} onQuery={(query) => set({ query })} />
          <ClashNote label="Query" of={clash} />
          <span class="hint">
            The events that match are counted in each interval. With stages, the query gives one number, or one for each
            of at most 100 groups: <code>error | count by path</code>.
          </span>
        </div>
      )}
    </>
  );
}

/** Whether the person may add an alert on the disk: owners ask the service. */
function useMayWatchDisk(isNew: boolean): boolean {
  const isAsked = isNew && mayDo("team:owner");
  const loaded = useLoaded(
    async (signal) => isAsked && (await call("get_instance_config", {}, { signal })).config.disk_alerts,
    [isAsked, teamId.value],
  );
  return loaded.value.value === true;
}
