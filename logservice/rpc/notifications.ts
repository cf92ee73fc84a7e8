import type { Kysely } from "kysely";
import type { Notification, NotificationInput } from "../../schema/rpc.generated.ts";
import { alertsUsing } from "../alerts/stored-alerts.ts";
import { RpcError } from "../error.ts";
import { readEmailAddress } from "../mail/address.ts";
import { rotateWebhookSecret } from "../notify/webhook-secrets.ts";
import { makeDue } from "../records/deliveries.ts";
import { refuseClaimed, refuseUnmanaging } from "../records/managed.ts";
import { ADDRESSES, MEMBERS } from "../records/notification-members.ts";
import {
  addNotification,
  getNotification,
  listNotifications,
  removeNotification,
  updateNotification,
} from "../records/notifications.ts";
import { confirmNumber, isNumberConfirmed, type NumberCode } from "../records/number-states.ts";
import { getProject } from "../records/projects.ts";
import type { Tables } from "../records/tables.ts";
import { refuseMore } from "../records/team-limits.ts";
import { listMembers } from "../records/teams.ts";
import { type Call, changeRecords, type Handlers, projectOf, type Service } from "./call.ts";
import { codesFor, numbersOf, refuseUnconfirmable, sendCodes, tryCode } from "./confirm-numbers.ts";
import { masked, refuseMasks, withoutMasks } from "./mask-secrets.ts";
import { readChanged } from "./read-input.ts";
import { refuseUnreachable } from "./refuse-unreachable.ts";

export const notifications: Handlers<
  | "get_notifications"
  | "get_notification"
  | "add_notification"
  | "check_notification"
  | "update_notification"
  | "remove_notification"
  | "rotate_webhook_secret"
  | "confirm_notification"
> = {
  async get_notifications(service, { project_id }, call) {
    const { records } = service;
    const project = projectOf(call, project_id);
    await getProject(records.db, project);
    return { notifications: (await listNotifications(records, project)).map((one) => shown(service, one)) };
  },

  async get_notification(service, { project_id, notification_id }, call) {
    const notification = await getNotification(service.records, projectOf(call, project_id), notification_id);
    return { notification: shown(service, notification) };
  },

  async add_notification(service, { notification }, call) {
    let codes: readonly NumberCode[] = [];
    const makeCodes = codesFor(service, call);
    const { targetId: id } = await changeRecords(service, call, async (db, now) => {
      await refuse(service, { db, call }, notification);
      const project = projectOf(call, notification.project_id);
      await getProject(db, project);
      await refuseClaimed(db, "notifications", project, notification);
      await refuseMore(db, call.grant.team, "notifications", service.teamLimits);
      const { seal } = service.records;
      const id = await addNotification({ db, seal }, call.grant.team, notification, now);
      codes = await makeCodes(db, { id, numbers: numbersOf(notification) });
      return { projectId: notification.project_id, targetId: id, detail: notification.name };
    });
    await sendCodes(service, id, codes);
    return { id };
  },

  async check_notification(service, { notification, notification_id }, call) {
    const { records } = service;
    const project = projectOf(call, notification.project_id);
    const before = notification_id ? await getNotification(records, project, notification_id) : undefined;
    const changed =
      before && readChanged("NotificationInput", "notification", before, withoutMasks(before, notification));
    await refuse(service, { db: records.db, call, before }, changed ?? notification);
    await getProject(records.db, project);
    const { managed_by } = notification;
    if (before !== undefined) refuseUnmanaging("notifications", before, managed_by, { releases: true });
    else await refuseMore(records.db, call.grant.team, "notifications", service.teamLimits);
    await refuseClaimed(records.db, "notifications", project, {
      ...(changed ?? notification),
      ...(before && { id: before.id }),
    });
    return undefined;
  },

  async update_notification(service, { notification: change }, call) {
    const { seal } = service.records;
    let codes: readonly NumberCode[] = [];
    const makeCodes = codesFor(service, call);
    await changeRecords(service, call, async (db, now) => {
      const project = projectOf(call, change.project_id);
      const before = await getNotification({ db, seal }, project, change.id);
      refuseUnmanaging("notifications", before, change.managed_by, { releases: true });
      const notification = readChanged("NotificationInput", "notification", before, withoutMasks(before, change));
      await refuse(service, { db, call, before }, notification);
      await refuseClaimed(db, "notifications", project, { ...notification, id: change.id });
      await updateNotification({ db, seal }, change.id, notification, now);
      const old = new Set(numbersOf(before));
      const numbers = numbersOf(notification).filter((number) => !old.has(number));
      codes = await makeCodes(db, { id: change.id, numbers });
      await makeDue(db, change.id, now);
      return { projectId: change.project_id, targetId: change.id, detail: notification.name };
    });
    // The deliveries that wait for it may be sent now.
    service.deliveries.kick(change.id);
    await sendCodes(service, change.id, codes);
    return undefined;
  },

  async remove_notification(service, { project_id, notification_id, managed_by }, call) {
    await changeRecords(service, call, async (db) => {
      const { seal } = service.records;
      const notification = await getNotification({ db, seal }, projectOf(call, project_id), notification_id);
      refuseUnmanaging("notifications", notification, managed_by, { releases: false });
      const alerts = await alertsUsing(db, notification_id);
      if (alerts.length > 0) {
        const names = alerts.slice(0, 3).map((name) => JSON.stringify(name));
        const more = alerts.length > names.length ? ` and ${alerts.length - names.length} more` : "";
        const what = alerts.length === 1 ? "the alert" : "the alerts";
        throw new RpcError("conflict", `${what} ${names.join(", ")}${more} must be changed or removed first`);
      }
      await removeNotification(db, notification_id);
      return { projectId: project_id, targetId: notification_id, detail: notification.name };
    });
    return undefined;
  },

  async rotate_webhook_secret(service, { project_id, notification_id }, call) {
    const { seal } = service.records;
    let secret = "";
    await changeRecords(service, call, async (db) => {
      const { type, name } = await getNotification({ db, seal }, projectOf(call, project_id), notification_id);
      if (type !== "webhook")
        throw new RpcError(
          "conflict",
          `this notification is of type ${type}: only what is posted to a webhook is signed`,
        );
      secret = await rotateWebhookSecret({ db, seal }, notification_id, service.nowMs());
      return { projectId: project_id, targetId: notification_id, detail: name };
    });
    return { secret };
  },

  async confirm_notification(service, { project_id, notification_id, sms_number, code = "", resend = false }, call) {
    const { records } = service;
    const notification = await getNotification(records, projectOf(call, project_id), notification_id);
    refuseUnconfirmable(service, notification, sms_number);
    const isConfirmed = await isNumberConfirmed(records.db, notification_id, sms_number);
    const changed = { projectId: project_id, targetId: notification_id, detail: notification.name };
    if (resend) {
      if (isConfirmed) throw new RpcError("conflict", `${sms_number} is confirmed already`);
      let codes: readonly NumberCode[] = [];
      const makeCodes = codesFor(service, call);
      await changeRecords(service, call, async (db) => {
        codes = await makeCodes(db, { id: notification_id, numbers: [sms_number] });
        return changed;
      });
      const [failure] = await sendCodes(service, notification_id, codes);
      if (failure !== undefined) throw new RpcError("notification_failed", failure);
      return undefined;
    }
    if (code.trim() === "")
      throw new RpcError("invalid", "code: is required: send the code that the number was sent, or resend for another");
    // A browser may send the right code again.
    if (isConfirmed) return undefined;
    await tryCode(service, call, { projectId: project_id, id: notification_id, number: sms_number }, code);
    await changeRecords(service, call, async (db) => {
      await confirmNumber(db, notification_id, sms_number);
      return changed;
    });
    return undefined;
  },
};

