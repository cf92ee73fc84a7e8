import type { Kysely } from "kysely";
import type { Tables } from "../records/tables.ts";
import { firstTeam } from "../records/teams.ts";
import type { Grant } from "./grant.ts";

/** Whether a request is sent by whoever runs the installation: an owner, in person, of the team that it began with. */
export async function isInstallationOwner(db: Kysely<Tables>, { scopes, team }: Grant): Promise<boolean> {
  return scopes.has("team:owner") && team === (await firstTeam(db));
}
