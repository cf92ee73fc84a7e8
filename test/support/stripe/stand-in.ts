// A stand-in of Stripe on loopback: the part of its API that the service uses, with its state, and what
// people and time do at Stripe. Time is that of the test. Like the real one it reads forms, refuses what it does not know,
// and remembers Idempotency-Keys.
import { createHmac, randomBytes } from "node:crypto";
import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import type { Test } from "tap";

export const STRIPE_KEY = "sk_test_standin";
export const WEBHOOK_SECRET = "whsec_standin";
export const PRICE = "price_pro";
export const MONTH_MS = 30 * 24 * 3_600_000;

export interface StripeEvent {
  readonly id: string;
  readonly object: "event";
  readonly type: string;
  readonly created: number;
  readonly data: { readonly object: object };
}

export interface StandInSubscription {
  readonly id: string;
  readonly object: "subscription";
  readonly customer: string;
  readonly created: number;
  status: string;
  cancel_at: number | null;
  cancel_at_period_end: boolean;
  latest_invoice: {
    id: string;
    object: "invoice";
    created: number;
    status_transitions: { finalized_at: number | null };
  };
  readonly items: { readonly object: "list"; readonly data: { current_period_end: number; price: { id: string } }[] };
}

interface StandInCustomer {
  readonly id: string;
  readonly object: "customer";
  readonly metadata: Readonly<Record<string, string>>;
  isDeleted: boolean;
  isCardGood: boolean;
}

interface StandInSession {
  readonly id: string;
  readonly object: "checkout.session";
  readonly customer: string;
  readonly client_reference_id: string;
  readonly metadata: Readonly<Record<string, string>>;
  readonly price: string;
  readonly url: string;
  status: "open" | "complete" | "expired";
}

export interface SeenRequest {
  readonly method: string;
  readonly path: string;
  readonly form: Readonly<Record<string, string>>;
  readonly key: string | undefined;
}

/** The answer to a request: a status and an object. */
type Answered = readonly [status: number, body: object];

export class StripeStandIn {
  readonly customers = new Map<string, StandInCustomer>();
  readonly subscriptions = new Map<string, StandInSubscription>();
  readonly sessions: StandInSession[] = [];
  readonly requests: SeenRequest[] = [];
  /** Everything that happened, oldest first. Nothing is sent by itself. */
  readonly events: StripeEvent[] = [];
  /** The answers to the next requests are failures of this status. */
  failures: number[] = [];
  /** Whether the next request is done, and its answer lost. */
  losesAnswer = false;
  /** Called before each request is answered. */
  before: (request: SeenRequest) => Promise<void> | void = () => {};
  /** Writes answers that Stripe would not give, or none, instead of what the request asks for. */
  instead: ((response: ServerResponse) => void) | undefined;
  url = "";
  readonly #keys = new Map<string, { readonly sent: string; readonly answer: Answered }>();
  readonly #nowMs: () => number;
  #count = 0;

  constructor(nowMs: () => number) {
    this.#nowMs = nowMs;
  }

  async answer(request: IncomingMessage): Promise<Answered> {
    const { pathname, searchParams } = new URL(request.url!, "http://localhost");
    const form = Object.fromEntries([...searchParams, ...new URLSearchParams(await text(request))]);
    const key = request.headers["idempotency-key"] as string | undefined;
    const seen = { method: request.method!, path: pathname, form, key };
    this.requests.push(seen);
    await this.before(seen);
    if (request.headers.authorization !== `Bearer ${STRIPE_KEY}`)
      return failure(401, "invalid_request_error", `Invalid API Key provided: ${request.headers.authorization}`);
    const failed = this.failures.shift();
    if (failed !== undefined) return failure(failed, "api_error", "an error of the stand-in");
    const sent = JSON.stringify([seen.method, pathname, form]);
    const earlier = key === undefined || seen.method === "GET" ? undefined : this.#keys.get(key);
    if (earlier !== undefined && earlier.sent !== sent)
      return failure(
        400,
        "idempotency_error",
        "Keys for idempotent requests can only be used with the same parameters",
      );
    if (earlier !== undefined) return earlier.answer;
    const answer = this.#route(seen);
    if (key !== undefined) this.#keys.set(key, { sent, answer });
    if (this.losesAnswer) {
      this.losesAnswer = false;
      return failure(500, "api_error", "the answer is lost");
    }
    return answer;
  }

