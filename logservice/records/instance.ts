import type { Kysely } from "kysely";
import { newId } from "./row.ts";
import type { Tables } from "./tables.ts";

/** The id of this installation, made once by `init`; undefined before. */
export async function instanceId(db: Kysely<Tables>): Promise<string | undefined> {
  const row = await db.selectFrom("instance").select("value").where("key", "=", "id").executeTakeFirst();
  return row?.value;
}

/** Makes the id. Fails where there is one. */
export async function makeInstanceId(db: Kysely<Tables>): Promise<void> {
  await db.insertInto("instance").values({ key: "id", value: newId() }).execute();
}
