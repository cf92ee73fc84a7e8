import { addToken } from "../access/tokens.ts";
import { readPublicUrl } from "../account/public-address.ts";
import { OperatorError } from "../error.ts";
import { instanceId, makeInstanceId } from "../records/instance.ts";
import type { Records } from "../records/open.ts";
import { placeName } from "../records/postgres/place.ts";
import { nameFirstTeam, slugOf } from "../records/teams.ts";
import { transact } from "../records/transact.ts";
import { makeOwner, type PrintedLink, requireAddress } from "./accounts.ts";
import {
  hasRecords,
  makeDirectory,
  noteElsewhere,
  type RecordsPlace,
  refuseElsewhere,
  refuseLostRecords,
  refuseTwoRecords,
  withRecords,
} from "./data-directory.ts";
import { type CreatedToken, SCOPES } from "./tokens.ts";

export interface CreateOptions {
  readonly nowMs: number;
  /** Gives the name of the first team. Asked for when it is certain that the directory can be made. */
  readonly team: () => Promise<string>;
  /** The address of the first person, who owns the first team. */
  readonly owner: string | undefined;
  /** Where the service will be reached. */
  readonly publicUrl: string | undefined;
  /** Where the records will be, if not in the folder. */
  readonly records?: RecordsPlace | undefined;
}

/** Makes a data directory with its records, the token of its owner and, if a person is named, a link for signing in. */
export async function createDataDirectory(
  folder: string,
  { nowMs, team: teamName, owner, publicUrl, records }: CreateOptions,
): Promise<CreatedToken & { readonly link: PrintedLink | undefined }> {
  await (records === undefined ? refuseElsewhere(folder) : refuseTwoRecords(folder));
  if (hasRecords(folder)) throw alreadyMade(folder);
  if (owner !== undefined) requireAddress(owner);
  if (publicUrl !== undefined) readPublicUrl(publicUrl);
  await refuseLostRecords(folder);
  const name = (await teamName()).trim();
  requireTeamName(name);
  await makeDirectory(folder);
  const fill = ({ db, seal }: Records) =>
    transact(db, async (db) => {
      // Another process may have made it meanwhile.
      if ((await instanceId(db)) !== undefined)
        throw alreadyMade(records === undefined ? folder : placeName(records.postgres));
      await makeInstanceId(db);
      const now = new Date(nowMs).toISOString();
      const team = await nameFirstTeam(db, name, now);
      const token = await addToken(db, { team, description: "owner", scopes: SCOPES }, now);
      const link = owner === undefined ? undefined : await makeOwner({ db, seal }, owner, { team, nowMs, publicUrl });
      return { ...token, link };
    });
  const made = await withRecords(folder, fill, { records, mayBeEmpty: true });
  if (records !== undefined) await noteElsewhere(folder, records);
  return made;
}

const alreadyMade = (place: string) =>
  new OperatorError(`${place} is already the data directory of a log service`, {
    hint: "tool service token add makes more tokens",
  });

/** As long as a name that `add_team` takes. */
const LONGEST_NAME = 100;

/** Throws an OperatorError if a team cannot have the name. */
function requireTeamName(name: string): void {
  const hint = "write it as Acme, or Night Shift: its id is made from the name";
  if (slugOf(name) === "")
    throw new OperatorError(`the name of a team needs a letter of a to z or a digit: ${JSON.stringify(name)}`, {
      hint,
    });
  if (name.length > LONGEST_NAME)
    throw new OperatorError(`the name of a team has at most ${LONGEST_NAME} characters`, { hint });
}
