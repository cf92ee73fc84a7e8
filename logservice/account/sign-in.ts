import { createHash, randomBytes, randomInt } from "node:crypto";
import type { Kysely } from "kysely";
import { newToken, tokenHash } from "../access/token.ts";
import { addToken } from "../access/tokens.ts";
import { RpcError } from "../error.ts";
import { readEmailAddress } from "../mail/address.ts";
import { noteWrongCode, writeAudit } from "../records/audit.ts";
import { invitesOf } from "../records/invites.ts";
import type { Records } from "../records/open.ts";
import { ensureUser, linkIdentity, type TeamOf, teamsOf, userOf } from "../records/people.ts";
import { addSession } from "../records/sessions.ts";
import {
  addSignIn,
  confirmOne,
  endOfSecret,
  removeSignIn,
  signInOf,
  signInOfSecret,
  takeTry,
  waitingOf,
} from "../records/sign-ins.ts";
import type { SignInKind, SignInRow, Tables, UserRow } from "../records/tables.ts";
import { transact } from "../records/transact.ts";
import { acceptInvite } from "./invites.ts";
import { idOfLink, isEqual } from "./links.ts";
import type { SignInLimits } from "./sign-in-limits.ts";
import { mayComeIn, type SignUp } from "./sign-up.ts";

/** The parts of the service that signing in works on. */
export interface Entrance {
  readonly records: Records;
  readonly account: {
    readonly signUp: SignUp;
    readonly limits: SignInLimits;
    readonly mails: { kick(): void } | undefined;
  };
  nowMs(): number;
}

/** How long a link and its code can be used. */
const LASTS_MS = 15 * 60_000;
/** Seconds between two looks of whoever waits. */
export const POLL_SECONDS = 2;

export interface Asker {
  readonly kind: Exclude<SignInKind, "link">;
  /** The name that it gives itself, for the mail. */
  readonly device: string;
  readonly address: string;
  /** Its secret of an earlier attempt, which ends. */
  readonly earlier?: string | undefined;
  /** The name of the invite or the browser that speaks for it; see SignInLimits. */
  readonly proof?: string | undefined;
}

export interface BegunSignIn {
  /** By which whoever asked learns the result; stored nowhere. */
  readonly secret: string;
  readonly row: SignInRow;
}

/**
 * Begins to sign in. Does the same for every address: that it may not come in is found out when the mail is written.
 * Throws `invalid` and `rate_limited`.
 */
export async function beginSignIn(
  { records: { db }, account, nowMs }: Entrance,
  request: { readonly email: string; readonly team?: string; readonly identity?: string },
  { kind, device, address, earlier, proof }: Asker,
): Promise<BegunSignIn> {
  const email = requireEmail(request.email);
  await account.limits.take(db, email.key, address, proof);
  if (earlier !== undefined) await endOfSecret(db, secretHash(earlier));
  const secret = randomBytes(32).toString("base64url");
  const row = await addSignIn(
    db,
    {
      kind,
      email: email.address,
      email_key: email.key,
      secret_hash: secretHash(secret),
      code: String(randomInt(1_000_000)).padStart(6, "0"),
      ...{ device, address, team_id: request.team ?? "", identity: request.identity ?? "", unproven: 0 },
    },
    { nowMs: nowMs(), lastsMs: LASTS_MS },
  );
  account.mails?.kick();
  return { secret, row };
}

/** Reads an address. Throws `invalid`. */
export function requireEmail(text: string) {
  const email = readEmailAddress(text);
  if (email === undefined) throw new RpcError("invalid", "email: is not an email address");
  return email;
}

/** A SHA-256 is enough for secrets of this entropy. */
export const secretHash = (secret: string) => createHash("sha256").update(secret).digest("hex");

/** The sign-in that a link leads to, if it still waits. Throws `not_found`. */
export async function signInOfLink({ records, nowMs }: Entrance, link: string): Promise<SignInRow> {
  const id = idOfLink(records.seal, "confirm", link);
  const row = id === undefined ? undefined : await signInOf(records.db, id, new Date(nowMs()).toISOString());
  if (row?.status !== "waiting" || row.tries_left === 0) throw ENDED;
  return row;
}

const ENDED = new RpcError("not_found", "this link has expired or was already used: ask for a new one");

/**
 * Confirms a sign-in by the code that whoever asked sees: otherwise somebody who begins to sign in as another person would
 * only have to wait for that person's click. A try counts before the code is looked at. Throws `not_found` and `invalid`.
 */
