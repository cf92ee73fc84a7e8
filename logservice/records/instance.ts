import type { Kysely } from "kysely";
import { newId } from "./row.ts";
import type { Tables } from "./tables.ts";

/** The id of this installation, which `init` makes; undefined before that. */
export async function instanceId(db: Kysely<Tables>): Promise<string | undefined> {
  const row = await db.selectFrom("instance").select("value").where("key", "=", "id").executeTakeFirst();
  return row?.value;
}

/** Makes the id. Fails if there already is one. */
export async function makeInstanceId(db: Kysely<Tables>): Promise<void> {
  await db.insertInto("instance").values({ key: "id", value: newId() }).execute();
}

/** How far the events had come when that was last noted (`EventsStore.position`); undefined if it never was. */
export async function eventsPosition(db: Kysely<Tables>): Promise<number | undefined> {
  const row = await db.selectFrom("instance").select("value").where("key", "=", EVENTS_POSITION).executeTakeFirst();
  return row && Number(row.value);
}

/** Notes how far the events have come. To be called with what is durable there. */
export async function noteEventsPosition(db: Kysely<Tables>, position: number): Promise<void> {
  const value = String(position);
  await db
    .insertInto("instance")
    .values({ key: EVENTS_POSITION, value })
    .onConflict((conflict) => conflict.column("key").doUpdateSet({ value }))
    .execute();
}

/** Its key. A copy of the records has none: it is of a later moment than that of the events. */
export const EVENTS_POSITION = "events_position";

/** Keeps where people reach the service, for links that are printed while it does not run or by another process. */
export async function notePublicUrl(
  db: Kysely<Tables>,
  { isKnown, origin }: { readonly isKnown: boolean; readonly origin: string },
): Promise<void> {
  const value = isKnown ? origin : "";
  const previous = await publicUrl(db);
  if (previous === value) return;
  await db
    .insertInto("instance")
    .values({ key: "public_url", value })
    .onConflict((conflict) => conflict.column("key").doUpdateSet({ value }))
    .execute();
}

/** Where people reached the service when it last ran; undefined if it never did, "" if it had no address for people. */
export async function publicUrl(db: Kysely<Tables>): Promise<string | undefined> {
  const row = await db.selectFrom("instance").select("value").where("key", "=", "public_url").executeTakeFirst();
  return row?.value;
}
