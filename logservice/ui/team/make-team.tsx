import { useState } from "preact/hooks";
import { pathOf } from "../../address/page.ts";
import { call } from "../data/call.ts";
import { useBusyWindow } from "../kit/busy-window.ts";
import { ProblemNote } from "../kit/problem.tsx";
import { useSending } from "../kit/sending.ts";
import { NOT_BLANK, TextField } from "../kit/text-field.tsx";
import { Unsaved } from "../kit/unsaved.tsx";

/** Makes a team whose owner is the person, and shows it. */
export function MakeTeam() {
  const [name, setName] = useState("");
  const [id, setId] = useState("");
  const sending = useSending(["name", "id"]);
  useBusyWindow(sending.isSending);
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        void sending.send(async () => {
          const made = await call("add_team", { name: name.trim(), ...(id !== "" && { id }) }, { team: "" });
          // The page and its first data are those of another team from now on.
          location.assign(pathOf({ kind: "team", team: made.id, section: "projects" }));
          // Until that page is there, a second press would make a second team. The button back may show this one again.
          await new Promise((resolve) => addEventListener("pageshow", resolve, { once: true }));
        });
      }}
    >
      <TextField
        label="Name of the new team"
        wrong={sending.wrongAt("name")}
        {...NOT_BLANK}
        maxLength={100}
        value={name}
        onText={setName}
      />
      <TextField
        label="Id of the new team"
        hint="Part of addresses; it never changes. Left empty, it is derived from the name."
        wrong={sending.wrongAt("id")}
        class="mono"
        maxLength={40}
        pattern="[a-z0-9][a-z0-9\-]*"
        title="Letters a to z, digits and -"
        autoComplete="off"
        value={id}
        onText={setId}
      />
      <ProblemNote text={sending.problem} />
      <button type="submit" class="button primary" disabled={sending.isSending}>
        Create team
      </button>
      <Unsaved isChanged={(name !== "" || id !== "") && !sending.isSending} />
    </form>
  );
}
