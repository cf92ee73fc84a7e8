import type { Notification } from "../../schema/rpc.generated.ts";
import { RpcError } from "../error.ts";
import { getNotification } from "../records/notifications.ts";
import type { Records } from "../records/open.ts";
import type { PagerDutyTarget } from "./channels/pagerduty.ts";
import type { SlackTarget } from "./channels/slack.ts";
import type { WebhookTarget } from "./channels/webhook.ts";
import { TargetRefused } from "./target-guard.ts";
import { validSecrets } from "./webhook-secrets.ts";

/** Whom a notification reaches, with its secrets. */
export type NotificationTarget =
  | { readonly type: "email" | "sms"; readonly recipients: readonly string[] }
  | ({ readonly type: "slack" } & SlackTarget)
  | ({ readonly type: "webhook" } & WebhookTarget)
  | { readonly type: "pagerduty"; readonly routingKey: PagerDutyTarget["routingKey"] };

export interface TargetLookup {
  readonly nowMs: number;
  /** Whether numbers that are not confirmed are left out. */
  readonly confirmsNumbers: boolean;
}

/** The target of a notification in the records. Rejects with TargetRefused if it is gone or a secret cannot be decrypted. */
export async function findTarget(
  records: Records,
  place: { readonly team_id: string; readonly project_id: string; readonly notification_id: string },
  options: TargetLookup,
): Promise<NotificationTarget> {
  const project = { team_id: place.team_id, id: place.project_id };
  const notification = await getNotification(records, project, place.notification_id).catch((error: unknown) => {
    if (!(error instanceof RpcError)) throw error;
    throw new TargetRefused("the notification was removed");
  });
  return targetOf(records, notification, options);
}

/**
 * The target of a notification whose secrets are decrypted. Rejects with TargetRefused if one of them is missing, or if no
 * number is confirmed.
 */
export async function targetOf(
  records: Pick<Records, "db" | "seal">,
  notification: Notification,
  { nowMs, confirmsNumbers }: TargetLookup,
): Promise<NotificationTarget> {
  const { id, type } = notification;
  switch (type) {
    case "email":
      return { type, recipients: listed(notification.email_addresses) };
    case "sms":
      return { type, recipients: listed(confirmsNumbers ? confirmedOf(notification) : notification.sms_numbers) };
    case "slack": {
      const url = required(notification.slack_webhook_url, "slack_webhook_url");
      return { type, url, channel: notification.slack_channel ?? "" };
    }
    case "webhook": {
      const url = required(notification.webhook_url, "webhook_url");
      const secrets = await validSecrets(records, id, nowMs).catch((): never => {
        throw new TargetRefused("the secrets that sign what is posted cannot be decrypted: make a new one");
      });
      return { type, url, secrets };
    }
    case "pagerduty":
      return { type, routingKey: required(notification.pagerduty_service_key, "pagerduty_service_key") };
  }
}

function confirmedOf({ sms_numbers = [], unconfirmed_numbers = [] }: Notification): readonly string[] {
  const unconfirmed = new Set(unconfirmed_numbers.map(({ sms_number }) => sms_number));
  const confirmed = sms_numbers.filter((number) => !unconfirmed.has(number));
  if (confirmed.length > 0 || sms_numbers.length === 0) return confirmed;
  throw new TargetRefused(
    `${sms_numbers.length === 1 ? "the number" : "no number"} of the notification is ${sms_numbers.length === 1 ? "not " : ""}confirmed: type the code that was sent to it`,
  );
}

function listed(recipients: readonly string[] = []): readonly string[] {
  if (recipients.length === 0) throw new TargetRefused("the notification has no recipients: add one");
  return [...new Set(recipients)];
}

/** A secret that cannot be decrypted reads as empty. */
function required(secret: string | undefined, name: string): string {
  if (secret === undefined || secret === "") {
    throw new TargetRefused(`the notification's ${name} is missing or cannot be decrypted: set it again`);
  }
  return secret;
}
