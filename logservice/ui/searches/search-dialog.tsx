import { useState } from "preact/hooks";
import type { Search } from "../../../schema/rpc.generated.ts";
import { call } from "../data/call.ts";
import { changedMembers } from "../data/changes.ts";
import { settling } from "../kit/clash-note.tsx";
import { FormField } from "../kit/field.tsx";
import { FormDialog } from "../kit/form-dialog.tsx";
import { useSending } from "../kit/sending.ts";
import { Text } from "../kit/text.tsx";
import { NOT_BLANK, TextField } from "../kit/text-field.tsx";
import { say } from "../kit/toasts.tsx";
import { useEdits } from "../kit/use-edits.ts";
import { QueryCode } from "../query-box/query-code.tsx";
import { searchNamed } from "./matching.ts";

export interface SearchDialogProps {
  readonly projectId: string;
  /** The search to change; for a new one, the query that is on the screen, or nothing. */
  readonly first: Partial<Pick<Search, "id" | "name" | "query">>;
  onSaved?(): void;
  onClose(): void;
}

/** Saves a query under a name, or changes a saved one. */
export function SearchDialog({ projectId, first, onSaved, onClose }: SearchDialogProps) {
  const { id } = first;
  const [saved, setSaved] = useState({ name: first.name ?? "", query: first.query ?? "" });
  const editing = useEdits(saved);
  const { name, query } = editing.draft;
  const [same, setSame] = useState<Search | undefined>(undefined);
  const sending = useSending(["search.name", "search.query"]);
  // The query that is on the screen is saved as it is.
  const isTyped = id !== undefined || first.query === undefined;
  const isEmpty = query.trim() === "";
  const save = async (replaced?: Search): Promise<void> => {
    const search = { project_id: projectId, name: name.trim(), query };
    const isSaved = await sending.send(async () => {
      if (replaced !== undefined) {
        await call("update_search", { search: { project_id: projectId, id: replaced.id!, query } });
        return;
      }
      const { searches } = await call("get_searches", { project_id: projectId });
      const match = searchNamed(searches, name, id);
      setSame(match);
      if (match !== undefined) throw new Error("search.name: another search has this name");
      if (id === undefined) await call("add_search", { search });
      else {
        const stored = searches.find((one) => one.id === id);
        const fresh = stored === undefined ? saved : { name: stored.name, query: stored.query };
        setSaved(fresh);
        const kept = editing.over(fresh);
        const changes = changedMembers(fresh, { ...kept, name: kept.name.trim() });
        await call("update_search", { search: { ...changes, project_id: projectId, id } });
      }
    });
    if (!isSaved) return;
    say(`Saved ${(replaced ?? search).name}`);
    onSaved?.();
    onClose();
  };
  return (
    <FormDialog
      title={id !== undefined ? "Edit search" : isTyped ? "New search" : "Save search"}
      sending={sending}
      button="Save"
      isBlocked={!isTyped && isEmpty}
      onSend={() => void save()}
      onClose={onClose}
    >
      <TextField
        label="Name"
        wrong={sending.wrongAt("search.name")}
        clash={settling(editing.clashAt("name"), sending)}
        {...NOT_BLANK}
        autoFocus
        maxLength={255}
        value={name}
        onText={(text) => {
          editing.set({ name: text });
          setSame(undefined);
          sending.clear();
        }}
      />
      {same !== undefined && (
        <div class="note warning">
          <p>
            <Text text={same.name} /> is <QueryCode query={same.query} />
          </p>
          {id === undefined && (
            <button type="button" class="button small" disabled={isEmpty} onClick={() => void save(same)}>
              Replace its query
            </button>
          )}
        </div>
      )}
      {isTyped ? (
        <FormField
          label="Query"
          hint="The range is chosen when the search is opened."
          wrong={sending.wrongAt("search.query")}
          clash={settling(editing.clashAt("query"), sending)}
        >
          {(control) => (
            <textarea
              class="mono"
              {...control}
              required
              rows={4}
              maxLength={16_384}
              spellcheck={false}
              value={query}
              onInput={(event) => editing.set({ query: event.currentTarget.value })}
            />
          )}
        </FormField>
      ) : (
        <div class="field">
          <span class="label">Query</span>
          {!isEmpty && (
            <div class="boxed">
              <QueryCode query={query} />
            </div>
          )}
          {isEmpty && (
            <span class="wrong">There is no query to save: without one, every event is shown. Type one first.</span>
          )}
          {sending.wrongAt("search.query") && <span class="wrong">{sending.wrongAt("search.query")}</span>}
          <span class="hint">The range is chosen when the search is opened.</span>
        </div>
      )}
    </FormDialog>
  );
}
