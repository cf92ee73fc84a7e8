import type { Kysely } from "kysely";
import type { Tables } from "./tables.ts";

type Db = Kysely<Tables>;

/** The right to evaluate alerts, for one process at a time where several share the records. */
export interface Lease {
  readonly holder: string;
  /** Grows when the lease goes to another holder. What an earlier holder still writes is refused by it. */
  readonly fence: number;
  readonly expiresAtMs: number;
}

/** How long a lease lasts after its last renewal. */
const LEASE_MS = 30_000;

/**
 * Takes or renews the lease. Undefined if another holder has it. One that ends later than it can is not believed: the clock
 * was set back since, and nobody would evaluate until then.
 */
export async function takeLease(db: Db, holder: string, nowMs: number): Promise<Lease | undefined> {
  const row = await readLease(db);
  const before = row?.lease;
  const isTaken = before !== undefined && before.expiresAtMs > nowMs && before.expiresAtMs <= nowMs + LEASE_MS;
  if (isTaken && before.holder !== holder) return undefined;
  const fence = before === undefined ? 1 : before.holder === holder ? before.fence : before.fence + 1;
  const lease = { holder, fence, expiresAtMs: nowMs + LEASE_MS };
  const value = JSON.stringify(lease);
  if (row === undefined) {
    const added = await db
      .insertInto("instance")
      .values({ key: KEY, value })
      .onConflict((conflict) => conflict.column("key").doNothing())
      .executeTakeFirst();
    return Number(added.numInsertedOrUpdatedRows) > 0 ? lease : undefined;
  }
  return (await replace(db, row.value, value)) ? lease : undefined;
}

/**
 * Whether this lease is still held. To be asked first in a transaction: it writes, so that no other process can take the
 * lease before the transaction ends.
 */
export async function holdLease(db: Db, lease: Lease): Promise<boolean> {
  await db
    .updateTable("instance")
    .set((row) => ({ value: row.ref("value") }))
    .where("key", "=", KEY)
    .execute();
  const current = (await readLease(db))?.lease;
  return current?.holder === lease.holder && current.fence === lease.fence;
}

/** Gives the lease up, so that another one need not wait for its end. */
export async function endLease(db: Db, lease: Lease): Promise<void> {
  const row = await readLease(db);
  if (row?.lease.holder !== lease.holder || row.lease.fence !== lease.fence) return;
  const ended: Lease = { holder: "", fence: lease.fence, expiresAtMs: 0 };
  await replace(db, row.value, JSON.stringify(ended));
}

async function readLease(db: Db): Promise<{ readonly value: string; readonly lease: Lease } | undefined> {
  const row = await db.selectFrom("instance").select("value").where("key", "=", KEY).executeTakeFirst();
  return row && { value: row.value, lease: JSON.parse(row.value) as Lease };
}

const KEY = "evaluator_lease";

async function replace(db: Db, before: string, value: string): Promise<boolean> {
  const changed = await db
    .updateTable("instance")
    .set({ value })
    .where("key", "=", KEY)
    .where("value", "=", before)
    .executeTakeFirst();
  return Number(changed.numUpdatedRows) > 0;
}
