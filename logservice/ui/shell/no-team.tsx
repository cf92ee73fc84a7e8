import { useState } from "preact/hooks";
import { call } from "../data/call.ts";
import { session } from "../data/session.ts";
import { Field } from "../kit/field.tsx";
import { useSending } from "../kit/sending.ts";

/** For a person who is in no team: make one, or wait for an invite. */
export function NoTeam() {
  const [name, setName] = useState("");
  const sending = useSending(["name"]);
  return (
    <div class="page narrow">
      <h1>You are in no team yet</h1>
      <p class="lead">
        An admin of a team can invite {session.value!.account.email}. Or make a team of your own: it has its own
        projects, tokens and alerts.
      </p>
      <form
        onSubmit={async (event) => {
          event.preventDefault();
          // The page and its first data are those of another team from now on.
          if (await sending.send(() => call("add_team", { name: name.trim() }, { team: "" }))) location.assign("/");
        }}
      >
        <Field label="Name of the team" wrong={sending.wrongAt("name")}>
          {(control) => (
            <input
              type="text"
              {...control}
              required
              maxLength={100}
              value={name}
              onInput={(event) => setName(event.currentTarget.value)}
            />
          )}
        </Field>
        {sending.problem && <p class="note error">{sending.problem}</p>}
        <button type="submit" class="button primary" disabled={sending.isSending}>
          Make the team
        </button>
      </form>
    </div>
  );
}
