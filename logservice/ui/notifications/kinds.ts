import type { Notification, NotificationInput } from "../../../schema/rpc.generated.ts";

export type NotificationKind = NotificationInput["type"];

export interface KindInfo {
  readonly text: string;
  /** The form in which an alert arrives there. */
  readonly about: string;
}

/** The kinds of notification, as people call them. */
export const NOTIFICATION_KINDS: Readonly<Record<NotificationKind, KindInfo>> = {
  email: { text: "Email", about: "A mail to each address, with the newest events and a link to all of them." },
  sms: { text: "SMS", about: "A text message of 160 characters to each number." },
  slack: { text: "Chat webhook", about: "A message in a channel of Slack, or of a chat that takes the same webhooks." },
  webhook: {
    text: "Webhook",
    about: "JSON that is posted to a program of yours, signed so that it can tell who sent it.",
  },
  pagerduty: { text: "PagerDuty", about: "An incident that is opened by the alert and resolved with it." },
};

export const ALL_KINDS = Object.keys(NOTIFICATION_KINDS) as readonly NotificationKind[];

export interface Sends {
  readonly isMailing: boolean;
  readonly isTexting: boolean;
}

/** Says that the service cannot send a kind, and how to change that; undefined if it can send it. */
export function missingFor(kind: NotificationKind, { isMailing, isTexting }: Sends): string | undefined {
  if (kind === "email" && !isMailing)
    return "This service sends no mails yet: its operator has to start it with --smtp.";
  if (kind === "sms" && !isTexting)
    return "This service sends no text messages yet: its operator has to start it with --sms.";
  return undefined;
}

/** Says which numbers of a notification get nothing yet; undefined if all of them do. */
export function unconfirmedText({
  sms_numbers,
  unconfirmed_numbers: { length },
}: Pick<Notification, "sms_numbers" | "unconfirmed_numbers">): string | undefined {
  if (length === 0) return undefined;
  const where = "Type the code on the page of the notification.";
  if (length < sms_numbers.length) return `${length} of its ${sms_numbers.length} numbers are not confirmed. ${where}`;
  return `${length === 1 ? "Its number is" : "Its numbers are"} not confirmed, so nobody is told. ${where}`;
}
