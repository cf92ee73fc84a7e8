import { addToken } from "../access/tokens.ts";
import { OperatorError } from "../error.ts";
import { makeInstanceId } from "../records/instance.ts";
import { firstTeam } from "../records/teams.ts";
import { hasRecords, makeDirectory, refuseLostRecords, withRecords } from "./data-directory.ts";
import { type NewToken, SCOPES } from "./tokens.ts";

/** Makes a data directory with its records, and the token of its owner. */
export async function createDataDirectory(folder: string, nowMs: number): Promise<NewToken> {
  if (hasRecords(folder)) {
    const hint = "tool service token add makes more tokens";
    throw new OperatorError(`${folder} is already the data directory of a log service`, { hint });
  }
  await refuseLostRecords(folder);
  await makeDirectory(folder);
  return withRecords(folder, ({ db }) =>
    db.transaction().execute(async (db) => {
      await makeInstanceId(db);
      const team = await firstTeam(db);
      return addToken(db, { team, description: "owner", scopes: SCOPES }, new Date(nowMs).toISOString());
    }),
  );
}
