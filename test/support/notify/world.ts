// Records with a team, a project and notifications, and deliveries added to them as an evaluator does.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type NotifySettings, PAGERDUTY_URL } from "../../../logservice/notify/settings.ts";
import { FIRST_TEAM } from "../../../logservice/records/accounts-migration.ts";
import type { AlertMessage } from "../../../logservice/records/alert-message.ts";
import { addDelivery } from "../../../logservice/records/deliveries.ts";
import { addNotification, getNotification } from "../../../logservice/records/notifications.ts";
import type { Records } from "../../../logservice/records/open.ts";
import { addProject } from "../../../logservice/records/projects.ts";
import type { DeliveryKind, DeliveryRow } from "../../../logservice/records/tables.ts";
import type { Notification, NotificationInput } from "../../../schema/rpc.generated.ts";
import { openTestRecords } from "../records.ts";
import { alertMessage, type MessageChange } from "./message.ts";

interface Test {
  teardown(handler: () => unknown): void;
}

export const PROJECT = { team_id: FIRST_TEAM, id: "shop" };

export const SETTINGS: NotifySettings = {
  mailer: undefined,
  sms: undefined,
  pagerdutyUrl: PAGERDUTY_URL,
  allowsPrivate: true,
};

export interface World {
  readonly records: Records;
  readonly directory: string;
  /** Adds a notification and returns its id. */
  notification(input: Omit<NotificationInput, "project_id" | "name">): Promise<string>;
  read(id: string): Promise<Notification>;
  /** Adds what is to be told and returns its id. The slot makes it another transition. */
  tell(notification: string, kind: DeliveryKind, change?: TellChange): Promise<string>;
  deliveries(): Promise<DeliveryRow[]>;
}

export type TellChange = MessageChange & { readonly alertId?: string; readonly atMs?: number };

/** Ends with the test. */
export async function openWorld(t: Test): Promise<World> {
  const directory = mkdtempSync(join(tmpdir(), "tool-notify-"));
  t.teardown(() => rmSync(directory, { recursive: true, force: true }));
  const records = await openTestRecords(directory);
  t.teardown(() => records.close());
  const now = new Date().toISOString();
  await addProject(records.db, FIRST_TEAM, { id: PROJECT.id, name: "Shop" }, now);
  return { directory, ...worldOf(records) };
}

/** The same over records that have the project. */
export function worldOf(records: Records): Omit<World, "directory"> {
  let slot = Date.now();
  return {
    records,
    notification: (input) =>
      addNotification(
        records,
        FIRST_TEAM,
        { project_id: PROJECT.id, name: "On call", ...input },
        new Date().toISOString(),
      ),
    read: (id) => getNotification(records, PROJECT, id),
    async tell(notification_id, kind, { alertId = "a", atMs = Date.now(), ...change } = {}) {
      const {
        id: _,
        kind: __,
        ...message
      }: AlertMessage = alertMessage({
        episodeId: `ep_${alertId}`,
        ...change,
        alert: { id: alertId, name: `alert ${alertId}`, ...change.alert },
      });
      const delivery = { team_id: FIRST_TEAM, project_id: PROJECT.id, alert_id: alertId, notification_id };
      return addDelivery(
        records.db,
        { ...delivery, group_key: "", slot: slot++, kind, message },
        new Date(atMs).toISOString(),
      );
    },
    deliveries: () => records.db.selectFrom("deliveries").selectAll().orderBy("sequence").execute(),
  };
}
