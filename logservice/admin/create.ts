import { addToken } from "../access/tokens.ts";
import { readPublicUrl } from "../account/public-address.ts";
import { OperatorError } from "../error.ts";
import { makeInstanceId } from "../records/instance.ts";
import { firstTeam } from "../records/teams.ts";
import { makeOwner, type PrintedLink, requireAddress } from "./accounts.ts";
import { hasRecords, makeDirectory, refuseLostRecords, withRecords } from "./data-directory.ts";
import { type CreatedToken, SCOPES } from "./tokens.ts";

export interface CreateOptions {
  readonly nowMs: number;
  /** The address of the first person, who owns the first team. */
  readonly owner: string | undefined;
  /** Where the service will be reached. */
  readonly publicUrl: string | undefined;
}

/** Makes a data directory with its records, the token of its owner and, if a person is named, a link for signing in. */
export async function createDataDirectory(
  folder: string,
  { nowMs, owner, publicUrl }: CreateOptions,
): Promise<CreatedToken & { readonly link: PrintedLink | undefined }> {
  if (hasRecords(folder)) {
    const hint = "tool service token add makes more tokens";
    throw new OperatorError(`${folder} is already the data directory of a log service`, { hint });
  }
  if (owner !== undefined) requireAddress(owner);
  if (publicUrl !== undefined) readPublicUrl(publicUrl);
  await refuseLostRecords(folder);
  await makeDirectory(folder);
  return withRecords(folder, ({ db, seal }) =>
    db.transaction().execute(async (db) => {
      await makeInstanceId(db);
      const team = await firstTeam(db);
      const now = new Date(nowMs).toISOString();
      const token = await addToken(db, { team, description: "owner", scopes: SCOPES }, now);
      const link = owner === undefined ? undefined : await makeOwner({ db, seal }, owner, { team, nowMs, publicUrl });
      return { ...token, link };
    }),
  );
}
