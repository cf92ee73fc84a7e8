import type { Kysely, Selectable } from "kysely";
import type { AlertMessage } from "./alert-message.ts";
import type { ProjectKey } from "./projects.ts";
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

/** A notification for which something waits. `mark` changes with what waits for it. */
export interface WaitingTarget {
  readonly notificationId: string;
  readonly teamId: string;
  readonly count: number;
  readonly mark: string;
}

export async function waitingTargets(db: Db): Promise<WaitingTarget[]> {
  const rows = await db
    .selectFrom("deliveries")
    .select(["notification_id", "team_id"])
    .select(({ fn }) => [
      fn.countAll().as("count"),
      fn.max("sequence").as("last"),
      fn.sum("attempts").as("attempts"),
      fn.min("due_at").as("due"),
    ])
    .where("status", "=", "waiting")
    .groupBy(["notification_id", "team_id"])
    .execute();
  return rows.map(({ notification_id, team_id, count, last, attempts, due }) => ({
    notificationId: notification_id,
    teamId: team_id,
    count: Number(count),
    mark: [count, last, attempts, due].join(" "),
  }));
}

/** A delivery without its message, which may be long. */
export type DeliveryHead = Pick<
  Selectable<DeliveryRow>,
  | "id"
  | "sequence"
  | "team_id"
  | "project_id"
  | "alert_id"
  | "notification_id"
  | "episode_id"
  | "kind"
  | "attempts"
  | "created_at"
  | "due_at"
>;

/**
 * The deliveries that wait for a notification, in the order in which they were added; also those that are not due,
 * since they hold up those that follow.
 */
export function waitingFor(db: Db, notificationId: string, limit: number): Promise<DeliveryHead[]> {
  return db
    .selectFrom("deliveries")
    .select(["id", "sequence", "team_id", "project_id", "alert_id", "notification_id", "episode_id", "kind"])
    .select(["attempts", "created_at", "due_at"])
    .where("status", "=", "waiting")
    .where("notification_id", "=", notificationId)
    .orderBy("sequence")
    .limit(limit)
    .execute();
}

/** The recipients of a delivery that need not be tried again: those that have it, and those that were refused for good. */
export interface DeliveryProgress {
  readonly told: readonly string[];
  readonly refused: readonly string[];
}

export interface StoredMessage {
  readonly message: AlertMessage;
  readonly progress: DeliveryProgress;
}

/**
 * The messages of deliveries by id, with how far each came, in the order in which they were added. Those that are gone are
 * missing.
 */
export async function readMessages(db: Db, ids: readonly string[]): Promise<Map<string, StoredMessage>> {
  const rows = await db
    .selectFrom("deliveries")
    .select(["id", "message"])
    .where("id", "in", ids)
    .orderBy("sequence")
    .execute();
  return new Map(rows.map(({ id, message }) => [id, storedMessage(message)]));
}

/** The progress is kept in the message, as a member that is not part of it: it is only there if there are several recipients. */
function storedMessage(text: string): StoredMessage {
  const { progress = { told: [], refused: [] }, ...message } = JSON.parse(text) as AlertMessage & {
    readonly progress?: DeliveryProgress;
  };
  return { message, progress };
}

export async function noteProgress(db: Db, id: string, { message, progress }: StoredMessage): Promise<void> {
  await db
    .updateTable("deliveries")
    .set({ message: JSON.stringify({ ...message, progress }) })
    .where("id", "=", id)
    .execute();
}

/** Counts an attempt before it is made. */
export async function noteAttempt(db: Db, ids: readonly string[]): Promise<void> {
  await db
    .updateTable("deliveries")
    .set((row) => ({ attempts: row("attempts", "+", 1) }))
    .where("id", "in", ids)
    .execute();
}

export async function noteDelivered(db: Db, ids: readonly string[], now: string): Promise<void> {
  await db
    .updateTable("deliveries")
    .set({ status: "delivered", failure: "", finished_at: now })
    .where("id", "in", ids)
    .execute();
}

