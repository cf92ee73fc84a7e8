import { call } from "../data/call.ts";
import { useEvery } from "../data/every.ts";
import { useLoaded } from "../data/loaded.ts";
import { mayDo } from "../data/session.ts";
import { WhenLoaded } from "../kit/state.tsx";
import { CiTokens } from "./ci-tokens.tsx";
import { People } from "./people.tsx";
import { RoleTable } from "./role-table.tsx";
import { Subscription } from "./subscription.tsx";
import { lacksPro } from "./subscription-state.ts";
import { TeamSettings } from "./team-settings.tsx";

/** How often the people are asked for while the page is looked at. */
const REFRESH_MS = 15_000;

/** The team: who is in it and who is invited, what each may do, its CI tokens, its subscription, its name. */
export function Members() {
  const members = useLoaded(async (signal) => (await call("get_members", {}, { signal })).members, []);
  // Somebody may accept an invite meanwhile.
  useEvery(REFRESH_MS, () => void members.load());
  const subscription = useLoaded((signal) => call("get_subscription", {}, { signal }), []);
  return (
    <div class="page">
      <header>
        <h1>Members</h1>
      </header>
      <WhenLoaded of={members}>
        {(all) => <People members={all} isWithoutPro={lacksPro(subscription.value.value)} reload={members.load} />}
      </WhenLoaded>
      <RoleTable />
      {mayDo("team:write") && <CiTokens />}
      <Subscription of={subscription} />
      <TeamSettings members={members.value.value ?? []} />
    </div>
  );
}
