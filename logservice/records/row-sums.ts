// A checksum in each row that decides what somebody may do: SQLite has none, and a bit that flips on the disk would be believed.
import { crc32 } from "node:zlib";
import type { Kysely } from "kysely";
import type { MembershipRow, Tables, TokenRow } from "./tables.ts";

/** The checksum of a token's row: of all its other columns. */
export const tokenSum = (row: Omit<TokenRow, "sum">): number =>
  sumOf([
    ...[row.id, row.hash, row.team_id, row.kind, row.created_by, row.description, row.scopes],
    ...[row.created_at, row.last_used_at, row.expires_at, row.unproven],
    // Rows that are older than these columns have sums without them; while those are migrated they are undefined.
    ...(row.project_id || row.stage ? [row.project_id, row.stage] : []),
  ]);

/** The checksum of a membership's row: of all its other columns. */
export const membershipSum = (row: Omit<MembershipRow, "sum">): number =>
  sumOf([row.team_id, row.user_id, row.role, row.created_at]);

/** Databases hold texts as UTF-8, which has no half of a surrogate pair: it is read back as U+FFFD. */
const sumOf = (values: readonly (string | number | null)[]) =>
  crc32(
    JSON.stringify(values.map((one) => (typeof one === "string" ? one.replace(/\p{Surrogate}/gu, "\ufffd") : one))),
  );

/** The tables as this file changes them, which writes each sum. */
export interface SummedTables {
  tokens: TokenRow;
  memberships: MembershipRow;
}

/** The records with the two tables as they are: whoever changes a row without its sum damages it. */
export const summed = (db: Kysely<Tables>) => db as unknown as Kysely<SummedTables>;

/** Changes columns of a token's row, and its sum. */
export async function changeToken(
  db: Kysely<Tables>,
  row: TokenRow,
  change: Partial<Omit<TokenRow, "id" | "sum">>,
): Promise<void> {
  const values = { ...change, sum: tokenSum({ ...row, ...change }) };
  await summed(db).updateTable("tokens").set(values).where("id", "=", row.id).execute();
}

/** Writes a membership's row in place of the one of that person in that team, and its sum. */
export async function putMembership(db: Kysely<Tables>, row: Omit<MembershipRow, "sum">): Promise<void> {
  const values = { ...row, sum: membershipSum(row) };
  await summed(db)
    .insertInto("memberships")
    .values(values)
    .onConflict((conflict) => conflict.columns(["team_id", "user_id"]).doUpdateSet(values))
    .execute();
}

/** Whether a token's row is as it was written. */
export const isWholeToken = (row: TokenRow): boolean => row.sum === tokenSum(row);

/** Whether a membership's row is as it was written. */
export const isWholeMembership = (row: MembershipRow): boolean => row.sum === membershipSum(row);

/** A row that is not as it was written: nothing of it is believed. */
export interface DamagedRow {
  readonly table: "tokens" | "memberships";
  /** The row for people, with its public id or address. */
  readonly name: string;
  /** The consequence of it, and the remedy. */
  readonly detail: string;
}

/** All damaged rows, in the order of their ids. */
export async function damagedRows(db: Kysely<Tables>): Promise<DamagedRow[]> {
  const tokens = await db.selectFrom("tokens").selectAll().orderBy("id").execute();
  const members = await db
    .selectFrom("memberships")
    .leftJoin("users", "users.id", "memberships.user_id")
    .selectAll("memberships")
    .select("users.email")
    .orderBy("memberships.user_id")
    .orderBy("memberships.team_id")
    .execute();
  return [
    ...tokens
      .filter((row) => !isWholeToken(row))
      .map(({ id }) => ({
        table: "tokens" as const,
        name: `the token ${id}`,
        detail: "its row is damaged, so it is refused: remove it and make another one",
      })),
    ...members
      .filter((row) => !isWholeMembership(row))
      .map(({ email, user_id, team_id }) => ({
        table: "memberships" as const,
        name: `${email ?? user_id} in the team ${team_id}`,
        detail:
          "the row is damaged, so it gives no rights: set the member's role again, or that of an owner by tool service owner add",
      })),
  ];
}