  #route({ method, path, form }: SeenRequest): Answered {
    const [, , kind, second = "", third = ""] = path.split("/");
    const customer = this.customers.get(kind === "customers" ? second : (form.customer ?? ""));
    switch (`${method} ${kind}`) {
      case "POST customers":
        return knows(form, /^metadata\[\w+\]$/) ?? [200, this.#addCustomer(form)];
      case "GET customers":
        if (customer === undefined) return missing("customer", second);
        return knows(form, /^expand\[\d\]$/) ?? [200, this.#shown(customer, Object.values(form))];
      case "GET checkout": {
        const data = this.sessions.filter((one) => one.customer === form.customer).reverse();
        return (
          knows(form, /^(?:customer|limit)$/) ?? [200, { object: "list", data: data.slice(0, Number(form.limit)) }]
        );
      }
      case "POST checkout": {
        if (third !== "") return [200, this.#expire(third)];
        const parameters =
          /^(?:mode|customer|client_reference_id|success_url|cancel_url|line_items\[0\]\[(?:price|quantity)\]|(?:subscription_data\[metadata\]|metadata)\[\w+\])$/;
        if (customer === undefined || customer.isDeleted) return missing("customer", form.customer ?? "");
        return knows(form, parameters) ?? [200, this.#addSession(form)];
      }
      case "POST billing_portal": {
        if (customer === undefined || customer.isDeleted) return missing("customer", form.customer ?? "");
        const url = `https://billing.stripe.test/${form["flow_data[type]"] ?? "all"}/${customer.id}`;
        return (
          knows(form, /^(?:customer|return_url|flow_data\[type\])$/) ?? [200, { object: "billing_portal.session", url }]
        );
      }
      case "POST subscriptions":
      case "DELETE subscriptions": {
        const subscription = this.subscriptions.get(second);
        if (subscription === undefined || subscription.status === "canceled") return missing("subscription", second);
        if (method === "DELETE") this.setStatus(subscription, "canceled");
        else if (form.cancel_at_period_end === "true") {
          subscription.cancel_at_period_end = true;
          subscription.cancel_at = subscription.items.data[0]!.current_period_end;
          this.#tell("customer.subscription.updated", subscription);
        }
        return [200, subscription];
      }
      default:
        return failure(404, "invalid_request_error", `Unrecognized request URL (${method}: ${path})`);
    }
  }

  #addCustomer(form: SeenRequest["form"]): object {
    const customer = { id: this.#id("cus"), object: "customer" as const, metadata: metadataOf(form) };
    this.customers.set(customer.id, { ...customer, isDeleted: false, isCardGood: true });
    return customer;
  }

  #shown(customer: StandInCustomer, expanded: readonly string[]): object {
    const { id, object, metadata, isDeleted } = customer;
    if (isDeleted) return { id, object, deleted: true };
    if (!expanded.includes("subscriptions.data.latest_invoice")) return { id, object, metadata };
    const data = this.subscriptionsOf(id).filter(({ status }) => status !== "canceled");
    return { id, object, metadata, subscriptions: { object: "list", data: data.reverse() } };
  }

  #addSession(form: SeenRequest["form"]): object {
    const id = this.#id("cs");
    const session: StandInSession = {
      id,
      object: "checkout.session",
      customer: form.customer!,
      client_reference_id: form.client_reference_id!,
      metadata: metadataOf(form),
      price: form["line_items[0][price]"]!,
      url: `https://checkout.stripe.test/${id}`,
      status: "open",
    };
    this.sessions.push(session);
    return { ...session };
  }

  #expire(id: string): object {
    const session = this.sessions.find((one) => one.id === id)!;
    session.status = "expired";
    return session;
  }

  subscriptionsOf(customer: string): StandInSubscription[] {
    return [...this.subscriptions.values()].filter((one) => one.customer === customer);
  }

  /** The customer whose page a URL is. */
  sessionAt(url: string): StandInSession {
    return this.sessions.find((one) => one.url === url)!;
  }

  /** A person pays on the page of a session. */
  pay(url: string, status = "active"): StandInSubscription {
    const session = this.sessionAt(url);
    if (session.status !== "open") throw new Error(`the session is ${session.status}`);
    session.status = "complete";
    const subscription = this.subscribe(session.customer, status);
    this.#tell("checkout.session.completed", session);
    return subscription;
  }

