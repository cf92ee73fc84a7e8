import { cutToOnePart } from "./gsm-text.ts";
import { type DeliveryOutcome, type SendOptions, sendSms } from "./send.ts";

/** Whoever added the number waits for it. */
const TIMEOUT_MS = 15_000;

/** Sends a number the code that confirms it, and waits at most 15 seconds for the outcome. Nothing is retried. */
export async function sendCode(options: SendOptions, number: string, code: string): Promise<DeliveryOutcome> {
  const late = new AbortController();
  const timer = options.clock.after(TIMEOUT_MS, () => late.abort());
  try {
    return await sendSms(options, number, codeText(code, options.origin()), late.signal);
  } catch (error) {
    if (!late.signal.aborted) throw error;
    return { kind: "retry", reason: `no answer within ${TIMEOUT_MS / 1000} seconds` };
  } finally {
    timer.stop();
  }
}

/** Nothing in it is chosen by whoever added the number: it may be that of a stranger. */
function codeText(code: string, origin: string | undefined): string {
  const where = origin === undefined ? "a log service" : new URL(origin).host;
  const purpose = `${code} is the code to confirm this number for alerts of ${where}.`;
  return cutToOnePart(`${purpose} It ends in 10 minutes. If you did not ask for it, ignore it.`);
}
