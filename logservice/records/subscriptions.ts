import type { Kysely } from "kysely";
import type { SubscriptionRow, Tables } from "./tables.ts";

type Db = Kysely<Tables>;

export function subscriptionOf(db: Db, team: string): Promise<SubscriptionRow | undefined> {
  return db.selectFrom("subscriptions").selectAll().where("team_id", "=", team).executeTakeFirst();
}

/** The record that has a customer of the provider, also of a team that was removed. */
export function subscriptionOfCustomer(db: Db, customer: string): Promise<SubscriptionRow | undefined> {
  return db.selectFrom("subscriptions").selectAll().where("customer_id", "=", customer).executeTakeFirst();
}

/**
 * Notes the customer of a team, unless one was noted meanwhile. Returns the record as it is then.
 */
export async function noteCustomer(
  db: Db,
  { team, customer, number }: { readonly team: string; readonly customer: string; readonly number: number },
  now: string,
): Promise<SubscriptionRow> {
  const nothing = { subscription_id: "", status: "none" as const, past_due_since: "", ends_at: "", read_at: "" };
  await db
    .insertInto("subscriptions")
    .values({
      team_id: team,
      customer_id: customer,
      customer_number: number,
      ...nothing,
      created_at: now,
      updated_at: now,
    })
    .onConflict((conflict) =>
      conflict
        .column("team_id")
        .doUpdateSet({ customer_id: customer, customer_number: number, updated_at: now })
        .where("subscriptions.customer_id", "=", ""),
    )
    .execute();
  return (await subscriptionOf(db, team))!;
}

export type SubscriptionChange = Partial<Omit<SubscriptionRow, "team_id" | "created_at" | "updated_at">>;

export async function setSubscription(db: Db, team: string, change: SubscriptionChange, now: string): Promise<void> {
  await db
    .updateTable("subscriptions")
    .set({ ...change, updated_at: now })
    .where("team_id", "=", team)
    .execute();
}

/** The provider sends an event again for three days at most. */
const KEPT_MS = 30 * 24 * 3_600_000;

/** Whether an event of the provider was dealt with. */
export async function isEventNoted(db: Db, id: string): Promise<boolean> {
  return (await db.selectFrom("billing_events").select("id").where("id", "=", id).executeTakeFirst()) !== undefined;
}

/** Notes an event, and forgets those that do not come again. Returns whether it is new. */
export async function noteEvent(db: Db, id: string, nowMs: number): Promise<boolean> {
  const { numInsertedOrUpdatedRows } = await db
    .insertInto("billing_events")
    .values({ id, at: new Date(nowMs).toISOString() })
    .onConflict((conflict) => conflict.doNothing())
    .executeTakeFirst();
  await db
    .deleteFrom("billing_events")
    .where("at", "<", new Date(nowMs - KEPT_MS).toISOString())
    .execute();
  return numInsertedOrUpdatedRows === 1n;
}
