import { useState } from "preact/hooks";
import { pathOf } from "../../address/page.ts";
import { call } from "../data/call.ts";
import { Field } from "../kit/field.tsx";
import { useSending } from "../kit/sending.ts";

/** Makes a team whose owner is the person, and shows it. */
export function MakeTeam() {
  const [name, setName] = useState("");
  const [id, setId] = useState("");
  const sending = useSending(["name", "id"]);
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        void sending.send(async () => {
          const made = await call("add_team", { name: name.trim(), ...(id !== "" && { id }) }, { team: "" });
          // The page and its first data are those of another team from now on.
          location.assign(pathOf({ kind: "team", team: made.id, section: "projects" }));
        });
      }}
    >
      <Field label="Name of the new team" wrong={sending.wrongAt("name")}>
        {(control) => (
          <input
            type="text"
            {...control}
            required
            maxLength={100}
            pattern=".*\S.*"
            title="At least one character that is not blank"
            value={name}
            onInput={(event) => setName(event.currentTarget.value)}
          />
        )}
      </Field>
      <Field
        label="Id of the new team"
        hint="Part of addresses; it never changes. Left empty, it is derived from the name."
        wrong={sending.wrongAt("id")}
      >
        {(control) => (
          <input
            type="text"
            class="mono"
            {...control}
            maxLength={40}
            pattern="[a-z0-9][a-z0-9\-]*"
            title="Letters a to z, digits and -"
            autoComplete="off"
            value={id}
            onInput={(event) => setId(event.currentTarget.value)}
          />
        )}
      </Field>
      {sending.problem && <p class="note error">{sending.problem}</p>}
      <button type="submit" class="button primary" disabled={sending.isSending}>
        Create team
      </button>
    </form>
  );
}
