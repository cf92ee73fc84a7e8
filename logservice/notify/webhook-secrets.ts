import { randomBytes } from "node:crypto";
import type { Kysely } from "kysely";
import type { Seal } from "../records/seal.ts";
import type { Tables } from "../records/tables.ts";

/** The tables, perhaps in a transaction, and what encrypts and decrypts the secrets in them. */
interface Sealed {
  readonly db: Kysely<Tables>;
  readonly seal: Seal;
}

interface WebhookSecret {
  readonly secret: string;
  /** When it was replaced, in milliseconds since 1970; null if it was not. */
  readonly replacedAtMs: number | null;
}

/** How long a secret signs after it was replaced: receivers are changed meanwhile. */
const OVERLAP_MS = 24 * 60 * 60_000;

/** Secrets that sign at once: each lengthens a header. Whoever rotates more often than this ends the earliest. */
const MOST = 5;

/**
 * Makes a new secret for what is posted to a webhook and returns it. An earlier one signs, too, for 24 hours. To be called in
 * a transaction, after it was made sure that the notification exists. A secret that cannot be decrypted is dropped.
 */
export async function rotateWebhookSecret({ db, seal }: Sealed, id: string, nowMs: number): Promise<string> {
  const earlier = await readSecrets({ db, seal }, id).catch((): WebhookSecret[] => []);
  const secret = `whsec_${randomBytes(32).toString("base64url")}`;
  const previous = valid(earlier, nowMs).map((one) => ({ ...one, replacedAtMs: one.replacedAtMs ?? nowMs }));
  const secrets: WebhookSecret[] = [{ secret, replacedAtMs: null }, ...previous].slice(0, MOST);
  await db
    .updateTable("notifications")
    .set({ webhook_secrets: seal.close(JSON.stringify(secrets), placeOf(id)) })
    .where("id", "=", id)
    .execute();
  return secret;
}

/** The secrets that sign now, the newest first. Rejects if they cannot be decrypted. */
export async function validSecrets(sealed: Sealed, id: string, nowMs: number): Promise<string[]> {
  return valid(await readSecrets(sealed, id), nowMs).map(({ secret }) => secret);
}

async function readSecrets({ db, seal }: Sealed, id: string): Promise<WebhookSecret[]> {
  const row = await db.selectFrom("notifications").select("webhook_secrets").where("id", "=", id).executeTakeFirst();
  const text = seal.open(row?.webhook_secrets ?? "", placeOf(id));
  return text === "" ? [] : JSON.parse(text);
}

function valid(secrets: readonly WebhookSecret[], nowMs: number): WebhookSecret[] {
  return secrets.filter(({ replacedAtMs }) => replacedAtMs === null || nowMs < replacedAtMs + OVERLAP_MS);
}

const placeOf = (id: string) => `${id}.webhook_secrets`;
