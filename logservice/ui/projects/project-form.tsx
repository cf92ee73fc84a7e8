import { projectIdOf } from "../../../schema/project-id.ts";
import type { Project } from "../../../schema/rpc.generated.ts";
import { settling } from "../kit/clash-note.tsx";
import { FormField } from "../kit/field.tsx";
import { FormEnd } from "../kit/form-end.tsx";
import type { Sending } from "../kit/sending.ts";
import { TextField } from "../kit/text-field.tsx";
import { Unsaved } from "../kit/unsaved.tsx";
import { useEdits } from "../kit/use-edits.ts";

/** The members of a project that a person may set. */
export type ProjectDraft = Pick<Project, "name" | "id" | "description" | "retention" | "mode">;

/** A stored project, to be changed: what it does not say is as the service takes it. */
export function draftOfProject({
  name,
  id,
  description = "",
  retention = 0,
  mode = "structured",
}: Project): ProjectDraft {
  return { name, id, description, retention, mode };
}

const FIELDS = ["name", "id", "description", "retention", "mode"] as const;
export const PROJECT_PATHS = FIELDS.map((name) => `project.${name}`);

export interface ProjectFormProps {
  readonly first: ProjectDraft;
  readonly isNew: boolean;
  readonly isReadOnly?: boolean;
  readonly sending: Sending;
  readonly button: string;
  /**
   * Sends the draft, or what `over` makes of what is saved now. Returns what is stored then, unless the form is gone. Rejects
   * with what the service says.
   */
  onSend(draft: ProjectDraft, over: (fresh: ProjectDraft) => ProjectDraft): Promise<ProjectDraft | undefined>;
  /** For a form in a window. */
  onCancel?(): void;
}

/** The fields of a project. What was typed stays if it is refused. */
export function ProjectForm(props: ProjectFormProps) {
  const { first, isNew, isReadOnly = false, sending, button, onSend, onCancel } = props;
  const editing = useEdits(first);
  const { draft, isChanged, set } = editing;
  const clashAt = <K extends keyof ProjectDraft>(name: K, words?: (value: ProjectDraft[K]) => string) =>
    settling(editing.clashAt(name, words), sending);
  const isShorter =
    !isNew && (draft.retention ?? 0) > 0 && ((first.retention ?? 0) === 0 || draft.retention! < first.retention!);
  const isUnchanged = !isNew && FIELDS.every((name) => (draft[name] ?? "") === (first[name] ?? ""));
  const made = projectIdOf(draft.name);
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        void sending.send(async () => {
          const stored = await onSend(draft, editing.over);
          if (stored !== undefined) editing.sent(stored);
        });
      }}
    >
      <fieldset disabled={isReadOnly}>
        <TextField
          label="Name"
          wrong={sending.wrongAt("project.name")}
          clash={clashAt("name")}
          required
          maxLength={255}
          value={draft.name}
          onText={(text) => set({ name: text })}
        />
        {isNew && (
          <TextField
            label="Id"
            hint={`Part of addresses and calls; it never changes. ${draft.id ? "" : `Left empty, it is derived from the name${made === undefined ? "" : `: ${made}`}.`}`}
            wrong={sending.wrongAt("project.id")}
            class="mono"
            maxLength={64}
            pattern="[A-Za-z0-9_\-]*"
            title="Letters, digits, _ and -"
            value={draft.id ?? ""}
            onText={(text) => set({ id: text })}
          />
        )}
        <TextField
          label="Description"
          wrong={sending.wrongAt("project.description")}
          clash={clashAt("description")}
          maxLength={4096}
          value={draft.description ?? ""}
          onText={(text) => set({ description: text })}
        />
        <FormField
          label="Days to keep events"
          hint="Older events are deleted. 0 keeps them forever."
          wrong={sending.wrongAt("project.retention")}
          clash={clashAt("retention")}
        >
          {(control) => (
            <input
              type="number"
              {...control}
              min={0}
              max={36500}
              value={draft.retention ?? 0}
              onInput={(event) => set({ retention: event.currentTarget.valueAsNumber || 0 })}
            />
          )}
        </FormField>
        {isShorter && (
          <p class="note warning">
            Events older than {draft.retention} days will be gone for good as soon as this is saved.
          </p>
        )}
        <FormField
          label="Format"
          hint={
            draft.mode === "plain_text"
              ? "Lines of text. They are not parsed, and fields that are sent are not kept."
              : "JSON with fields, which are searched and counted by name."
          }
          wrong={sending.wrongAt("project.mode")}
          clash={clashAt("mode", (mode) => (mode === "plain_text" ? "Plain text" : "Structured"))}
        >
          {(control) => (
            <select
              {...control}
              value={draft.mode ?? "structured"}
              onChange={(event) => set({ mode: event.currentTarget.value as "structured" })}
            >
              <option value="structured">Structured</option>
              <option value="plain_text">Plain text</option>
            </select>
          )}
        </FormField>
        <FormEnd {...{ sending, button, isReadOnly, onCancel }} isBlocked={isUnchanged} />
      </fieldset>
      <Unsaved isChanged={isChanged && !isReadOnly} />
    </form>
  );
}
