import { createPrivateKey, type KeyObject } from "node:crypto";
import { readFile, stat } from "node:fs/promises";
import { isLoopback } from "../../grammar/address/loopback.ts";
import { rawStatementKey } from "../../schema/statement.ts";
import { readPublicUrl } from "../account/public-address.ts";
import { type BillingSettings, WEBHOOK_PATH } from "../billing/billing.ts";
import { OperatorError } from "../error.ts";

/** The operator's options for payments, as they were written. */
export interface BillingOptions {
  /** `none` or `stripe`. */
  readonly provider: string;
  /** The secrets are in the environment alone. */
  readonly stripeKey: string | undefined;
  readonly webhookSecret: string | undefined;
  readonly price: string | undefined;
  /** Another address of Stripe's API: for tests. */
  readonly stripeUrl: string | undefined;
  /** The absolute path of the key that signs statements. */
  readonly statementKeyFile: string | undefined;
}

export interface ServedAt {
  readonly host: string;
  readonly publicUrl: string | undefined;
}

/** Reads what the operator says about payments, and what to tell the operator. Throws an OperatorError. */
export async function readBilling(
  options: BillingOptions,
  at: ServedAt,
): Promise<{ readonly billing: BillingSettings; readonly lines: readonly string[] }> {
  const { provider, statementKeyFile } = options;
  const lines: string[] = [];
  if (provider !== "none" && provider !== "stripe")
    throw new OperatorError(`${JSON.stringify(provider)} is not a way to be paid`, {
      hint: "write --billing none or stripe",
    });
  const hasAddress = at.publicUrl !== undefined || isLoopback(at.host);
  if (!hasAddress && (provider === "stripe" || statementKeyFile !== undefined))
    throw new OperatorError("payments and statements need to know where people reach the service", {
      hint: "add --public-url https://logs.example.com",
    });
  const stripe = provider === "stripe" ? await stripeOf(options) : undefined;
  if (stripe !== undefined && at.publicUrl !== undefined)
    lines.push(`Stripe is to send its webhooks to ${readPublicUrl(at.publicUrl).origin}${WEBHOOK_PATH}`);
  const statementKey = statementKeyFile === undefined ? undefined : await readStatementKeyFile(statementKeyFile);
  if (statementKey !== undefined)
    lines.push(
      `statements are signed; the key that a release needs to verify them is ${rawStatementKey(statementKey)}`,
    );
  return { billing: { stripe, statementKey }, lines };
}

const KEYS_PAGE = "https://dashboard.stripe.com/apikeys";

async function stripeOf({ stripeKey = "", webhookSecret = "", price = "", stripeUrl }: BillingOptions) {
  const wrong = (what: string, hint: string) => new OperatorError(what, { hint });
  if (!/^[rs]k_\w+$/.test(stripeKey)) {
    const what = stripeKey === "" ? "is not set" : "is not a secret key of Stripe, which begins with sk_ or rk_";
    throw wrong(`TOOL_STRIPE_KEY ${what}`, `set it in the environment: ${KEYS_PAGE} shows it`);
  }
  if (!/^whsec_\S+$/.test(webhookSecret)) {
    const what = webhookSecret === "" ? "is not set" : "is not the secret of a webhook, which begins with whsec_";
    throw wrong(
      `TOOL_STRIPE_WEBHOOK_SECRET ${what}`,
      `add an endpoint at Stripe that sends to ${WEBHOOK_PATH}, and set its signing secret in the environment`,
    );
  }
  if (!/^(?:price|plan)_\w+$/.test(price)) {
    const what = price === "" ? "--stripe-price is missing" : `--stripe-price ${price} is not the id of a price`;
    throw wrong(what, "write --stripe-price price_…: the page of the product at Stripe shows it");
  }
  if (stripeUrl !== undefined) {
    const url = URL.canParse(stripeUrl) ? new URL(stripeUrl) : undefined;
    const isSafe = url?.protocol === "https:" || (url?.protocol === "http:" && isLoopback(url.hostname));
    if (!isSafe)
      throw wrong(
        `--stripe-url ${stripeUrl} would show the key to others`,
        "leave it out, or write https://, or http:// and an address of this machine",
      );
  }
  // Loaded by the services that need it.
  const { openStripe } = await import("../billing/stripe.ts");
  return { provider: openStripe({ key: stripeKey, price, url: stripeUrl }), webhookSecret };
}

const KEY_HINT = (path: string) => `make one: (umask 077; openssl genpkey -algorithm ed25519 -out ${path})`;

/** Reads a private Ed25519 key that nobody else can read. */
async function readStatementKeyFile(path: string): Promise<KeyObject> {
  let text: string;
  let mode: number;
  try {
    ({ mode } = await stat(path));
    text = await readFile(path, "utf8");
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    throw new OperatorError(`--statement-key: ${path} cannot be read (${code})`, {
      cause: error,
      hint: KEY_HINT(path),
    });
  }
  if (process.platform !== "win32" && (mode & 0o077) !== 0)
    throw new OperatorError(`--statement-key: others can read ${path}`, { hint: `chmod 600 ${path}` });
  let key: KeyObject | undefined;
  // The error of the parser quotes nothing of the file, but says nothing that helps, either.
  if (/^-----BEGIN PRIVATE KEY-----/m.test(text)) {
    try {
      key = createPrivateKey(text);
    } catch {}
  }
  if (key?.asymmetricKeyType !== "ed25519")
    throw new OperatorError(`--statement-key: ${path} holds no Ed25519 key (PKCS #8 in PEM, without a password)`, {
      hint: KEY_HINT(path),
    });
  return key;
}
