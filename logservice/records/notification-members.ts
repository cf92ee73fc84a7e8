import type { NotificationInput } from "../../schema/rpc.generated.ts";

export type NotificationType = NotificationInput["type"];

export interface NotificationMembers {
  /** Without it a notification of the type reaches nobody. */
  readonly needed: keyof NotificationInput;
  /** Recipients are shown. The address of a webhook and a key are secrets: stored encrypted, and shown as masks. */
  readonly holds: "recipients" | "address" | "key";
  /** A member that it may have besides. */
  readonly optional?: keyof NotificationInput;
}

/** The members of a notification that its type decides on; validation, encryption, masks and the web UI read them here. */
export const MEMBERS = {
  email: { needed: "email_addresses", holds: "recipients" },
  sms: { needed: "sms_numbers", holds: "recipients" },
  slack: { needed: "slack_webhook_url", holds: "address", optional: "slack_channel" },
  webhook: { needed: "webhook_url", holds: "address" },
  pagerduty: { needed: "pagerduty_service_key", holds: "key" },
} as const satisfies Record<NotificationType, NotificationMembers>;

type Members = typeof MEMBERS;

type NeededOf<Holds extends NotificationMembers["holds"]> = {
  [Type in NotificationType]: Members[Type]["holds"] extends Holds ? Members[Type]["needed"] : never;
}[NotificationType];

export type SecretMember = NeededOf<"address" | "key">;

type RecipientType = {
  [Type in NotificationType]: Members[Type]["holds"] extends "recipients" ? Type : never;
}[NotificationType];

const all = Object.values(MEMBERS);

/** The members that are secrets. */
export const SECRETS: readonly SecretMember[] = all.flatMap(({ holds, needed }) =>
  holds === "recipients" ? [] : [needed],
);

/** Those of them that are web addresses. */
export const ADDRESSES: readonly NeededOf<"address">[] = all.flatMap(({ holds, needed }) =>
  holds === "address" ? [needed] : [],
);

/** Whether it reaches listed recipients, rather than what a secret leads to. */
export const hasRecipients = (type: NotificationType): type is RecipientType => MEMBERS[type].holds === "recipients";

/** Every member of a notification is one of all notifications, or of the table; another one does not compile. */
type OfEveryType = "id" | "project_id" | "type" | "name";
type OfTheTable = Members[NotificationType]["needed"] | Members["slack"]["optional"];
true satisfies Exclude<keyof NotificationInput, OfEveryType | OfTheTable> extends never ? true : never;
