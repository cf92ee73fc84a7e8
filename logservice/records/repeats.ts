import type { Kysely } from "kysely";
import type { RepeatRow, Tables } from "./tables.ts";
import { transact } from "./transact.ts";

/**
 * Claims a request for whoever runs it first, and removes what is older than `lastsMs`. Returns undefined if it was claimed, or
 * what another one has claimed or answered.
 */
export function claimRepeat(
  db: Kysely<Tables>,
  { hash, made_ms }: Claim,
  lastsMs: number,
): Promise<RepeatRow | undefined> {
  return transact(db, async (db) => {
    // Also what a clock that was set back made later than now.
    await db
      .deleteFrom("repeats")
      .where((where) => where.or([where("made_ms", "<", made_ms - lastsMs), where("made_ms", ">", made_ms + lastsMs)]))
      .execute();
    const earlier = await db.selectFrom("repeats").selectAll().where("hash", "=", hash).executeTakeFirst();
    if (earlier === undefined) await db.insertInto("repeats").values({ hash, made_ms, answer: "" }).execute();
    return earlier;
  });
}

type Claim = Pick<RepeatRow, "hash" | "made_ms">;

/** Keeps the answer, sealed, of a request that was claimed. Returns whether its claim was there. */
export async function answerRepeat(db: Kysely<Tables>, { hash, made_ms }: Claim, answer: string): Promise<boolean> {
  const { numUpdatedRows } = await db
    .updateTable("repeats")
    .set({ answer })
    .where("hash", "=", hash)
    .where("made_ms", "=", made_ms)
    .executeTakeFirst();
  return numUpdatedRows > 0n;
}

/** Lets the request run again. */
export async function releaseRepeat(db: Kysely<Tables>, { hash, made_ms }: Claim): Promise<void> {
  await db.deleteFrom("repeats").where("hash", "=", hash).where("made_ms", "=", made_ms).execute();
}
