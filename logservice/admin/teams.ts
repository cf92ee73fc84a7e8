import type { Kysely } from "kysely";
import { OperatorError } from "../error.ts";
import type { Tables } from "../records/tables.ts";
import { listTeams } from "../records/teams.ts";

/** The team that was named, or the only one. Throws an OperatorError if it is not known which. */
export async function onlyTeam(db: Kysely<Tables>, teamId: string | undefined): Promise<string> {
  const ids = (await listTeams(db)).map(({ id }) => id);
  if (teamId !== undefined && ids.includes(teamId)) return teamId;
  const hint = `there are ${ids.join(", ")}`;
  if (teamId !== undefined) throw new OperatorError(`there is no team ${JSON.stringify(teamId)}`, { hint });
  if (ids.length === 1) return ids[0]!;
  throw new OperatorError("there are several teams: name one with --team", { hint });
}
