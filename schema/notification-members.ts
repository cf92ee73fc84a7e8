import type { LogNotification } from "./config.generated.ts";
import type { NotificationInput } from "./rpc.generated.ts";

export type NotificationType = NotificationInput["type"];

/** A member that `LogNotification` of tool.json has, too: one that it lacks does not compile. */
type Member = keyof NotificationInput & keyof LogNotification;

export interface NotificationMembers {
  /** Without it a notification of the type reaches nobody. */
  readonly needed: Member;
  /** Recipients are shown. The address of a webhook and a key are secrets: stored encrypted, and shown as masks. */
  readonly holds: "recipients" | "address" | "key";
  /** A member that it may have besides. */
  readonly optional?: Member;
}

/**
 * The members of a notification that its type decides on. The checks of tool.json read them here, and in the log service
 * validation, encryption, masks and the web UI.
 */
export const MEMBERS = {
  email: { needed: "email_addresses", holds: "recipients" },
  sms: { needed: "sms_numbers", holds: "recipients" },
  slack: { needed: "slack_webhook_url", holds: "address", optional: "slack_channel" },
  webhook: { needed: "webhook_url", holds: "address" },
  pagerduty: { needed: "pagerduty_service_key", holds: "key" },
} as const satisfies Record<NotificationType, NotificationMembers>;
