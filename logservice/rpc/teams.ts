import { requireNoSubscription } from "../billing/subscriptions.ts";
import { RpcError } from "../error.ts";
import { teamsOf } from "../records/people.ts";
import { hasProjects } from "../records/projects.ts";
import { addTeam, listMembers, removeTeam, renameTeam, setRole } from "../records/teams.ts";
import { endIfTeamless } from "../records/unproven.ts";
import { type Call, changeRecords, type Handlers } from "./call.ts";

/** Teams that a person may be in and still add another one. */
const MOST_TEAMS = 100;

export const teams: Handlers<"get_teams" | "add_team" | "update_team" | "remove_team"> = {
  async get_teams({ records }, _, { grant }) {
    return { teams: await teamsOf(records.db, grant.person!.id) };
  },

  async add_team(service, { id, name }, call) {
    const { targetId } = await changeRecords(service, call, async (db, now) => {
      if ((await teamsOf(db, call.grant.person!.id)).length >= MOST_TEAMS)
        throw new RpcError("conflict", `you are in ${MOST_TEAMS} teams already: leave or remove one first`);
      const team = await addTeam(db, { id: id ?? "", name }, now);
      await setRole(db, { team_id: team, user_id: call.grant.person!.id, role: "owner" }, now, call.grant.id);
      return { teamId: team, targetId: team };
    });
    return { id: targetId };
  },

  async update_team(service, { team_id, name }, call) {
    requireOwnTeam(call, team_id);
    await changeRecords(service, call, async (db, now) => {
      await renameTeam(db, team_id, name, now);
      return { targetId: team_id };
    });
    return undefined;
  },

  async remove_team(service, { team_id }, call) {
    requireOwnTeam(call, team_id);
    await changeRecords(service, call, async (db) => {
      if (await hasProjects(db, team_id)) throw new RpcError("conflict", "the team has projects: remove them first");
      if ((await db.selectFrom("teams").select("id").execute()).length === 1)
        throw new RpcError("conflict", "this is the only team of the service: it stays");
      await requireNoSubscription(db, service, team_id);
      const members = await listMembers(db, team_id);
      await removeTeam(db, team_id);
      for (const member of members) await endIfTeamless(db, member);
      return { targetId: team_id };
    });
    service.exchanges.endIn(team_id);
    return undefined;
  },
};

/** The id is sent, too, so that nobody removes another team than the one that is meant. */
function requireOwnTeam({ grant }: Call, team: string): void {
  if (team !== grant.team) throw new RpcError("not_found", `the request is not about the team ${JSON.stringify(team)}`);
}
