import type { Kysely } from "kysely";
import { newId } from "./row.ts";
import type { OutboxRow, Tables } from "./tables.ts";

/** What could not be told for so long is told no more. */
const KEPT_MS = 24 * 3_600_000;

/** Puts something to be told into the outbox, from which delivery takes it; what is too old leaves it. */
export async function addToOutbox(
  db: Kysely<Tables>,
  message: Omit<OutboxRow, "id" | "created_at">,
  nowMs: number,
): Promise<void> {
  await db
    .deleteFrom("outbox")
    .where("created_at", "<", new Date(nowMs - KEPT_MS).toISOString())
    .execute();
  await db
    .insertInto("outbox")
    .values({ ...message, id: newId(), created_at: new Date(nowMs).toISOString() })
    .execute();
}