  /** A subscription begins, as on a page or by hand. */
  subscribe(customer: string, status = "active"): StandInSubscription {
    const subscription: StandInSubscription = {
      id: this.#id("sub"),
      object: "subscription",
      customer,
      created: this.#seconds(),
      status,
      cancel_at: null,
      cancel_at_period_end: false,
      latest_invoice: this.#invoice(),
      items: { object: "list", data: [{ current_period_end: this.#seconds(MONTH_MS), price: { id: PRICE } }] },
    };
    this.subscriptions.set(subscription.id, subscription);
    this.#tell("customer.subscription.created", subscription);
    return subscription;
  }

  /** Does what has become due by now: ends subscriptions, makes invoices. */
  turn(): void {
    for (const subscription of this.subscriptions.values()) {
      const { customer, items, cancel_at_period_end: isEnding } = subscription;
      const item = items.data[0]!;
      if (subscription.status === "canceled" || item.current_period_end > this.#seconds()) continue;
      if (isEnding) {
        this.setStatus(subscription, "canceled", "customer.subscription.deleted");
        continue;
      }
      item.current_period_end = this.#seconds(MONTH_MS);
      subscription.latest_invoice = this.#invoice();
      this.setStatus(subscription, this.customers.get(customer)!.isCardGood ? "active" : "past_due");
    }
  }

  setStatus(subscription: StandInSubscription, status: string, type = "customer.subscription.updated"): StripeEvent {
    subscription.status = status;
    return this.#tell(type, subscription);
  }

  /** Whether the card of a customer pays. One that does pays what is due at once. */
  setCard(customer: string, isGood: boolean): void {
    this.customers.get(customer)!.isCardGood = isGood;
    if (!isGood) return;
    for (const one of this.subscriptionsOf(customer)) if (one.status === "past_due") this.setStatus(one, "active");
  }

  deleteCustomer(id: string): StripeEvent {
    const customer = this.customers.get(id)!;
    customer.isDeleted = true;
    for (const one of this.subscriptionsOf(id)) this.setStatus(one, "canceled", "customer.subscription.deleted");
    return this.#tell("customer.deleted", customer);
  }

  get lastEvent(): StripeEvent {
    return this.events.at(-1)!;
  }

  #tell(type: string, about: object): StripeEvent {
    const object = JSON.parse(JSON.stringify(about));
    const event = { id: this.#id("evt"), object: "event" as const, type, created: this.#seconds(), data: { object } };
    this.events.push(event);
    return event;
  }

  #invoice() {
    const created = this.#seconds();
    return { id: this.#id("in"), object: "invoice" as const, created, status_transitions: { finalized_at: created } };
  }

  #seconds(moreMs = 0): number {
    return Math.floor((this.#nowMs() + moreMs) / 1000);
  }

  #id(kind: string): string {
    return `${kind}_${++this.#count}${randomBytes(4).toString("hex")}`;
  }
}

/** Starts a stand-in, which ends with the test. */
export async function startStripe(t: Test, nowMs: () => number): Promise<StripeStandIn> {
  const stripe = new StripeStandIn(nowMs);
  const server = createServer(async (request, response) => {
    if (stripe.instead !== undefined) return void stripe.instead(response);
    const [status, body] = await stripe.answer(request);
    // Without the header the library tries again by itself, after a while.
    response.writeHead(status, { "content-type": "application/json", "stripe-should-retry": "false" });
    response.end(JSON.stringify(body));
  });
  await once(server.listen(0, "127.0.0.1"), "listening");
  stripe.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  t.teardown(() => {
    server.closeAllConnections();
    server.close();
  });
  return stripe;
}

/** The header of a webhook, as Stripe makes it. */
export function signatureOf(body: string | Buffer, atMs: number, secret = WEBHOOK_SECRET): string {
  const time = Math.floor(atMs / 1000);
  return `t=${time},v1=${createHmac("sha256", secret).update(`${time}.`).update(body).digest("hex")}`;
}

function metadataOf(form: SeenRequest["form"]): Record<string, string> {
  const rows = Object.entries(form).map(([name, value]) => [/^metadata\[(\w+)\]$/.exec(name)?.[1], value] as const);
  return Object.fromEntries(rows.filter(([name]) => name !== undefined));
}

/** A refusal of a parameter that is not known. */
function knows(form: SeenRequest["form"], parameters: RegExp): Answered | undefined {
  const unknown = Object.keys(form).find((name) => !parameters.test(name));
  if (unknown === undefined) return undefined;
  return failure(400, "invalid_request_error", `Received unknown parameter: ${unknown}`);
}

const missing = (what: string, id: string): Answered => [
  404,
  { error: { type: "invalid_request_error", code: "resource_missing", message: `No such ${what}: '${id}'` } },
];

const failure = (status: number, type: string, message: string): Answered => [status, { error: { type, message } }];
