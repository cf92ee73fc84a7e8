import { useState } from "preact/hooks";
import type { Member } from "../../../schema/rpc.generated.ts";
import { call } from "../data/call.ts";
import { mayDo, projects, session, team, teamId } from "../data/session.ts";
import { Dialog } from "../kit/dialog.tsx";
import { RemoveDialog } from "../kit/remove-dialog.tsx";
import { useSending } from "../kit/sending.ts";
import { Text } from "../kit/text.tsx";
import { NOT_BLANK, TextField } from "../kit/text-field.tsx";
import { say } from "../kit/toasts.tsx";
import { typeable } from "../kit/visible.ts";
import { MakeTeam } from "./make-team.tsx";

/** The name of a team, the creation of another one, and the removal of this one. */
export function TeamSettings({ members }: { readonly members: readonly Member[] }) {
  const [isMaking, setMaking] = useState(false);
  const [isRemoving, setRemoving] = useState(false);
  const it = team.value;
  if (it === undefined) return null;
  const held = projects.value?.length ?? 0;
  return (
    <section class="card">
      <h2>The team</h2>
      <dl class="facts">
        <dt>Team id</dt>
        <dd>
          <code>{it.id}</code>
        </dd>
        <dt>Your role</dt>
        <dd>{it.role}</dd>
      </dl>
      {mayDo("team:write") && <TeamName key={it.name} name={it.name} />}
      <div class="row parts">
        <button type="button" class="button" onClick={() => setMaking(true)}>
          New team
        </button>
        {mayDo("team:owner") && (
          <button
            type="button"
            class="button danger"
            aria-describedby={held > 0 ? "held" : undefined}
            disabled={projects.value === undefined || held > 0}
            onClick={() => setRemoving(true)}
          >
            Remove team
          </button>
        )}
      </div>
      {mayDo("team:owner") && held > 0 && (
        <p class="hint" id="held">
          The team has {held === 1 ? "a project" : `${held} projects`}: it can be removed once{" "}
          {held === 1 ? "that is" : "they are"} removed.
        </p>
      )}
      {isMaking && (
        <Dialog title="New team" isForm onClose={() => setMaking(false)}>
          <p class="lead">It has its own projects, tokens, alerts and members. You are its owner.</p>
          <MakeTeam />
        </Dialog>
      )}
      {isRemoving && (
        <RemoveDialog
          title={`Remove ${it.name}?`}
          typed={typeable(it.name, it.id)}
          button="Remove team"
          onClose={() => setRemoving(false)}
          onRemove={async () => {
            await call("remove_team", { team_id: teamId.value });
            location.assign("/");
          }}
        >
          The team with its {members.length === 1 ? "one member" : `${members.length} members and invites`} and all of
          its tokens are gone for good. <Text text={it.name} /> cannot be restored.
        </RemoveDialog>
      )}
    </section>
  );
}

function TeamName({ name: first }: { readonly name: string }) {
  const [name, setName] = useState(first);
  const sending = useSending(["name"]);
  return (
    <form
      class="inline-form"
      onSubmit={(event) => {
        event.preventDefault();
        void sending.send(async () => {
          const { account, ...rest } = session.value!;
          const changed = name.trim();
          await call("update_team", { team_id: teamId.value, name: changed });
          const teams = account.teams.map((one) => (one.id === teamId.value ? { ...one, name: changed } : one));
          session.value = { ...rest, account: { ...account, teams } };
          say("Saved");
        });
      }}
    >
      <TextField
        label="Name of the team"
        wrong={sending.wrongAt("name") ?? sending.problem}
        {...NOT_BLANK}
        maxLength={100}
        value={name}
        onText={setName}
      />
      <button type="submit" class="button" disabled={sending.isSending || name.trim() === first.trim()}>
        Save
      </button>
    </form>
  );
}
