// The only file that knows Stripe's library. It is loaded by services that use it alone.
import { createHash } from "node:crypto";
import { Stripe } from "stripe";
import { RpcError } from "../error.ts";
import { type Checkout, type Provider, ProviderFailure, type ReadSubscription } from "./provider.ts";

export interface StripeOptions {
  /** The secret key. */
  readonly key: string;
  /** The id of the price that is subscribed to. */
  readonly price: string;
  /** Another address of the API: for tests. */
  readonly url?: string | undefined;
}

/** A page that is open in a browser does not wait longer. */
const TIMEOUT_MS = 15_000;
const RETRIES = 2;

/** Opens Stripe's API. Asks for nothing yet. */
export function openStripe({ key, price, url }: StripeOptions): Provider {
  const at = url === undefined ? undefined : new URL(url);
  const stripe = new Stripe(key, {
    timeout: TIMEOUT_MS,
    maxNetworkRetries: RETRIES,
    telemetry: false,
    ...(at !== undefined && {
      protocol: at.protocol === "http:" ? "http" : "https",
      host: at.hostname,
      port: at.port === "" ? (at.protocol === "http:" ? 80 : 443) : Number(at.port),
    }),
  });
  const ask = <T>(what: string, request: () => Promise<T>): Promise<T> =>
    request().catch((error: unknown) => {
      throw refusalOf(what, error, key);
    });

  return {
    addCustomer: (team, idempotencyKey) =>
      ask("make a customer", async () => {
        const { id } = await stripe.customers.create({ metadata: { tool_team: team } }, { idempotencyKey });
        return id;
      }),

    subscriptionsOf: (customer) =>
      ask("read the subscription", async () => {
        const expand = ["subscriptions.data.latest_invoice"];
        const read = await stripe.customers.retrieve(customer, { expand }).catch((error: unknown) => {
          if (isMissing(error)) return undefined;
          throw error;
        });
        if (read === undefined || read.deleted) return undefined;
        return (read.subscriptions?.data ?? []).map(readSubscription);
      }),

    checkout: (checkout) => ask("open the page for paying", () => openCheckout(stripe, price, checkout)),

    portal: (customer, { returnUrl, isForCard }) =>
      ask("open the page of the card", async () => {
        const { url } = await stripe.billingPortal.sessions.create({
          customer,
          return_url: returnUrl,
          ...(isForCard && { flow_data: { type: "payment_method_update" as const } }),
        });
        return url;
      }),

    end: (id, when) =>
      ask("end the subscription", async () => {
        if (when === "now") await stripe.subscriptions.cancel(id);
        else await stripe.subscriptions.update(id, { cancel_at_period_end: true });
      }),
  };
}

/**
 * The session that is open if it is for the same, else a new one: two that are paid would be two subscriptions. Requests at
 * the same time make the same one, as their key is made of the session before it.
 */
async function openCheckout(stripe: Stripe, price: string, { team, customer, returnUrl }: Checkout): Promise<string> {
  const params: Stripe.Checkout.SessionCreateParams = {
    mode: "subscription",
    customer,
    client_reference_id: team,
    line_items: [{ price, quantity: 1 }],
    success_url: returnUrl,
    cancel_url: returnUrl,
    metadata: { tool_team: team, tool_price: price, tool_return: returnUrl },
    subscription_data: { metadata: { tool_team: team } },
  };
  const { data } = await stripe.checkout.sessions.list({ customer, limit: 10 });
  for (const session of data) {
    if (session.status !== "open") continue;
    const { tool_price, tool_return } = session.metadata ?? {};
    if (tool_price === price && tool_return === returnUrl && session.url) return session.url;
    await stripe.checkout.sessions.expire(session.id);
  }
  const text = JSON.stringify([params, data[0]?.id ?? ""]);
  const idempotencyKey = `tool-checkout-${createHash("sha256").update(text).digest("hex")}`;
  const { url } = await stripe.checkout.sessions.create(params, { idempotencyKey });
  if (!url) throw new TypeError("Stripe's answer names no page");
  return url;
}

function readSubscription(read: Stripe.Subscription): ReadSubscription {
  const { id, cancel_at, cancel_at_period_end, latest_invoice, created, items } = read;
  const status = statusOf(read.status);
  const endsAt = cancel_at ?? (cancel_at_period_end ? items.data[0]?.current_period_end : undefined);
  const invoice = typeof latest_invoice === "object" ? latest_invoice : null;
  const unpaid = invoice?.status_transitions.finalized_at ?? invoice?.created ?? created;
  return {
    id,
    status,
    pastDueSince: status === "past_due" ? isoOf(unpaid) : "",
    endsAt: endsAt === undefined || endsAt === null ? "" : isoOf(endsAt),
    createdMs: created * 1000,
  };
}

/** A status that Stripe adds one day is not Pro, and not ended. */
function statusOf(text: string): ReadSubscription["status"] {
  if (text === "incomplete_expired") return "canceled";
  return STATUSES.find((one) => one === text) ?? "paused";
}

const STATUSES = ["active", "trialing", "past_due", "incomplete", "unpaid", "paused", "canceled"] as const;

const isoOf = (seconds: number) => new Date(seconds * 1000).toISOString();

const isMissing = (error: unknown) => (error as { code?: unknown }).code === "resource_missing";

/** The log says what is in the cause; the answer names no detail of the operator's account. */
function refusalOf(what: string, error: unknown, key: string): RpcError {
  const { type, statusCode, requestId, message } = error as Partial<Stripe.errors.StripeError>;
  const said = String(message ?? error).replaceAll(key, "****");
  const status = statusCode === undefined ? "" : ` (status ${statusCode}${requestId ? `, request ${requestId}` : ""})`;
  const cause = new ProviderFailure(`Stripe did not ${what}: ${said}${status}`);
  const isGone = type === "StripeConnectionError" || type === "StripeAPIError" || type === "StripeRateLimitError";
  return new RpcError(
    "unavailable",
    isGone
      ? `Stripe does not answer, so it did not ${what}: try again in a minute`
      : `Stripe refused to ${what}: those who run this service see why in its log`,
    { cause },
  );
}