export async function confirmSignIn(
  entrance: Entrance,
  link: string,
  code: string,
  address: string,
): Promise<SignInRow> {
  const { records, account, nowMs } = entrance;
  const row = await signInOfLink(entrance, link);
  if (!(await takeTry(records.db, row.id))) throw ENDED;
  if (!isEqual(code.replace(/\s/g, ""), row.code)) {
    await noteWrongSignInCode(entrance, row.email_key, { actor: row.email, address, target_id: row.id });
    const left = row.tries_left - 1;
    if (left <= 0) throw new RpcError("not_found", "that was the last try with a wrong code: ask for a new link");
    throw new RpcError("invalid", `code: is another one; ${left === 1 ? "1 try is" : `${left} tries are`} left`);
  }
  const now = new Date(nowMs()).toISOString();
  if (!(await mayComeIn(records.db, account.signUp, row.email_key, now))) throw ENDED;
  await confirmRow(entrance, row, { at: now, address });
  return row;
}

/**
 * Confirms the command that shows a code, for whoever is signed in as its address by a session: where no mails are sent, a
 * person cannot prove it otherwise. What comes of it is worth no more than that session. Not for windows: those may link an
 * identity of OpenID, which would stay. Throws `invalid`.
 */
export async function confirmBySession(
  entrance: Entrance,
  { email, emailKey, unproven }: { readonly email: string; readonly emailKey: string; readonly unproven: number },
  code: string,
  address: string,
): Promise<SignInRow> {
  const { records, nowMs } = entrance;
  const at = new Date(nowMs()).toISOString();
  const waiting = await waitingOf(records.db, emailKey, at);
  const typed = code.replace(/\s/g, "");
  const row = waiting.find(({ kind, code }) => kind === "command" && isEqual(typed, code));
  if (row === undefined) {
    await noteWrongSignInCode(entrance, emailKey, { actor: email, address, target_id: "" });
    throw new RpcError("invalid", "code: nothing that waits to sign in as this address shows this code");
  }
  await confirmRow(entrance, { ...row, unproven }, { at, address });
  return row;
}

/** Counts a wrong code in the audit of each team of the address. */
async function noteWrongSignInCode(
  { records, nowMs }: Entrance,
  emailKey: string,
  who: { readonly actor: string; readonly address: string; readonly target_id: string },
): Promise<void> {
  const at = new Date(nowMs()).toISOString();
  await transact(records.db, async (db) => {
    const user = await userOf(db, emailKey);
    const teams = user === undefined ? [] : (await teamsOf(db, user.id)).map(({ id }) => id);
    for (const team_id of teams.length === 0 ? [""] : teams)
      await noteWrongCode(db, { ...who, at, team_id, operation: "confirm_sign_in", project_id: "" });
  });
}

async function confirmRow(
  { records }: Entrance,
  row: SignInRow,
  { at: now, address }: { readonly at: string; readonly address: string },
): Promise<void> {
  await transact(records.db, async (db) => {
    if (!(await confirmOne(db, row))) throw ENDED;
    const user = await ensureUser(db, { email: row.email, emailKey: row.email_key }, now);
    if (row.identity !== "") await linkIdentity(db, user.id, JSON.parse(row.identity), now);
    // Whoever came in by a link that another person may have kept needs the link of the invite, too.
    if (row.team_id !== "" && row.unproven === 0) await acceptOwnInvite(db, user, row.team_id, { at: now, address });
    await noteSignIn(db, user, { at: now, address, askedFrom: row.address, target: row.id });
  });
}

/** Whoever asked for a team by its id and proved the address has accepted its invite. */
async function acceptOwnInvite(
  db: Kysely<Tables>,
  user: UserRow,
  team: string,
  { at, address }: { readonly at: string; readonly address: string },
): Promise<void> {
  const invite = (await invitesOf(db, user.email_key, at)).find(({ team_id }) => team_id === team);
  if (invite === undefined) return;
  await acceptInvite(db, invite, user, { now: at });
  // As if the page of the invite had been used.
  const what = { operation: "accept_invite", project_id: "", target_id: user.email, detail: invite.role } as const;
  await writeAudit(db, { ...what, at, team_id: team, actor: user.email, address, result: "done" });
}

/** Writes into the audit of each team of a person that they signed in, and from which other address they had asked to. */
export async function noteSignIn(
  db: Kysely<Tables>,
  user: UserRow,
  {
    at,
    address,
    askedFrom = address,
    target,
  }: { readonly at: string; readonly address: string; readonly askedFrom?: string; readonly target: string },
): Promise<void> {
  const teams = (await teamsOf(db, user.id)).map(({ id }) => id);
  for (const team_id of teams.length === 0 ? [""] : teams) {
    const what = { at, team_id, actor: user.email, project_id: "", target_id: target, result: "done" } as const;
    if (askedFrom !== address) await writeAudit(db, { ...what, operation: "start_sign_in", address: askedFrom });
    await writeAudit(db, { ...what, operation: "confirm_sign_in", address });
  }
}

