import type { Notification } from "../../schema/rpc.generated.ts";
import type { AlertMessage } from "../records/alert-message.ts";
import type { Records } from "../records/open.ts";
import { type DeliveryOutcome, type SendOptions, sendTo, targetRecipients } from "./send.ts";
import { targetOf } from "./target.ts";
import { TargetRefused } from "./target-guard.ts";

/** Whoever asked for a test waits for it. */
const TIMEOUT_MS = 15_000;

/**
 * Sends a message to a notification now and waits at most 15 seconds for the outcome: delivered, or the first failure of any
 * recipient. The secrets of the notification are decrypted. Nothing is retried. Rejects with the reason of the signal.
 */
export async function sendTest(
  options: SendOptions & { readonly records: Pick<Records, "db" | "seal"> },
  notification: Notification,
  message: AlertMessage,
  signal: AbortSignal,
): Promise<DeliveryOutcome> {
  const late = new AbortController();
  const timer = options.clock.after(TIMEOUT_MS, () => late.abort());
  const ended = AbortSignal.any([signal, late.signal]);
  try {
    const target = await targetOf(options.records, notification, {
      nowMs: options.clock.nowMs(),
      confirmsNumbers: options.confirmsNumbers ?? false,
    });
    const recipients = targetRecipients(target);
    const send = (recipient: string) => sendTo(options, target, { recipient, messages: [message] }, ended);
    const outcomes = await Promise.all(recipients.map(send));
    const at = outcomes.findIndex(({ kind }) => kind !== "delivered");
    const failed = outcomes[at];
    if (failed === undefined || failed.kind === "delivered") return { kind: "delivered" };
    const whose = recipients.length > 1 ? `${recipients[at]}: ` : "";
    return { ...failed, reason: `${whose}${failed.reason}` };
  } catch (error) {
    signal.throwIfAborted();
    if (late.signal.aborted) return { kind: "retry", reason: `no answer within ${TIMEOUT_MS / 1000} seconds` };
    if (error instanceof TargetRefused) return { kind: "refused", reason: error.message };
    throw error;
  } finally {
    timer.stop();
  }
}
