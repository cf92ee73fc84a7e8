import type { Kysely } from "kysely";
import { linkOf } from "../account/links.ts";
import { readPublicUrl } from "../account/public-address.ts";
import { makeSignInLink } from "../account/sign-in-link.ts";
import { OperatorError } from "../error.ts";
import { readEmailAddress } from "../mail/address.ts";
import { writeAudit } from "../records/audit.ts";
import { publicUrl } from "../records/instance.ts";
import { invitesOf } from "../records/invites.ts";
import type { Records } from "../records/open.ts";
import { ensureUser, userOf } from "../records/people.ts";
import { waitingOf } from "../records/sign-ins.ts";
import type { Tables } from "../records/tables.ts";
import { setRole } from "../records/teams.ts";
import { transact } from "../records/transact.ts";
import { type RecordsPlace, requireDataDirectory, withRecords } from "./data-directory.ts";
import { onlyTeam } from "./teams.ts";
import { atTerminal } from "./tokens.ts";

/** A link that signs a person in once. */
export interface PrintedLink {
  readonly link: string;
  /** RFC 3339. */
  readonly expires_at: string;
}

export interface LinkOptions {
  /** Where the service is reached; what it noted when it last ran unless told otherwise. */
  readonly publicUrl: string | undefined;
  readonly nowMs: number;
  /** Where the records are, if not in the folder. */
  readonly records?: RecordsPlace | undefined;
}

/** Where a service is that never ran. */
const DEFAULT_URL = "http://127.0.0.1:5000";

/** Makes a person an owner of a team, and a link for signing in. Throws an OperatorError. */
export async function addOwner(
  folder: string,
  email: string,
  { team: teamId, ...options }: LinkOptions & { readonly team: string | undefined },
): Promise<PrintedLink & { readonly team: string }> {
  await requireDataDirectory(folder, options.records);
  const add = (records: Records) =>
    inTransaction(records, async (inside) => {
      const team = await onlyTeam(inside.db, teamId);
      return { ...(await makeOwner(inside, email, { ...options, team })), team };
    });
  return withRecords(folder, add, { records: options.records });
}

/** The same inside of a transaction of the records, for a team that exists. */
export async function makeOwner(
  records: Pick<Records, "db" | "seal">,
  text: string,
  options: LinkOptions & { readonly team: string },
): Promise<PrintedLink> {
  const { address: email, key: emailKey } = requireAddress(text);
  const { team, nowMs } = options;
  const at = new Date(nowMs).toISOString();
  const user = await ensureUser(records.db, { email, emailKey }, at);
  await setRole(records.db, { team_id: team, user_id: user.id, role: "owner" }, at);
  await writeAudit(records.db, {
    ...atTerminal(at, "add_owner"),
    team_id: team,
    target_id: user.email,
    detail: "owner",
  });
  return makeLink(records, { email: user.email, emailKey }, options);
}

export interface SignInLinks {
  /** Signs in the browser that opens it. */
  readonly own: PrintedLink;
  /** The sign-ins that were begun for the address: the page of each asks for the code that its device shows. */
  readonly waiting: readonly (PrintedLink & {
    readonly device: string;
    readonly address: string;
    readonly at: string;
  })[];
}

/** Links for an address that is known or invited. Throws an OperatorError. */
export async function signInLinks(folder: string, text: string, options: LinkOptions): Promise<SignInLinks> {
  await requireDataDirectory(folder, options.records);
  const { key } = requireAddress(text);
  const now = new Date(options.nowMs).toISOString();
  const make = (records: Records) =>
    inTransaction(records, async (inside) => {
      const { db, seal } = inside;
      const base = await baseOf(db, options.publicUrl);
      const waiting = (await waitingOf(db, key, now)).map(({ id, device, address, created_at: at, expires_at }) => {
        return { device, address, at, expires_at, link: `${base}/sign-in/confirm/${linkOf(seal, "confirm", id)}` };
      });
      const user = await userOf(db, key);
      const [invite] = await invitesOf(db, key, now);
      if (user === undefined && invite === undefined)
        throw new OperatorError(`nobody here has the address ${JSON.stringify(text)}, and nobody invited it`, {
          hint: "tool service owner add makes an owner; members are invited by tool team members add",
        });
      const what = { ...atTerminal(now, "sign_in_link"), target_id: user?.email ?? invite!.email };
      await writeAudit(db, { ...what, team_id: invite?.team_id ?? "" });
      const own =
        user === undefined
          ? { link: `${base}/accept/${linkOf(seal, "join", invite!.id)}`, expires_at: invite!.expires_at }
          : await makeLink(inside, { email: user.email, emailKey: key }, options);
      return { own, waiting };
    });
  return withRecords(folder, make, { records: options.records });
}

function inTransaction<T>(
  { db, seal }: Records,
  work: (records: Pick<Records, "db" | "seal">) => Promise<T>,
): Promise<T> {
  return transact(db, (transaction) => work({ db: transaction, seal }));
}

/** Reads an address. Throws an OperatorError. */
export function requireAddress(text: string) {
  const email = readEmailAddress(text);
  if (email !== undefined) return email;
  throw new OperatorError(`${JSON.stringify(text)} is not an email address`, { hint: "write it as name@example.com" });
}

async function makeLink(
  records: Pick<Records, "db" | "seal">,
  person: { readonly email: string; readonly emailKey: string },
  { publicUrl: url, nowMs }: LinkOptions,
): Promise<PrintedLink> {
  const base = await baseOf(records.db, url);
  const address = { link: (path: string) => `${base}${path}` };
  return makeSignInLink({ records, account: { address } }, person, nowMs);
}

async function baseOf(db: Kysely<Tables>, named: string | undefined): Promise<string> {
  if (named !== undefined) return readPublicUrl(named).origin;
  const noted = await publicUrl(db);
  if (noted !== "") return noted ?? DEFAULT_URL;
  throw new OperatorError("the service has no address for people", {
    hint: "start it with --public-url, or name the address here with --public-url",
  });
}
