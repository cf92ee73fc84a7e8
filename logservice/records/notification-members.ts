import { MEMBERS, type NotificationMembers, type NotificationType } from "../../schema/notification-members.ts";
import type { NotificationInput } from "../../schema/rpc.generated.ts";

export { MEMBERS, type NotificationMembers };

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
type OfEveryType = "id" | "project_id" | "type" | "name" | "managed_by" | "secret_hash";
type OfTheTable = Members[NotificationType]["needed"] | Members["slack"]["optional"];
true satisfies Exclude<keyof NotificationInput, OfEveryType | OfTheTable> extends never ? true : never;