/** A notification as clients are shown it. */
function shown({ account }: Service, notification: Notification): Notification {
  const one = masked(notification);
  return account.signUp.kind === "open" ? one : { ...one, unconfirmed_numbers: [] };
}

interface Asker {
  readonly db: Kysely<Tables>;
  readonly call: Call;
  /** The notification as it is; undefined if this would be added. */
  readonly before?: Notification | undefined;
}

/** Throws `invalid` for what the schema cannot express, and for what nobody would get as the service is set up. */
async function refuse(service: Service, { db, call, before }: Asker, notification: NotificationInput): Promise<void> {
  check(notification, before);
  refuseUnreachable(service, notification, before);
  await refuseStrangers(service, db, call, notification);
}

/** Checks what the schema cannot express. */
function check(notification: NotificationInput, before?: Notification): void {
  refuseMasks(notification, before);
  const { needed } = MEMBERS[notification.type];
  const value = notification[needed];
  if (value === undefined || value.length === 0) throw new RpcError("invalid", `notification.${needed}: is required`);
  const stored = new Set(before?.email_addresses);
  const wrong = notification.email_addresses?.find((one) => !stored.has(one) && readEmailAddress(one) === undefined);
  if (wrong !== undefined) {
    const what = `notification.email_addresses: ${JSON.stringify(wrong)} is not one email address`;
    throw new RpcError("invalid", `${what}: write each by itself, without a name, such as ops@example.com`);
  }
  const key = notification.pagerduty_service_key ?? "";
  if (key !== (before?.pagerduty_service_key ?? "") && !/^[!-~]*$/.test(key)) {
    throw new RpcError(
      "invalid",
      "notification.pagerduty_service_key: has a character that no key has: copy it from PagerDuty",
    );
  }
  for (const name of ADDRESSES) {
    const url = notification[name] ?? "";
    if (url !== "" && !isWebAddress(url)) {
      throw new RpcError("invalid", `notification.${name}: must be an address that begins with https:// or http://`);
    }
    if (url !== "" && url !== before?.[name] && new URL(url).port === "0") {
      throw new RpcError("invalid", `notification.${name}: no server has the port 0: write the one of the target`);
    }
  }
}

/**
 * Where everybody may sign up, mails about alerts go to members alone: they have proved their addresses. Otherwise anybody
 * could have the service write to any address.
 */
async function refuseStrangers(
  { account }: Service,
  db: Kysely<Tables>,
  { grant }: Call,
  { type, email_addresses = [] }: NotificationInput,
): Promise<void> {
  if (account.signUp.kind !== "open" || type !== "email") return;
  const memberKeys = new Set((await listMembers(db, grant.team)).map(({ emailKey }) => emailKey));
  const stranger = email_addresses.find((email) => !memberKeys.has(readEmailAddress(email)?.key ?? ""));
  if (stranger === undefined) return;
  throw new RpcError(
    "invalid",
    `notification.email_addresses: ${JSON.stringify(stranger)} is not a member of the team, and everybody may sign up here: invite that address first`,
  );
}

function isWebAddress(text: string): boolean {
  return URL.canParse(text) && /^https?:$/.test(new URL(text).protocol);
}
