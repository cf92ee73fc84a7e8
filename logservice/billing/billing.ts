import type { KeyObject } from "node:crypto";
import type { Provider } from "./provider.ts";

/** How the service is paid. */
export interface Billing {
  /** Undefined if it needs no subscription: everybody has Pro. */
  readonly stripe: { readonly provider: Provider; readonly webhookSecret: string } | undefined;
  /** The private key that signs statements; undefined if the service makes none. */
  readonly statementKey: KeyObject | undefined;
  /** What is done for a team, one after another. */
  readonly turns: Turns;
  /** Tells the operators of the service. */
  warn(message: string): void;
  failed(message: string, error: unknown): void;
}

/** Runs what has the same name one after another. */
export class Turns {
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
