import type { IncomingMessage } from "node:http";
import { networkOf } from "../access/client-address.ts";
import { RpcError } from "../error.ts";
import { RequestBodies } from "../http/body.ts";
import { runExchange } from "../http/exchange.ts";
import { sendJson } from "../http/send.ts";
import { isEventNoted, noteEvent, subscriptionOfCustomer } from "../records/subscriptions.ts";
import { requestHeader } from "../routes/headers.ts";
import type { RequestHandler } from "../routes/methods.ts";
import type { RouteState } from "../routes/state.ts";
import type { Provider, ReadSubscription } from "./provider.ts";
import { type SignatureProblem, signatureProblem } from "./signature.ts";
import { type BillingService, goesOn, isTeam, keepRead } from "./subscriptions.ts";

/** The path that is entered at Stripe. */
export const WEBHOOK_PATH = "/billing/webhook";

/** Events hold one object each: those of real accounts have a few kilobytes, a long invoice some hundred. */
const MAX_BYTES = 512 * 1024;

/** Anybody can send what is refused: the log says so once in this time. */
const SAID_MS = 3_600_000;

const REFUSALS: Readonly<Record<SignatureProblem, string>> = {
  missing: "Stripe-Signature: is missing or not one of Stripe's",
  forged: "Stripe-Signature: does not match the body: TOOL_STRIPE_WEBHOOK_SECRET must be the secret of this endpoint",
  late: "Stripe-Signature: its time is more than 5 minutes from the time here",
};

/** The members of an event that are looked at. Everything else is read from Stripe. */
interface StripeEvent {
  readonly id: string;
  readonly type: string;
  /** The id of the customer that it is about; "" if it is about none. */
  readonly customer: string;
}

/** Answers Stripe's webhooks, whose signature is all that admits them. */
export function webhookAnswer(state: RouteState): RequestHandler {
  const { service, log, limits, rate, addressOf } = state;
  const { billing, clock, nowMs } = service;
  const bodies = new RequestBodies({ ...limits, bodyBytes: MAX_BYTES, inflatedBytes: MAX_BYTES });
  let saidMs = Number.NEGATIVE_INFINITY;
  const refuse = (problem: SignatureProblem): RpcError => {
    if (nowMs() - saidMs >= SAID_MS) {
      saidMs = nowMs();
      billing.warn(`a webhook was refused: ${REFUSALS[problem]}`);
    }
    return new RpcError("bad_request", REFUSALS[problem]);
  };
  return (request, response) =>
    void runExchange({ request, response, log, clock }, async (signal) => {
      const { stripe } = billing;
      if (stripe === undefined) throw new RpcError("not_found", "this service takes no payments");
      const address = addressOf(request);
      await rate.take(networkOf(address), signal);
      await bodies.receive(request, signal, async (body) => {
        const sent = { secret: stripe.webhookSecret, nowMs: nowMs() };
        const problem = signatureProblem(signatureOf(request), body, sent);
        if (problem !== undefined) throw refuse(problem);
        await receiveEvent(service, stripe.provider, readEvent(body), address);
      });
      sendJson(response, 200, { received: true });
    });
}

const signatureOf = (request: IncomingMessage) => requestHeader(request, "stripe-signature") ?? "";

function readEvent(body: Buffer): StripeEvent {
  const refused = new RpcError("bad_request", "the body is not an event of Stripe");
  let event: Record<string, unknown>;
  try {
    event = JSON.parse(body.toString());
  } catch {
    throw refused;
  }
  const { id, type, data } = event ?? {};
  if (typeof id !== "string" || id === "" || typeof type !== "string") throw refused;
  const about = (data as { object?: Record<string, unknown> } | undefined)?.object ?? {};
  const customer = about.object === "customer" ? about.id : about.customer;
  return { id, type, customer: typeof customer === "string" ? customer : "" };
}

/**
 * Deals with an event once. It only says whose subscription may have changed: that is read again, so that the order in which
 * events come does not matter. If it cannot be read, the event is not noted, and Stripe sends it again.
 */
async function receiveEvent(
  service: BillingService,
  provider: Provider,
  { id, type, customer }: StripeEvent,
  address: string,
): Promise<void> {
  const { records, billing, nowMs } = service;
  const { db } = records;
  const record = customer === "" ? undefined : await subscriptionOfCustomer(db, customer);
  if (record === undefined) {
    // Other products of the operator may be sold by the same account.
    if (type.startsWith("customer.subscription."))
      billing.warn(`Stripe tells of a subscription of a customer that no team has (${customer}, event ${id})`);
    return;
  }
  const team = record.team_id;
  await billing.turns.run(team, async () => {
    const row = await subscriptionOfCustomer(db, customer);
    if (row === undefined || (await isEventNoted(db, id))) return;
    let read = await provider.subscriptionsOf(customer).catch(unread);
    if (!(await isTeam(db, team))) read = await endOf(service, provider, team, read ?? []);
    await db.transaction().execute(async (transaction) => {
      if (!(await noteEvent(transaction, id, nowMs()))) return;
      await keepRead(transaction, service, { row, read, address });
    });
  });
}

/** Ends what nobody uses: a page for paying may have been open when the team was removed. Returns what is left. */
async function endOf(
  { billing }: BillingService,
  provider: Provider,
  team: string,
  read: readonly ReadSubscription[],
): Promise<readonly ReadSubscription[]> {
  const useless = read.filter(({ status, endsAt }) => goesOn({ status, ends_at: endsAt }));
  for (const { id } of useless) {
    await provider.end(id, "now").catch(unread);
    billing.warn(
      `the team ${team} was removed, so its subscription ${id} was ended at Stripe: pay back there what is due`,
    );
  }
  return read.filter((one) => !useless.includes(one));
}

/** Thrown as what it is, the failure is answered with 500 and logged. */
function unread(error: unknown): never {
  throw error instanceof RpcError ? (error.cause ?? error) : error;
}
