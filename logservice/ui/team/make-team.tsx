import { useState } from "preact/hooks";
import { pathOf } from "../../address/page.ts";
import { call } from "../data/call.ts";
import { useLoaded } from "../data/loaded.ts";
import { session } from "../data/session.ts";
import { useBusyWindow } from "../kit/busy-window.ts";
import { ProblemNote } from "../kit/problem.tsx";
import { useSending } from "../kit/sending.ts";
import { WhenLoaded } from "../kit/state.tsx";
import { NOT_BLANK, TextField } from "../kit/text-field.tsx";
import { Unsaved } from "../kit/unsaved.tsx";
import { lacksPro } from "./subscription-state.ts";

/** Whether the person may make a team: their first one, or with Pro in a team that they are in. */
async function mayMakeTeam(signal: AbortSignal): Promise<boolean> {
  const { teams } = session.value!.account;
  for (const { id } of teams) {
    if (!lacksPro(await call("get_subscription", {}, { signal, team: id }))) return true;
  }
  return teams.length === 0;
}

/** Makes a team whose owner is the person, and shows it. */
export function MakeTeam() {
  const may = useLoaded(mayMakeTeam, []);
  return (
    <WhenLoaded of={may}>
      {(isAllowed) =>
        isAllowed ? (
          <TeamForm />
        ) : (
          <p class="hint">
            Another team needs Pro, and none of your teams has it: an owner can subscribe on the page Members.
          </p>
        )
      }
    </WhenLoaded>
  );
}

function TeamForm() {
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
