// The only file that knows Stripe's library. It is loaded by services that use it alone.
import { createHash } from "node:crypto";
import { Stripe } from "stripe";
import { printable } from "../../grammar/problem.ts";
import { RpcError } from "../error.ts";
import { type Checkout, type Provider, ProviderFailure, type ReadSubscription } from "./provider.ts";

export interface StripeOptions {
  /** The secret key. */
  readonly key: string;
  /** The id of the price that is subscribed to. */
  readonly price: string;
  /** Another address of the API: for tests. */
  readonly url?: string | undefined;
  /** How long one try may take, from the connection to the last byte of the answer. */
  readonly timeoutMs?: number;
}

/** Both tries together are over before `tool` gives up on the service, after 15 s, and before Stripe gives up on a webhook. */
const TIMEOUT_MS = 6_000;
const RETRIES = 1;

/** The longest answers, lists of sessions, have some tens of kilobytes. */
const MAX_BYTES = 4 * 1024 * 1024;

/** Opens Stripe's API. Asks for nothing yet. */
export function openStripe({ key, price, url, timeoutMs = TIMEOUT_MS }: StripeOptions): Provider {
  const at = url === undefined ? undefined : new URL(url);
  const stripe = new Stripe(key, {
    timeout: timeoutMs,
    maxNetworkRetries: RETRIES,
    // Its client by `fetch` ends an answer that comes byte by byte; that of Node waits as long as any comes.
    httpClient: Stripe.createFetchHttpClient(fetchBounded),
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
        return named(id, "no customer");
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
        return named(url, "no page");
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
  return named(url, "no page");
}

/** A text of an answer, which the library hands over unchecked; throws if it is not there. */
function named(text: string | null, nothing: string): string {
  if (typeof text !== "string" || text === "") throw new TypeError(`the answer names ${nothing}`);
  return text;
}

/** `fetch` for the library, which believes redirects: Stripe has none. Reads no more of an answer than any has. */
async function fetchBounded(url: string | URL | Request, init?: RequestInit): Promise<Response> {
  const { status, headers, body } = await fetch(url, { ...init, redirect: "error" });
  const parts: Uint8Array[] = [];
  let bytes = 0;
  for await (const part of body ?? []) {
    bytes += part.length;
    if (bytes > MAX_BYTES) throw new Error(`the answer is longer than ${MAX_BYTES} bytes`);
    parts.push(part);
  }
  return new Response(bytes === 0 ? null : Buffer.concat(parts), { status, headers });
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

const OPERATORS = "ask those who run this service, whose log says why";

/** The log says what is in the cause; the answer names no detail of the operator's account. */
function refusalOf(what: string, error: unknown, key: string): RpcError {
  const { type, statusCode, requestId, message } = error as Partial<Stripe.errors.StripeError>;
  const said = printable(String(message ?? error).replaceAll(key, "****"));
  const status = statusCode === undefined ? "" : ` (status ${statusCode}${requestId ? `, request ${requestId}` : ""})`;
  const cause = new ProviderFailure(`Stripe did not ${what}: ${said}${status}`);
  if (type === undefined) {
    const text = `Stripe's answer is not understood, so it did not ${what}: ${OPERATORS}`;
    return new RpcError("unavailable", text, { cause });
  }
  // That is about the card of the team, and it is for the team to mend.
  if (type === "StripeCardError") {
    return new RpcError("conflict", `Stripe refused to ${what}, and says of the card: ${said}`, { cause });
  }
  const isGone = type === "StripeConnectionError" || type === "StripeAPIError" || type === "StripeRateLimitError";
  return new RpcError(
    "unavailable",
    isGone
      ? `Stripe does not answer, so it did not ${what}: try again in a minute`
      : `Stripe refused to ${what}: ${OPERATORS}`,
    { cause },
  );
}
