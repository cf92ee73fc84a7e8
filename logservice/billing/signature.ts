import { createHmac, timingSafeEqual } from "node:crypto";

/** How far the time of a signature may be from ours, either way. */
const SIGNATURE_MS = 5 * 60_000;

/** The longest header that is looked at: Stripe sends one signature for each secret that is valid, two at most. */
const MAX_HEADER = 2_000;

/** Why a webhook is not believed. */
export type SignatureProblem = "missing" | "forged" | "late";

/**
 * Checks the header Stripe-Signature (`t=<seconds>,v1=<hex>,…`) of a body, which must be the bytes that were sent. Returns
 * what is wrong, or undefined.
 */
export function signatureProblem(
  header: string,
  body: Buffer,
  { secret, nowMs }: { readonly secret: string; readonly nowMs: number },
): SignatureProblem | undefined {
  const parts = header.length > MAX_HEADER ? [] : header.split(",").map((part) => part.trim().split("="));
  const time = parts.find(([name]) => name === "t")?.[1] ?? "";
  const sent = parts.filter(([name, value]) => name === "v1" && /^[0-9a-f]{64}$/.test(value ?? ""));
  if (!/^\d{1,12}$/.test(time) || sent.length === 0) return "missing";
  const expected = createHmac("sha256", secret).update(`${time}.`).update(body).digest();
  if (!sent.some(([, value]) => timingSafeEqual(Buffer.from(value!, "hex"), expected))) return "forged";
  return Math.abs(nowMs - Number(time) * 1000) > SIGNATURE_MS ? "late" : undefined;
}
