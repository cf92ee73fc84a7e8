import type { Kysely } from "kysely";
import { newId } from "./row.ts";
import type { SignInRow, Tables } from "./tables.ts";

type Db = Kysely<Tables>;

/** Wrong codes after which a sign-in ends. */
const TRIES = 5;

/** Adds a sign-in that waits, and removes those that have ended. The audit has what matters of them. */
export async function addSignIn(
  db: Db,
  signIn: Omit<SignInRow, "id" | "tries_left" | "status" | "created_at" | "expires_at" | "mailed_at">,
  { nowMs, lastsMs }: { readonly nowMs: number; readonly lastsMs: number },
): Promise<SignInRow> {
  const time = (ms: number) => new Date(ms).toISOString();
  await db.deleteFrom("sign_ins").where("expires_at", "<=", time(nowMs)).execute();
  const row: SignInRow = {
    ...signIn,
    id: `sig_${newId()}`,
    tries_left: TRIES,
    status: "waiting",
    created_at: time(nowMs),
    expires_at: time(nowMs + lastsMs),
    mailed_at: null,
  };
  await db.insertInto("sign_ins").values(row).execute();
  return row;
}

/** The sign-in of this id, if it has not expired. */
export function signInOf(db: Db, id: string, now: string): Promise<SignInRow | undefined> {
  return db.selectFrom("sign_ins").selectAll().where("id", "=", id).where("expires_at", ">", now).executeTakeFirst();
}

/** The sign-in whose asker holds the secret with this hash, if it has not expired. */
export function signInOfSecret(db: Db, hash: string, now: string): Promise<SignInRow | undefined> {
  return db
    .selectFrom("sign_ins")
    .selectAll()
    .where("secret_hash", "=", hash)
    .where("expires_at", ">", now)
    .executeTakeFirst();
}

/** The sign-ins of an address that wait. */
export function waitingOf(db: Db, emailKey: string, now: string): Promise<SignInRow[]> {
  return db
    .selectFrom("sign_ins")
    .selectAll()
    .where("email_key", "=", emailKey)
    .where("status", "=", "waiting")
    .where("kind", "!=", "link")
    .where("expires_at", ">", now)
    .orderBy("created_at")
    .execute();
}

/** Those that wait and whose mail is not sent yet. */
export function unmailedSignIns(db: Db, now: string): Promise<SignInRow[]> {
  return db
    .selectFrom("sign_ins")
    .selectAll()
    .where("status", "=", "waiting")
    .where("kind", "!=", "link")
    .where("mailed_at", "is", null)
    .where("expires_at", ">", now)
    .execute();
}

export async function noteSignInMailed(db: Db, id: string, now: string): Promise<void> {
  await db.updateTable("sign_ins").set({ mailed_at: now }).where("id", "=", id).execute();
}

/** Ends the one that waits for the holder of the secret with this hash. */
export async function endOfSecret(db: Db, hash: string): Promise<void> {
  await db.deleteFrom("sign_ins").where("secret_hash", "=", hash).where("status", "=", "waiting").execute();
}

/** Takes one of the tries that are left. Returns false if there is none, or the sign-in does not wait any more. */
export async function takeTry(db: Db, id: string): Promise<boolean> {
  const { numUpdatedRows } = await db
    .updateTable("sign_ins")
    .set((row) => ({ tries_left: row("tries_left", "-", 1) }))
    .where("id", "=", id)
    .where("status", "=", "waiting")
    .where("tries_left", ">", 0)
    .executeTakeFirst();
  return numUpdatedRows > 0n;
}

/** Confirms one that waits and ends all others of its address. Returns false if it does not wait any more. */
export async function confirmOne(
  db: Db,
  { id, email_key, unproven }: Pick<SignInRow, "id" | "email_key" | "unproven">,
): Promise<boolean> {
  const { numUpdatedRows } = await db
    .updateTable("sign_ins")
    .set({ status: "confirmed", unproven })
    .where("id", "=", id)
    .where("status", "=", "waiting")
    .executeTakeFirst();
  if (numUpdatedRows === 0n) return false;
  await db.deleteFrom("sign_ins").where("email_key", "=", email_key).where("status", "=", "waiting").execute();
  return true;
}

export async function removeSignIn(db: Db, id: string): Promise<boolean> {
  const { numDeletedRows } = await db.deleteFrom("sign_ins").where("id", "=", id).executeTakeFirst();
  return numDeletedRows > 0n;
}

/** Ends the links of an address that let in whoever holds them. */
export async function endLinksOf(db: Db, emailKey: string): Promise<void> {
  await db.deleteFrom("sign_ins").where("email_key", "=", emailKey).where("kind", "=", "link").execute();
}

/** Ends all sign-ins of an address. */
export async function endSignInsOf(db: Db, emailKey: string): Promise<void> {
  await db.deleteFrom("sign_ins").where("email_key", "=", emailKey).execute();
}
