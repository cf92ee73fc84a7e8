import type { KeyObject } from "node:crypto";
import type { Provider } from "./provider.ts";

/** Tells the operators of the service. */
export interface BillingLog {
  /** Says that something failed. */
  error(message: string, error: unknown): void;
  /** Says what somebody should look at. */
  warn(message: string): void;
}

/** How the service is paid, as the operator says. */
export interface BillingSettings {
  /** Undefined if it needs no subscription: everybody has Pro. */
  readonly stripe?: { readonly provider: Provider; readonly webhookSecret: string } | undefined;
  /** The private key that signs statements; undefined if the service makes none. */
  readonly statementKey?: KeyObject | undefined;
}

/** The path at which Stripe sends its webhooks. */
export const WEBHOOK_PATH = "/billing/webhook";

export interface Billing extends BillingSettings {
  /** One for each team: its subscription is read and changed by one request after another. */
  readonly turns: Turns;
  readonly log: BillingLog;
}

export function openBilling(settings: BillingSettings = {}, log: BillingLog): Billing {
  return { ...settings, turns: new Turns(), log };
}

/** Runs what has the same name one after another. */
class Turns {
  readonly #last = new Map<string, Promise<unknown>>();

  async run<T>(name: string, act: () => Promise<T>): Promise<T> {
    const before = this.#last.get(name);
    const own = before === undefined ? act() : before.then(act);
    const settled = own.then(
      () => {},
      () => {},
    );
    this.#last.set(name, settled);
    try {
      return await own;
    } finally {
      if (this.#last.get(name) === settled) this.#last.delete(name);
    }
  }
}
