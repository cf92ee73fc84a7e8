import type { KeyObject } from "node:crypto";
import type { ServiceLog } from "../http/exchange.ts";
import type { Provider } from "./provider.ts";

/** How the service is paid, as the operator says. */
export interface BillingSettings {
  /** Undefined if it needs no subscription: everybody has Pro. */
  readonly stripe?: { readonly provider: Provider; readonly webhookSecret: string } | undefined;
  /** The private key that signs statements; undefined if the service makes none. */
  readonly statementKey?: KeyObject | undefined;
}

export interface Billing extends BillingSettings {
  /** One for each team: its subscription is read and changed by one request after another. */
  readonly turns: Turns;
  /** Tells the operators of the service what they should look at. */
  warn(message: string): void;
  /** Tells the operators of the service what failed. */
  failed(message: string, error: unknown): void;
}

export function openBilling(settings: BillingSettings = {}, log: ServiceLog): Billing {
  return {
    ...settings,
    turns: new Turns(),
    warn: (message) => log.warn(message),
    failed: (message, error) => log.error(message, error),
  };
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
