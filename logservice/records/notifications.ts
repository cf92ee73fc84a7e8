import type { Kysely } from "kysely";
import type { Notification, NotificationInput } from "../../schema/rpc.generated.ts";
import { RpcError } from "../error.ts";
import { SECRETS, type SecretMember } from "./notification-members.ts";
import { dropStates, unconfirmedOf } from "./number-states.ts";
import type { ProjectKey } from "./projects.ts";
import { changedAt, newId } from "./row.ts";
import type { Seal } from "./seal.ts";
import type { NotificationRow, Tables } from "./tables.ts";

/** The tables, and what encrypts and decrypts the secrets in them. */
interface Sealed {
  readonly db: Kysely<Tables>;
  readonly seal: Seal;
}

export async function listNotifications({ db, seal }: Sealed, project: ProjectKey): Promise<Notification[]> {
  const rows = await db
    .selectFrom("notifications")
    .selectAll()
    .where("team_id", "=", project.team_id)
    .where("project_id", "=", project.id)
    .orderBy("name")
    .orderBy("id")
    .execute();
  return rows.map((row) => notificationOf(row, seal));
}

/** The notification of this project, or `not_found`. */
export async function getNotification({ db, seal }: Sealed, project: ProjectKey, id: string): Promise<Notification> {
  const row = await db
    .selectFrom("notifications")
    .selectAll()
    .where("id", "=", id)
    .where("team_id", "=", project.team_id)
    .where("project_id", "=", project.id)
    .executeTakeFirst();
  if (row === undefined) {
    throw new RpcError("not_found", `there is no notification ${JSON.stringify(id)} in this project`);
  }
  return notificationOf(row, seal);
}

export async function addNotification(
  { db, seal }: Sealed,
  team_id: string,
  notification: NotificationInput,
  now: string,
): Promise<string> {
  const id = newId();
  await db
    .insertInto("notifications")
    .values({
      ...{ ...rowOf(notification, id, seal), team_id, id },
      ...{ webhook_secrets: "", number_states: "[]", created_at: now, updated_at: now },
    })
    .execute();
  return id;
}

export async function updateNotification(
  { db, seal }: Sealed,
  id: string,
  notification: NotificationInput,
  now: string,
): Promise<void> {
  await db
    .updateTable("notifications")
    .set({ ...rowOf(notification, id, seal), updated_at: changedAt(now) })
    .where("id", "=", id)
    .execute();
  await dropStates(db, id, notification.type === "sms" ? (notification.sms_numbers ?? []) : []);
}

export async function removeNotification(db: Kysely<Tables>, id: string): Promise<void> {
  await db.deleteFrom("notifications").where("id", "=", id).execute();
}

/** The notifications with a secret that cannot be decrypted because its key was lost or replaced. */
export async function listUnopened({
  db,
  seal,
}: Sealed): Promise<Pick<NotificationRow, "project_id" | "name" | "type">[]> {
  const rows = await db.selectFrom("notifications").selectAll().orderBy("project_id").orderBy("name").execute();
  return rows.filter((row) => SECRETS.some((name) => opened(row, name, seal) === undefined));
}

function notificationOf(row: NotificationRow, seal: Seal): Notification {
  // A secret that cannot be decrypted reads as empty: it has to be set again, and the rest stays usable until then. Whoever
  // compares it by its hash has to see that, too.
  const secrets = SECRETS.map((name) => [name, opened(row, name, seal)] as const);
  const isLost = secrets.some(([, secret]) => secret === undefined);
  const { team_id: _, webhook_secrets, number_states, ...fields } = row;
  const sms_numbers = JSON.parse(row.sms_numbers);
  return {
    ...fields,
    signed: webhook_secrets !== "",
    email_addresses: JSON.parse(row.email_addresses),
    sms_numbers,
    unconfirmed_numbers: unconfirmedOf(row.type, sms_numbers, number_states),
    ...Object.fromEntries(secrets.map(([name, secret]) => [name, secret ?? ""])),
    ...(isLost && { secret_hash: "" }),
  } as Notification;
}

function opened(row: NotificationRow, name: SecretMember, seal: Seal): string | undefined {
  try {
    return seal.open(row[name], `${row.id}.${name}`);
  } catch {
    return undefined;
  }
}

function rowOf(notification: NotificationInput, id: string, seal: Seal) {
  const { project_id, type, name, email_addresses = [], sms_numbers = [], slack_channel = "" } = notification;
  const { managed_by = "", secret_hash = "" } = notification;
  const sealed = SECRETS.map((name) => [name, seal.close(notification[name] ?? "", `${id}.${name}`)]);
  return {
    project_id,
    type,
    name,
    email_addresses: JSON.stringify(email_addresses),
    sms_numbers: JSON.stringify(sms_numbers),
    slack_channel,
    managed_by,
    secret_hash,
    ...(Object.fromEntries(sealed) as Record<SecretMember, string>),
  };
}
