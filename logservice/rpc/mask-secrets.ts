import type { Notification } from "../../schema/rpc.generated.ts";
import { RpcError } from "../error.ts";
import { SECRETS, type SecretMember } from "../records/notification-members.ts";

/** A notification with masked secrets: they show enough to be recognized, and not enough to be used. */
export function masked(notification: Notification): Notification {
  const secrets = SECRETS.map((name) => [name, maskOf(notification[name])]);
  return { ...notification, ...Object.fromEntries(secrets) };
}

/** A change without the masked secrets that clients send back unchanged: they send every member. */
export function withoutMasks<Change extends Partial<Notification>>(before: Notification, change: Change): Change {
  const same = SECRETS.filter((name) => before[name] !== "" && change[name] === maskOf(before[name]));
  const rest = Object.entries(change).filter(([name]) => !same.includes(name as SecretMember));
  return Object.fromEntries(rest) as Change;
}

/**
 * Throws if a secret is a mask, or one that was edited: that of another notification, or of a secret that has changed since it
 * was read. `before` is the notification that is changed, whose masks people have seen.
 */
export function refuseMasks(notification: Partial<Notification>, before: Partial<Notification> = {}): void {
  for (const name of SECRETS) {
    const secret = notification[name] ?? "";
    if (!IS_MASK.test(secret) && !isEditedMask(secret, before[name] ?? "")) continue;
    throw new RpcError("invalid", `notification.${name}: is masked: send the whole value, or leave it out to keep it`);
  }
}

const MASK = "****";
/** A mask may have been gone on with: what is after its stars is not what a secret begins with. */
const IS_MASK = /^(https?:\/\/[^/]+\/)?\*{4}/i;
/** Length of the part of a key that is shown, and the least length of a key of which a part is shown. */
const SHOWN_LENGTH = 4;
const LEAST_LENGTH = 16;

/** Whether stars took the place of a part of a secret that has none there, in an address on the same host. */
function isEditedMask(secret: string, before: string): boolean {
  if (secret === before || !secret.includes(MASK) || before.includes(MASK)) return false;
  return URL.canParse(secret) && URL.canParse(before) && new URL(secret).origin === new URL(before).origin;
}

function maskOf(secret: string): string {
  if (secret === "") return "";
  // The secret part of a URL is its path, or the password before the host.
  if (URL.canParse(secret)) return `${new URL(secret).origin}/${MASK}`;
  return secret.length < LEAST_LENGTH ? MASK : MASK + secret.slice(-SHOWN_LENGTH);
}
