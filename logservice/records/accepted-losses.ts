import type { Kysely } from "kysely";
import type { Tables } from "./tables.ts";

/** The ids of the losses of events that were accepted. */
export async function listAcceptedLosses(db: Kysely<Tables>): Promise<ReadonlySet<string>> {
  const rows = await db.selectFrom("accepted_losses").select("id").execute();
  return new Set(rows.map(({ id }) => id));
}

/** Accepts losses: answers stop reporting them. */
export async function acceptLosses(db: Kysely<Tables>, ids: readonly string[], at: string): Promise<void> {
  for (const id of ids) {
    await db
      .insertInto("accepted_losses")
      .values({ id, at })
      .onConflict((conflict) => conflict.column("id").doNothing())
      .execute();
  }
}