/** Ends a sign-in that its link's owner did not ask for. */
export async function denySignIn(entrance: Entrance, link: string): Promise<SignInRow> {
  const row = await signInOfLink(entrance, link);
  await removeSignIn(entrance.records.db, row.id);
  return row;
}

/** The sign-in that the holder of a secret asked for; undefined if it has ended. */
export async function signInOfAsker({ records, nowMs }: Entrance, secret: string): Promise<SignInRow | undefined> {
  return signInOfSecret(records.db, secretHash(secret), new Date(nowMs()).toISOString());
}

export interface Entered {
  readonly user: UserRow;
  readonly teams: readonly TeamOf[];
}

/** Who a confirmed sign-in lets in. */
async function enteredBy(db: Kysely<Tables>, row: SignInRow): Promise<Entered | undefined> {
  const user = row.status === "confirmed" ? await userOf(db, row.email_key) : undefined;
  return user && { user, teams: await teamsOf(db, user.id) };
}

export interface EnteredByToken extends Entered {
  /** Undefined if the person is not in the team that was asked for, or in none. */
  readonly token: string | undefined;
  readonly team: string | undefined;
}

/**
 * The token of a confirmed sign-in on the command line, for the team that was asked for or the first. It is made from the
 * sign-in's own secret: an answer that was lost can be asked for again, and gives the same one.
 */
export async function tokenOfSignIn(
  { records, nowMs }: Entrance,
  row: SignInRow,
  secret: string,
): Promise<EnteredByToken | undefined> {
  return transact(records.db, async (db) => {
    const entered = await enteredBy(db, row);
    if (entered === undefined) return undefined;
    const { user, teams } = entered;
    const team = row.team_id === "" ? teams[0]?.id : teams.find(({ id }) => id === row.team_id)?.id;
    if (team === undefined) return { ...entered, token: undefined, team };
    let round = 0;
    const token = newToken(() =>
      Buffer.from(records.seal.sign(`${row.id} ${secret} ${round++}`, "token"), "base64url"),
    );
    const existing = await db.selectFrom("tokens").select("id").where("hash", "=", tokenHash(token)).executeTakeFirst();
    if (existing === undefined) {
      const description = row.device;
      await addToken(
        db,
        { team, kind: "command", by: user.id, description, scopes: [], secret: token, isUnproven: row.unproven === 1 },
        new Date(nowMs()).toISOString(),
      );
    }
    return { ...entered, token, team };
  });
}

export interface NewSession {
  readonly device: string;
  readonly address: string;
  readonly nowMs: number;
  /** 1 if nothing but a link that another person handed over speaks for it. */
  readonly unproven?: number;
}

/** Opens a session for a person and gives its secret, for the cookie. */
export async function openSession(
  db: Kysely<Tables>,
  user: UserRow,
  { device, address, nowMs, unproven = 0 }: NewSession,
): Promise<string> {
  const secret = randomBytes(32).toString("base64url");
  await addSession(db, { hash: secretHash(secret), user_id: user.id, device, address, unproven }, nowMs);
  return secret;
}

/** The session of a confirmed sign-in in a window, once: the sign-in ends with it. */
export async function sessionOfSignIn(
  { records, nowMs }: Entrance,
  row: SignInRow,
): Promise<(Entered & { readonly secret: string }) | undefined> {
  return transact(records.db, async (db) => {
    const entered = await enteredBy(db, row);
    if (entered === undefined || !(await removeSignIn(db, row.id))) return undefined;
    const { device, address, unproven } = row;
    return { ...entered, secret: await openSession(db, entered.user, { device, address, nowMs: nowMs(), unproven }) };
  });
}

/** The session of a link that was printed on the machine, once. Throws `not_found`. */
export async function enterByLink(
  { records, nowMs }: Entrance,
  row: SignInRow,
  { device, address }: { readonly device: string; readonly address: string },
): Promise<string> {
  return transact(records.db, async (db) => {
    const user = await userOf(db, row.email_key);
    if (user === undefined || !(await removeSignIn(db, row.id))) throw ENDED;
    const isElsewhere = (await teamsOf(db, user.id)).some(({ id }) => id !== row.team_id);
    // An admin of one team made it, and may not come into another one.
    if (row.team_id !== "" && isElsewhere) throw ENDED;
    await noteSignIn(db, user, { at: new Date(nowMs()).toISOString(), address, target: row.id });
    return openSession(db, user, { device, address, nowMs: nowMs(), unproven: row.unproven });
  });
}
