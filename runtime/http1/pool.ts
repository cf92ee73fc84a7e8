import type { Clock, Timer } from "../../grammar/units/clock.ts";
import { Connection, type ExchangeOutcome, type OutgoingRequest } from "./connection.ts";

export interface PoolOptions {
  readonly host: string;
  readonly port: number;
  /** An idle connection is closed after this time: before the app would close it. */
  readonly idleMs: number;
  readonly clock: Clock;
}

interface Idle {
  readonly connection: Connection;
  readonly sinceMs: number;
}

/** The connections to one run of the app: as many as there are requests at a time, kept for the next ones. */
export class Pool {
  readonly #options: PoolOptions;
  /** The last one used is the next to be used, so that those that are not needed reach the idle limit. */
  readonly #idle: Idle[] = [];
  #sweep: Timer | undefined;
  #isClosed = false;

  constructor(options: PoolOptions) {
    this.#options = options;
  }

  /** Returns a function that gives the request up. Throws if the request could not be written. */
  send(request: OutgoingRequest, outcome: ExchangeOutcome): () => void {
    const connection = this.#idle.pop()?.connection ?? this.#connect();
    try {
      return connection.send(request, outcome);
    } catch (error) {
      connection.destroy();
      throw error;
    }
  }

  /** Idle connections are closed now, the others after their response. */
  close(): void {
    this.#isClosed = true;
    this.#sweep?.stop();
    this.dropIdle();
  }

  /** The next requests go over new connections. */
  dropIdle(): void {
    for (const { connection } of this.#idle.splice(0)) connection.destroy();
  }

  #connect(): Connection {
    const { host, port } = this.#options;
    return new Connection({
      host,
      port,
      onIdle: (connection) => this.#keep(connection),
      onClosed: (connection) => this.#forget(connection),
    });
  }

  #keep(connection: Connection): void {
    if (this.#isClosed) {
      connection.destroy();
      return;
    }
    const { clock, idleMs } = this.#options;
    this.#idle.push({ connection, sinceMs: clock.monotonicMs() });
    // One timer for all: a timer for each connection would be set and cleared with every request.
    this.#sweep ??= clock.every(idleMs / 4, () => this.#closeOld(), { isBackground: true });
  }

  #closeOld(): void {
    const oldestMs = this.#options.clock.monotonicMs() - this.#options.idleMs;
    // The oldest come first.
    const kept = this.#idle.findIndex(({ sinceMs }) => sinceMs >= oldestMs);
    for (const { connection } of this.#idle.slice(0, kept === -1 ? undefined : kept)) connection.destroy();
    if (this.#idle.length > 0) return;
    this.#sweep?.stop();
    this.#sweep = undefined;
  }

  #forget(connection: Connection): void {
    const at = this.#idle.findIndex((idle) => idle.connection === connection);
    if (at !== -1) this.#idle.splice(at, 1);
  }
}
