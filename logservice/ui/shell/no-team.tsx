import { session } from "../data/session.ts";
import { late } from "../kit/late.tsx";

const MakeTeam = late(() => import("../team/make-team.tsx").then(({ MakeTeam }) => MakeTeam));

/** For a person who is in no team: make one, or wait for an invite. */
export function NoTeam() {
  return (
    <div class="page narrow">
      <h1>You are in no team yet</h1>
      <p class="lead">
        An admin of a team can invite {session.value!.account.email}: open the invite link then. Or create a team of
        your own: it has its own projects, tokens and alerts.
      </p>
      <MakeTeam />
    </div>
  );
}
