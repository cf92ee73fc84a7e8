import type { Notification, NotificationInput } from "../../../schema/rpc.generated.ts";
import { hasRecipients, MEMBERS, type NotificationMembers } from "../../records/notification-members.ts";
import type { NotificationKind } from "./kinds.ts";

/** A notification as it is typed. */
export interface NotificationDraft {
  readonly type: NotificationKind;
  readonly name: string;
  /** Addresses, or numbers: one in each line, or with commas between them. */
  readonly recipients: string;
  /** The URL or the key. Empty keeps the one that is saved. */
  readonly secret: string;
  readonly channel: string;
}

export const NEW_NOTIFICATION: NotificationDraft = {
  ...{ type: "slack", name: "", recipients: "", secret: "", channel: "" },
};

/** A stored notification, to be changed. Its secret is not in it: what is shown of that is `maskOf`. */
export function draftOfNotification(notification: Notification): NotificationDraft {
  const { type, name, slack_channel = "" } = notification;
  return { type, name, recipients: listed(notification).join("\n"), secret: "", channel: slack_channel };
}

/** The recipients of a notification; none if a secret leads to where it goes. */
export function listed(notification: Notification): readonly string[] {
  const { type } = notification;
  return hasRecipients(type) ? (notification[MEMBERS[type].needed] ?? []) : [];
}

/** The part of the secret of a notification that is shown. */
export function maskOf(notification: Notification): string {
  const { type } = notification;
  return hasRecipients(type) ? "" : (notification[MEMBERS[type].needed] ?? "");
}

/** The members of the notification of a draft. A secret that was not typed is absent, which keeps the stored one. */
export function membersOf(draft: NotificationDraft): Omit<NotificationInput, "project_id" | "id"> {
  const { type, channel } = draft;
  const secret = draft.secret.trim();
  return {
    type,
    name: draft.name.trim(),
    ...(hasRecipients(type) && { [MEMBERS[type].needed]: draftRecipients(draft) }),
    ...(type === "slack" && { slack_channel: channel.trim() }),
    ...(!hasRecipients(type) && secret !== "" && { [MEMBERS[type].needed]: secret }),
  };
}

/** The recipients of a draft, each once. Numbers may have spaces in them. */
export function draftRecipients({ type, recipients }: NotificationDraft): string[] {
  const parts = recipients.split(type === "sms" ? /[,;\n]/ : /[\s,;]/).map((part) => part.trim());
  return [...new Set(parts.filter((part) => part !== ""))];
}

/**
 * The first problem of a draft, with the path that the service gives it, so that it is shown at the field; undefined if
 * there is none. `isNew` if no secret is stored.
 */
export function notificationProblem(draft: NotificationDraft, isNew: boolean): string | undefined {
  const { type } = draft;
  const { needed, holds } = MEMBERS[type];
  const path = `notification.${needed}`;
  if (draft.name.trim() === "") return "notification.name: give it a name; alerts refer to it";
  if (holds !== "recipients") {
    if (draft.secret.trim() === "" && isNew)
      return `${path}: ${holds === "key" ? "paste the integration key" : "paste the address of the webhook"}`;
    return undefined;
  }
  const all = draftRecipients(draft);
  const [shape, one] = type === "email" ? [ADDRESS, "an email address"] : [NUMBER, "a phone number"];
  if (all.length === 0) return `${path}: write ${one} at least`;
  const wrong = all.find((recipient) => !shape.test(recipient));
  return wrong === undefined ? undefined : `${path}: ${JSON.stringify(wrong)} is not ${one}`;
}

/** As the service checks them. */
const ADDRESS = /^[^\s@]+@[^\s@]+$/;
const NUMBER = /^\+?[0-9][0-9 ().-]*$/;

/** The fields of a notification as the service names them. */
export const NOTIFICATION_PATHS = [
  "name",
  ...Object.values<NotificationMembers>(MEMBERS).flatMap(({ needed, optional }) => [needed, optional ?? []].flat()),
].map((name) => `notification.${name}`);
