import type { Kysely } from "kysely";
import type { Subscription } from "../../schema/rpc.generated.ts";
import { makeStatement } from "../../schema/statement.ts";
import { RpcError } from "../error.ts";
import { writeAudit } from "../records/audit.ts";
import { instanceId } from "../records/instance.ts";
import type { Records } from "../records/open.ts";
import { noteCustomer, type SubscriptionChange, setSubscription, subscriptionOf } from "../records/subscriptions.ts";
import type { SubscriptionRow, Tables } from "../records/tables.ts";
import { teamNamed } from "../records/teams.ts";
import { transact } from "../records/transact.ts";
import type { Billing } from "./billing.ts";
import { editionOf, isRunning, type SubscriptionStatus } from "./edition.ts";
import type { Provider, ReadSubscription } from "./provider.ts";

/** The parts of the service that subscriptions need. */
export interface BillingService {
  readonly records: Pick<Records, "db">;
  readonly billing: Billing;
  /** Where people reach the service. */
  readonly account: { readonly address: { readonly isKnown: boolean; readonly origin: string } };
  nowMs(): number;
}

/** A webhook may be lost: what was read longer ago is read again when somebody asks. */
const READ_AGAIN_MS = 24 * 3_600_000;
/** A provider that is away is not asked at each request. */
const TRY_AGAIN_MS = 10 * 60_000;

/** The subscription of a team, with a signed statement if the service makes them. */
export async function getSubscription(service: BillingService, team: string): Promise<Subscription> {
  const { records, billing, nowMs } = service;
  const { stripe } = billing;
  if (stripe === undefined) return stated(service, { team_id: team, provider: "none", status: "none", edition: "pro" });
  const row = await subscriptionOf(records.db, team);
  if (row === undefined || !isOld(row, nowMs())) return stated(service, subscriptionIn(team, row, nowMs()));
  const read = await billing.turns.run(team, async () => {
    const latest = await subscriptionOf(records.db, team);
    if (latest === undefined || !isOld(latest, nowMs())) return latest;
    return readAgain(service, stripe.provider, latest).catch(async (error: Error) => {
      billing.log.error("a subscription could not be read again; its last state counts", error.cause ?? error);
      const later = new Date(nowMs() - READ_AGAIN_MS + TRY_AGAIN_MS).toISOString();
      await setSubscription(records.db, team, { read_at: later }, latest.updated_at);
      return latest;
    });
  });
  return stated(service, subscriptionIn(team, read, nowMs()));
}

/** Only what may have changed since is read again. */
const isOld = ({ status, customer_id, read_at }: SubscriptionRow, nowMs: number) =>
  isRunning(status) && customer_id !== "" && nowMs - Date.parse(read_at) >= READ_AGAIN_MS;

/** The subscription as clients see it. */
export function subscriptionIn(team: string, row: SubscriptionRow | undefined, nowMs: number): Subscription {
  const { status = "none", past_due_since: pastDueSince = "", ends_at = "" } = row ?? {};
  const edition = editionOf(status, pastDueSince, nowMs);
  return { team_id: team, provider: "stripe", status, edition, ...(ends_at !== "" && { ends_at }) };
}

/** With the statement, if the service has a key and an address. */
export function stated({ billing, account, nowMs }: BillingService, subscription: Subscription): Subscription {
  const { statementKey } = billing;
  if (statementKey === undefined || !account.address.isKnown) return subscription;
  const { team_id, edition, status } = subscription;
  const claims = { team: team_id, service: account.address.origin, edition, reason: status };
  return { ...subscription, statement: makeStatement(claims, statementKey, nowMs()) };
}

/** The record of a team with its customer, which is made if there is none. To be called in the turn of the team. */
export async function withCustomer(
  { records, nowMs }: BillingService,
  provider: Provider,
  team: string,
): Promise<SubscriptionRow> {
  const { db } = records;
  const row = await subscriptionOf(db, team);
  if (row !== undefined && row.customer_id !== "") return row;
  const number = (row?.customer_number ?? 0) + 1;
  // Another process, or this one before it was killed, gets the same customer by this key.
  const key = `tool-customer-${await instanceId(db)}-${team}-${number}`;
  const customer = await provider.addCustomer(team, key);
  return noteCustomer(db, { team, customer, number }, new Date(nowMs()).toISOString());
}