/** Gives up. A delivery that ended otherwise meanwhile stays as it is. */
export async function noteGivenUp(db: Db, ids: readonly string[], failure: string, now: string): Promise<void> {
  await db
    .updateTable("deliveries")
    .set({ status: "failed", failure, finished_at: now })
    .where("id", "in", ids)
    .where("status", "=", "waiting")
    .execute();
}

export async function notePostponed(db: Db, ids: readonly string[], failure: string, dueAt: string): Promise<void> {
  await db
    .updateTable("deliveries")
    .set({ failure, due_at: dueAt })
    .where("id", "in", ids)
    .where("status", "=", "waiting")
    .execute();
}

/**
 * Whether the beginning of an episode was given up without reaching anybody. False if there is no record of it any more: it
 * may have been told.
 */
export async function wasNeverTold(db: Db, { episode_id, notification_id, sequence }: DeliveryHead): Promise<boolean> {
  const rows = await db
    .selectFrom("deliveries")
    .select(["status", "message"])
    .where("episode_id", "=", episode_id)
    .where("notification_id", "=", notification_id)
    .where("sequence", "<", sequence)
    .where("kind", "!=", "resolved")
    .execute();
  const isGivenUp = (row: Pick<DeliveryRow, "status" | "message">) =>
    row.status === "failed" && storedMessage(row.message).progress.told.length === 0;
  return rows.length > 0 && rows.every(isGivenUp);
}

/**
 * Has a delivery tried at once that was given up or that waits. Recipients that have it are left out; those that were refused
 * are tried again. The end of its episode is told after it, also if it was told before. Returns its notification; undefined
 * if the project has no such delivery, or if it was delivered.
 */
export async function retryDelivery(db: Db, project: ProjectKey, id: string, now: string): Promise<string | undefined> {
  const row = await db
    .selectFrom("deliveries")
    .select(["message", "alert_id", "notification_id", "episode_id", "sequence"])
    .where("id", "=", id)
    .where("team_id", "=", project.team_id)
    .where("project_id", "=", project.id)
    .where("status", "!=", "delivered")
    .executeTakeFirst();
  if (row === undefined) return undefined;
  const { message, progress } = storedMessage(row.message);
  await noteProgress(db, id, { message, progress: { ...progress, refused: [] } });
  await makeWaiting(db, id, now);
  // Earlier deliveries would hold it up.
  await db
    .updateTable("deliveries")
    .set({ due_at: now })
    .where("alert_id", "=", row.alert_id)
    .where("notification_id", "=", row.notification_id)
    .where("sequence", "<", row.sequence)
    .where("status", "=", "waiting")
    .execute();
  const ends = await db
    .selectFrom("deliveries")
    .select(["id", "message", "status"])
    .where("episode_id", "=", row.episode_id)
    .where("notification_id", "=", row.notification_id)
    .where("kind", "=", "resolved")
    .where("sequence", ">", row.sequence)
    .where("status", "!=", "waiting")
    .execute();
  for (const end of ends) {
    const stored = storedMessage(end.message);
    // Whoever had both needs neither again.
    const recipients = end.status === "delivered" ? progress.told : stored.progress.told;
    await noteProgress(db, end.id, { message: stored.message, progress: { told: recipients, refused: [] } });
    await makeWaiting(db, end.id, now);
  }
  return row.notification_id;
}

/** Has what waits for a target tried at once, as that was changed. */
export async function makeDue(db: Db, notificationId: string, now: string): Promise<void> {
  await db
    .updateTable("deliveries")
    .set({ due_at: now })
    .where("notification_id", "=", notificationId)
    .where("status", "=", "waiting")
    .execute();
}

async function makeWaiting(db: Db, id: string, now: string): Promise<void> {
  await db
    .updateTable("deliveries")
    .set({ status: "waiting", attempts: 0, failure: "", due_at: now, finished_at: null })
    .where("id", "=", id)
    .execute();
}

/** Removes what was delivered or given up before a time. */
export async function removeOldDeliveries(db: Db, before: string): Promise<void> {
  await db.deleteFrom("deliveries").where("status", "!=", "waiting").where("finished_at", "<", before).execute();
}
