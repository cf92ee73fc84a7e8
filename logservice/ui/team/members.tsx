import { call } from "../data/call.ts";
import { useEvery } from "../data/every.ts";
import { useLoaded } from "../data/loaded.ts";
import { mayDo, team, teamId } from "../data/session.ts";
import { Shown } from "../kit/state.tsx";
import { Text } from "../kit/text.tsx";
import { CiTokens } from "./ci-tokens.tsx";
import { People } from "./people.tsx";
import { RoleTable } from "./role-table.tsx";
import { TeamSettings } from "./team-settings.tsx";

/** How often the people are asked for while the page is looked at. */
const REFRESH_MS = 15_000;

/** The team: who is in it and who is invited, what each may do, its CI tokens, its name. */
export function Members() {
  const members = useLoaded(async (signal) => (await call("get_members", {}, { signal })).members, []);
  // Somebody may accept an invite meanwhile.
  useEvery(REFRESH_MS, () => void members.load());
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
