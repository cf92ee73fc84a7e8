import type { Notification, NotificationInput } from "../../schema/rpc.generated.ts";
import { RpcError } from "../error.ts";
import { refusalOf } from "../notify/target-guard.ts";
import { ADDRESSES, MEMBERS } from "../records/notification-members.ts";
import type { Service } from "./call.ts";

/**
 * Throws `invalid`, with the remedy, if nobody could be told by a notification as the service is set up. A stored one that is
 * changed elsewhere stays: how the service was started may be a mistake of today.
 */
export function refuseUnreachable(
  { notifies }: Pick<Service, "notifies">,
  notification: NotificationInput,
  before?: Notification,
): void {
  const { type } = notification;
  const { needed } = MEMBERS[type];
  const isSame = before?.type === type && String(before[needed]) === String(notification[needed]);
  if (isSame) return;
  if (type === "email" && !notifies.isMailing)
    throw new RpcError(
      "invalid",
      "notification.type: this service sends no mails: have its operator start it with --smtp, or use another type",
    );
  if (type === "sms" && !notifies.isTexting)
    throw new RpcError(
      "invalid",
      "notification.type: this service sends no text messages: have its operator start it with --sms, or use another type",
    );
  for (const name of ADDRESSES) {
    const url = notification[name] ?? "";
    if (url === "" || url === before?.[name]) continue;
    const refusal = refusalOf(url, notifies);
    if (refusal !== undefined) throw new RpcError("invalid", `notification.${name}: ${refusal}`);
  }
}
