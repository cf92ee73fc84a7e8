import type { Kysely, Selectable } from "kysely";
import type { AlertMessage } from "../alerts/message.ts";
import { newId } from "./row.ts";
import type { DeliveryKind, DeliveryRow, Tables } from "./tables.ts";

type Db = Kysely<Tables>;

export interface NewDelivery
  extends Pick<DeliveryRow, "team_id" | "project_id" | "alert_id" | "notification_id" | "group_key" | "slot"> {
  readonly kind: DeliveryKind;
  readonly message: Omit<AlertMessage, "id" | "kind">;
}

/**
 * Adds what is to be told, in the transaction of the change of state that it tells. It fails if the same transition was told
 * already (unique: alert, group, slot, kind).
 */
export async function addDelivery(db: Db, { kind, message, ...delivery }: NewDelivery, now: string): Promise<string> {
  const id = `dlv_${newId()}`;
  const { last } = await db
    .selectFrom("deliveries")
    .select((row) => row.fn.max("sequence").as("last"))
    .executeTakeFirstOrThrow();
  await db
    .insertInto("deliveries")
    .values({
      ...delivery,
      id,
      sequence: Number(last ?? 0) + 1,
      episode_id: message.episodeId,
      kind,
      message: JSON.stringify({ ...message, id, kind } satisfies AlertMessage),
      status: "waiting",
      attempts: 0,
      failure: "",
      created_at: now,
      due_at: now,
      finished_at: null,
    })
    .execute();
  return id;
}

/** What waits to be delivered, in the order in which it was added, also what is not due yet: it holds up what follows. */
export function waitingDeliveries(db: Db): Promise<Selectable<DeliveryRow>[]> {
  return db.selectFrom("deliveries").selectAll().where("status", "=", "waiting").orderBy("sequence").execute();
}
