import { requireStillGranted } from "../access/still-granted.ts";
import { pathOf } from "../address/page.ts";
import { isRunning } from "../billing/edition.ts";
import { type Provider, ProviderFailure } from "../billing/provider.ts";
import { getSubscription, goesOn, readAgain, stated, subscriptionIn, withCustomer } from "../billing/subscriptions.ts";
import { RpcError } from "../error.ts";
import { subscriptionOf } from "../records/subscriptions.ts";
import type { SubscriptionRow } from "../records/tables.ts";
import { changeRecords, finishChange, type Handlers, type OperationCall, type Service } from "./call.ts";

export const subscriptions: Handlers<"get_subscription" | "add_subscription" | "change_card" | "remove_subscription"> =
  {
    async get_subscription(service, _, { grant }) {
      if (grant.team === "")
        throw new RpcError("invalid", "X-Team: is required: you are in several teams or in none; get_teams lists them");
      return getSubscription(service, grant.team);
    },

    add_subscription: (service, _, call) =>
      inTurn(service, call, async (provider, team) => {
        let row = await readAgain(service, provider, await withCustomer(service, provider, team));
        if (row.customer_id === "") row = await withCustomer(service, provider, team);
        // A first payment that failed is made anew.
        const hasOne = isRunning(row.status) && row.status !== "incomplete";
        if (hasOne && goesOn(row)) {
          const remedy =
            row.status === "active" || row.status === "trialing" ? "" : ": its card may need to be changed";
          throw new RpcError("conflict", `the team has a subscription, which is ${row.status}${remedy}`);
        }
        const returnUrl = pageOf(service, team);
        const customer = row.customer_id;
        const url = hasOne
          ? await provider.portal(customer, { returnUrl, isForCard: false })
          : await provider.checkout({ team, customer, returnUrl });
        await changeRecords(service, call, async () => ({ targetId: customer }));
        return { url };
      }),

    change_card: (service, _, call) =>
      inTurn(service, call, async (provider, team) => {
        const row = await requireRunning(service, team);
        // One that was cancelled is taken up again on the page of the whole account.
        const options = { returnUrl: pageOf(service, team), isForCard: goesOn(row) };
        const url = await provider.portal(row.customer_id, options);
        await changeRecords(service, call, async () => ({ targetId: row.customer_id }));
        return { url };
      }),

    remove_subscription: (service, _, call) =>
      inTurn(service, call, async (provider, team) => {
        const row = await readAgain(service, provider, await requireRunning(service, team));
        if (!isRunning(row.status)) throw NO_SUBSCRIPTION;
        const { subscription_id } = row;
        if (goesOn(row)) {
          await provider.end(subscription_id, PAID_FOR.includes(row.status) ? "period end" : "now");
          await finishChange(service, call, async () => ({ targetId: subscription_id }));
        }
        const ended = await readAgain(service, provider, row);
        return stated(service, subscriptionIn(team, ended, service.nowMs()));
      }),
  };

/** The others have no time left that is paid. */
const PAID_FOR: readonly SubscriptionRow["status"][] = ["active", "trialing", "past_due"];

const NEEDS_NONE = new RpcError("conflict", "this service needs no subscription: everybody has Pro");
const NO_SUBSCRIPTION = new RpcError("conflict", "the team has no subscription: begin one (tool team subscribe)");

/** Does something with the provider for the team, while nothing else is done for it. */
function inTurn<T>(
  { billing, records }: Service,
  { grant, signal }: OperationCall,
  act: (provider: Provider, team: string) => Promise<T>,
): Promise<T> {
  const { stripe, turns } = billing;
  if (stripe === undefined) return Promise.reject(NEEDS_NONE);
  return turns.run(grant.team, async () => {
    // While Stripe does not answer, turns take long: nothing is begun for somebody who has left.
    signal.throwIfAborted();
    // It may have ended while others had their turn, and what Stripe does cannot be taken back.
    await requireStillGranted(records.db, grant);
    return act(stripe.provider, grant.team).catch((error: unknown) => {
      // The answer does not say why: that is about the account of the operator.
      if (error instanceof RpcError && error.cause instanceof ProviderFailure)
        billing.log.error("a subscription could not be changed", error.cause);
      throw error;
    });
  });
}

async function requireRunning({ records }: Service, team: string): Promise<SubscriptionRow> {
  const row = await subscriptionOf(records.db, team);
  if (row === undefined || row.customer_id === "" || !isRunning(row.status)) throw NO_SUBSCRIPTION;
  return row;
}

/** The page of the team, where the provider sends the browser back to. */
const pageOf = ({ account }: Service, team: string) =>
  account.address.link(pathOf({ kind: "team", team, section: "members" }));
