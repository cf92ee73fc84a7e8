import { RpcError } from "../error.ts";
import { isEventNoted, noteEvent, subscriptionOfCustomer } from "../records/subscriptions.ts";
import { transact } from "../records/transact.ts";
import type { Provider, ReadSubscription } from "./provider.ts";
import { type BillingService, goesOn, isTeam, keepRead, warnOfSeveral } from "./subscriptions.ts";

/** The members of an event that are looked at. Everything else is read from Stripe. */
export interface StripeEvent {
  readonly id: string;
  readonly type: string;
  /** The id of the customer that it is about; "" if it is about none. */
  readonly customer: string;
}

/** Reads the body of a webhook. Throws `bad_request`. */
export function readEvent(body: Buffer): StripeEvent {
  const refused = new RpcError("bad_request", "the body is not an event of Stripe");
  let event: Record<string, unknown>;
  try {
    event = JSON.parse(body.toString());
  } catch {
    throw refused;
  }
  const { id, type, data } = event ?? {};
  if (typeof id !== "string" || !ID.test(id) || typeof type !== "string") throw refused;
  const about = (data as { object?: Record<string, unknown> } | undefined)?.object ?? {};
  const customer = about.object === "customer" ? about.id : about.customer;
  return { id, type, customer: typeof customer === "string" && ID.test(customer) ? customer : "" };
}

/** Ids of Stripe, which are written into the log. */
const ID = /^\w{1,255}$/;

/**
 * Deals with an event once. It only says whose subscription may have changed: that is read again, so that the order in which
 * events come does not matter. If it cannot be read, the event is not noted, and Stripe sends it again.
 */
export async function receiveEvent(
  service: BillingService,
  provider: Provider,
  { id, type, customer }: StripeEvent,
  { address, signal }: { readonly address: string; readonly signal: AbortSignal },
): Promise<void> {
  const { records, billing, nowMs } = service;
  const { db } = records;
  const record = customer === "" ? undefined : await subscriptionOfCustomer(db, customer);
  if (record === undefined) {
    // Other products of the operator may be sold by the same account.
    if (type.startsWith("customer.subscription."))
      billing.log.warn(
        customer === ""
          ? `Stripe tells of a subscription and names no customer (event ${id})`
          : `Stripe tells of a subscription of a customer that no team has (${customer}, event ${id})`,
      );
    return;
  }
  const team = record.team_id;
  await billing.turns.run(team, async () => {
    // While Stripe does not answer, turns take long: it has given up on this webhook, and sends it again.
    signal.throwIfAborted();
    const row = await subscriptionOfCustomer(db, customer);
    if (row === undefined || (await isEventNoted(db, id))) return;
    let read = await provider.subscriptionsOf(customer).catch(unread);
    if (!(await isTeam(db, team))) read = await endOf(service, provider, team, read ?? []);
    warnOfSeveral(service, team, read);
    await transact(db, async (transaction) => {
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
    billing.log.warn(
      `the team ${team} was removed, so its subscription ${id} was ended at Stripe: pay back there what is due`,
    );
  }
  return read.filter((one) => !useless.includes(one));
}

/** Thrown as what it is, the failure is answered with 500 and logged. */
function unread(error: unknown): never {
  throw error instanceof RpcError ? (error.cause ?? error) : error;
}
