import { setImmediate as turn } from "node:timers/promises";
import type { Clock, Timer } from "../../grammar/units/clock.ts";

/** 12 o'clock of a day without meaning, so that tests read well. */
const BEGIN_MS = Date.UTC(2026, 0, 15, 12);
/** Turns of the event loop in which promises and answers of the same process settle between two timers. */
const SETTLE_TURNS = 3;

interface Pending {
  readonly id: number;
  dueMs: number;
  readonly everyMs: number | undefined;
  readonly act: () => void;
}

/** A clock that does not move until a test turns it. */
export class TestClock implements Clock {
  #elapsedMs = 0;
  #skewMs = 0;
  #nextId = 1;
  readonly #pending = new Map<number, Pending>();
  readonly #beginMs: number;

  constructor(beginMs = BEGIN_MS) {
    this.#beginMs = beginMs;
  }

  nowMs = (): number => this.#beginMs + this.#elapsedMs + this.#skewMs;
  monotonicMs = (): number => this.#elapsedMs;

  sleep = (ms: number, signal?: AbortSignal): Promise<void> =>
    new Promise((resolve, reject) => {
      if (signal?.aborted) return reject(signal.reason);
      const aborted = () => {
        timer.stop();
        reject(signal?.reason);
      };
      const timer = this.after(ms, () => {
        signal?.removeEventListener("abort", aborted);
        resolve();
      });
      signal?.addEventListener("abort", aborted, { once: true });
    });

  after = (ms: number, act: () => void): Timer => this.#start(ms, undefined, act);
  every = (ms: number, act: () => void): Timer => this.#start(ms, ms, act);

  /** Timers that are to fire, by the milliseconds until then, the nearest first. */
  get timers(): readonly number[] {
    return [...this.#pending.values()].map(({ dueMs }) => dueMs - this.#elapsedMs).sort((a, b) => a - b);
  }

  /** Moves people's clock without time passing, as a person or a time server does. */
  jump(ms: number): void {
    this.#skewMs += ms;
  }

  /** Lets time pass in which nothing ran, as when the process was stopped: what was due meanwhile fires after it. */
  async stop(ms: number): Promise<void> {
    this.#elapsedMs += ms;
    await this.advance(0);
  }

  /** Lets `ms` milliseconds pass: fires the timers that are due in their order, and lets settle what each begins. */
  async advance(ms: number): Promise<void> {
    const untilMs = this.#elapsedMs + ms;
    await settle();
    for (let next = this.#next(untilMs); next !== undefined; next = this.#next(untilMs)) {
      this.#elapsedMs = Math.max(this.#elapsedMs, next.dueMs);
      if (next.everyMs === undefined) this.#pending.delete(next.id);
      else next.dueMs += Math.max(1, next.everyMs);
      next.act();
      await settle();
    }
    this.#elapsedMs = untilMs;
    await settle();
  }

  #next(untilMs: number): Pending | undefined {
    let first: Pending | undefined;
    for (const timer of this.#pending.values())
      if (timer.dueMs <= untilMs && (first === undefined || timer.dueMs < first.dueMs)) first = timer;
    return first;
  }

  #start(ms: number, everyMs: number | undefined, act: () => void): Timer {
    const id = this.#nextId++;
    this.#pending.set(id, { id, dueMs: this.#elapsedMs + Math.max(0, ms), everyMs, act });
    return { stop: () => void this.#pending.delete(id) };
  }
}

async function settle(): Promise<void> {
  for (let turns = 0; turns < SETTLE_TURNS; turns++) await turn();
}
