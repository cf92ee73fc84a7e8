import { call } from "../data/call.ts";
import { useLoaded } from "../data/loaded.ts";
import { mayDo, team, teamId } from "../data/session.ts";
import { Shown } from "../kit/state.tsx";
import { Text } from "../kit/text.tsx";
import { CiTokens } from "./ci-tokens.tsx";
import { People } from "./people.tsx";
import { RoleTable } from "./role-table.tsx";
import { TeamSettings } from "./team-settings.tsx";

/** The team: who is in it and who is invited, what each may do, its CI tokens, its name. */
export function Members() {
  const members = useLoaded(async (signal) => (await call("get_members", {}, { signal })).members, []);
  return (
    <div class="page">
      <h1 class="of-page">
        <Text text={team.value?.name ?? teamId.value} />: people
      </h1>
      <Shown of={members}>{(all) => <People members={all} reload={members.load} />}</Shown>
      <RoleTable />
      {mayDo("team:write") && <CiTokens />}
      <TeamSettings members={members.value.value ?? []} />
    </div>
  );
}
