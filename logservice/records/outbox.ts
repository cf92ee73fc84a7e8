import type { Kysely } from "kysely";
import { newId } from "./row.ts";
import type { OutboxRow, Tables } from "./tables.ts";

/** Messages that could not be delivered for this long are dropped. */
const KEPT_MS = 24 * 3_600_000;

/** Adds a message to the outbox, from which it will be delivered, and drops messages that are too old. */
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
