import { useState } from "preact/hooks";
import type { Member } from "../../../schema/rpc.generated.ts";
import { call } from "../data/call.ts";
import { useLoaded } from "../data/loaded.ts";
import { mayDo, team, teamId } from "../data/session.ts";
import { Dialog } from "../kit/dialog.tsx";
import { RemoveDialog } from "../kit/remove-dialog.tsx";
import { Text } from "../kit/text.tsx";
import { say } from "../kit/toasts.tsx";
import { TokenNames } from "./tokens-left.tsx";

export interface RemovePersonProps {
  readonly member: Member;
  /** Whether the person removes themselves. */
  readonly isSelf: boolean;
  readonly isLastOwner: boolean;
  /** With the ids of the tokens that the person made and that still work. */
  onRemoved(tokens: readonly string[]): Promise<void>;
  onClose(): void;
}

/** Removes a person from the team, and the tokens that the person made if that is wanted. */
export function RemovePerson({ member, isSelf, isLastOwner, onRemoved, onClose }: RemovePersonProps) {
  const [isWithTokens, setWithTokens] = useState(false);
  const maySeeTokens = mayDo("team:write");
  const made = useLoaded(
    async (signal) =>
      maySeeTokens
        ? (await call("get_ci_tokens", {}, { signal })).tokens.filter(({ created_by }) => created_by === member.email)
        : [],
    [],
  );
  const name = <Text text={team.value?.name ?? teamId.value} />;
  if (isLastOwner)
    return (
      <Dialog title={isSelf ? "You are the last owner" : "This is the last owner"} onClose={onClose}>
        <p class="lead">
          A team has at least one owner. Make somebody else an owner of {name} first
          {isSelf ? ", or remove the team." : "."}
        </p>
        <div class="row end">
          <button type="button" class="button primary" onClick={onClose}>
            Close
          </button>
        </div>
      </Dialog>
    );
  const ciTokens = (made.value.value ?? []).map(({ id, name }) => ({ id, name, kind: "CI" as const }));
  return (
    <RemoveDialog
      title={isSelf ? "Leave the team?" : "Remove this member?"}
      button={isSelf ? "Leave team" : "Remove member"}
      onClose={onClose}
      onRemove={async () => {
        const { tokens } = await call("remove_member", { email: member.email, tokens: isWithTokens });
        // The page shows a team that is no longer the person's.
        if (isSelf) return location.assign("/");
        say(`${member.email} was removed`);
        await onRemoved(tokens);
      }}
    >
      <p>
        {isSelf ? (
          <>You see nothing of {name} any more. To come back, you must be invited again.</>
        ) : (
          <>
            <Text text={member.email} /> sees nothing of {name} any more. What runs for this person ends at once:
            windows, terminals and streams.
          </>
        )}
      </p>
      {ciTokens.length > 0 && (
        <>
          <p>CI tokens that {isSelf ? "you" : "this member"} created:</p>
          <TokenNames tokens={ciTokens} />
        </>
      )}
      <label class="check">
        <input
          type="checkbox"
          checked={isWithTokens}
          onChange={(event) => setWithTokens(event.currentTarget.checked)}
        />
        <span>
          Also remove the API and CI tokens that {isSelf ? "you" : "this member"} created: programs that use them are
          refused at once. Those that may make other tokens are removed in any case.
        </span>
      </label>
    </RemoveDialog>
  );
}