/** Reads the subscription from the provider and keeps it. To be called in the turn of the team. */
export async function readAgain(
  service: BillingService,
  provider: Provider,
  row: SubscriptionRow,
): Promise<SubscriptionRow> {
  const read = await provider.subscriptionsOf(row.customer_id);
  warnOfSeveral(service, row.team_id, read);
  return transact(service.records.db, (db) => keepRead(db, service, { row, read, address: "" }));
}

/** Tells the operator of a team that pays more than once. */
export function warnOfSeveral(
  { billing }: Pick<BillingService, "billing">,
  team: string,
  read: readonly ReadSubscription[] = [],
): void {
  const running = read.filter(({ status }) => isRunning(status));
  if (running.length < 2) return;
  const ids = running.map(({ id }) => id).join(", ");
  billing.log.warn(
    `the team ${team} pays for ${running.length} subscriptions at Stripe (${ids}): end all but one there`,
  );
}

export interface SubscriptionRead {
  /** The record as it was before. */
  readonly row: SubscriptionRow;
  /** The answer of the provider; undefined if the customer was deleted. */
  readonly read: readonly ReadSubscription[] | undefined;
  /** The network address of who sent the webhook, if one did. */
  readonly address: string;
}

/** Keeps what was read from the provider, with a line of the audit if the state is another one. */
export async function keepRead(
  db: Kysely<Tables>,
  { nowMs }: Pick<BillingService, "nowMs">,
  { row, read, address }: SubscriptionRead,
): Promise<SubscriptionRow> {
  const at = new Date(nowMs()).toISOString();
  const { team_id } = row;
  const change = changeOf(row, read);
  await setSubscription(db, team_id, { ...change, read_at: at }, at);
  const now = { ...row, ...change, read_at: at, updated_at: at };
  if (now.status === row.status && now.ends_at === row.ends_at) return now;
  const detail = now.ends_at === "" ? now.status : `${now.status}, ends ${now.ends_at}`;
  const entry = { at, team_id, actor: "stripe", operation: "set_subscription", project_id: "", address };
  await writeAudit(db, { ...entry, target_id: now.subscription_id, result: "done", detail });
  return now;
}

/** The record of what was read. */
function changeOf(row: SubscriptionRow, read: readonly ReadSubscription[] | undefined): SubscriptionChange {
  const best = (read ?? []).reduce<ReadSubscription | undefined>(
    (first, one) => (first === undefined || isBetter(one, first) ? one : first),
    undefined,
  );
  if (best === undefined)
    return {
      ...(read === undefined && { customer_id: "" }),
      status: row.status === "none" ? "none" : "canceled",
      past_due_since: "",
      ends_at: "",
    };
  const { id, status, pastDueSince, endsAt } = best;
  // Each month has an invoice of its own, and the first that was not paid counts.
  const isSame = row.status === "past_due" && row.subscription_id === id && row.past_due_since < pastDueSince;
  return {
    subscription_id: id,
    status,
    past_due_since: isSame ? row.past_due_since : pastDueSince,
    ends_at: endsAt,
  };
}

/** The better for the team first. */
const RANK: readonly SubscriptionStatus[] = [
  "active",
  "trialing",
  "past_due",
  "unpaid",
  "paused",
  "incomplete",
  "canceled",
];

function isBetter(one: ReadSubscription, other: ReadSubscription): boolean {
  const difference = RANK.indexOf(one.status) - RANK.indexOf(other.status);
  return difference < 0 || (difference === 0 && one.createdMs > other.createdMs);
}

/** Whether a team would go on to pay if nobody ended its subscription. */
export const goesOn = ({ status, ends_at }: Pick<SubscriptionRow, "status" | "ends_at">): boolean =>
  isRunning(status) && ends_at === "";

/** Throws `conflict` if a team that is to be removed would go on to pay. */
export async function requireNoSubscription(
  db: Kysely<Tables>,
  { billing }: Pick<BillingService, "billing">,
  team: string,
): Promise<void> {
  if (billing.stripe === undefined) return;
  const row = await subscriptionOf(db, team);
  if (row === undefined || !goesOn(row)) return;
  throw new RpcError("conflict", "the team has a subscription: end it first (tool team unsubscribe)");
}

/** Whether a team is still there. */
export const isTeam = async (db: Kysely<Tables>, team: string) => (await teamNamed(db, team)) !== undefined;
