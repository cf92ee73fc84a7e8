import type { Notification } from "../../schema/rpc.generated.ts";
import { RpcError } from "../error.ts";
import { SECRETS } from "../records/notifications.ts";

/** A notification as it is answered: enough of each secret to tell which one it is, and not enough to use it. */
export function masked(notification: Notification): Notification {
  const secrets = SECRETS.map((name) => [name, maskOf(notification[name])]);
  return { ...notification, ...Object.fromEntries(secrets) };
}

/** A change without the secrets that are sent back as they were answered: clients send every member. */
export function withoutMasks<Change extends Partial<Notification>>(before: Notification, change: Change): Change {
  const same = SECRETS.filter((name) => before[name] !== "" && change[name] === maskOf(before[name]));
  const rest = Object.entries(change).filter(([name]) => !same.includes(name as (typeof SECRETS)[number]));
  return Object.fromEntries(rest) as Change;
}

/** Throws if a secret is the mask of one: of another notification, or of one that was changed since it was read. */
export function refuseMasks(notification: Partial<Notification>): void {
  for (const name of SECRETS) {
    if (!IS_MASK.test(notification[name] ?? "")) continue;
    throw new RpcError("invalid", `notification.${name}: is masked: send the whole value, or leave it out to keep it`);
  }
}

const MASK = "****";
const IS_MASK = /^(https?:\/\/[^/]+\/)?\*{4}[^/]{0,4}$/;
/** What is shown of a key, and how much longer it must be for that. */
const SHOWN_LENGTH = 4;
const LEAST_LENGTH = 16;

function maskOf(secret: string): string {
  if (secret === "") return "";
  // The secret of an address is its path, or the password before the host.
  if (URL.canParse(secret)) return `${new URL(secret).origin}/${MASK}`;
  return secret.length < LEAST_LENGTH ? MASK : MASK + secret.slice(-SHOWN_LENGTH);
}
