// The clock of the sandbox: real time for what is written down, and the cloud's slow work in a fraction of its time.
import { type Clock as BaseClock, type Timer as BaseTimer, systemClock } from "../../../grammar/units/clock.ts";

export interface ClockOptions {
  /** How many milliseconds of the cloud's work pass in one. */
  readonly speed?: number;
  /** The machine's clock, or that of a test. */
  readonly base?: BaseClock;
}

/** A stack that takes fifteen seconds in the cloud takes less than one. */
const DEFAULT_SPEED = 20;

/** The longest that a timer of the machine can wait. */
const MAX_TIMEOUT_MS = 2 ** 31 - 1;

/** Waits for so much of the cloud's time, or for a point of real time. */
export interface CloudTimer {
  remainingMs: number;
  readonly isReal: boolean;
  since: number;
  handle: BaseTimer | undefined;
  readonly run: () => void;
}

export class CloudClock {
  protected speed: number;
  protected readonly timers = new Set<CloudTimer>();
  readonly base: BaseClock;
  #last = 0;

  constructor({ speed = DEFAULT_SPEED, base = systemClock }: ClockOptions = {}) {
    this.speed = speed;
    this.base = base;
  }

  now(): number {
    return this.base.nowMs();
  }

  date(): Date {
    return new Date(this.now());
  }

  /** A time that no call before has got: for what is sorted by time. */
  nextDate(): Date {
    this.#last = Math.max(this.now(), this.#last + 1);
    return new Date(this.#last);
  }

  /** When `ms` of the cloud's milliseconds will have passed. */
  dueAt(ms: number): number {
    return this.now() + ms / (this.speed || 1);
  }

  /** Runs after `ms` of the cloud's milliseconds. What it gives back forgets it. */
  after(ms: number, run: () => void): () => void {
    return this.#add(ms, false, run);
  }

  /** Runs when it is `timeMs`; at once if that is past. */
  at(timeMs: number, run: () => void): () => void {
    return this.#add(Math.max(0, timeMs - this.now()), true, run);
  }

  /** Cancels all timers: none of what is still to come happens. */
  stop(): void {
    for (const timer of this.timers) timer.handle?.stop();
    this.timers.clear();
  }

  #add(remainingMs: number, isReal: boolean, run: () => void): () => void {
    const timer: CloudTimer = { remainingMs, isReal, since: 0, handle: undefined, run };
    this.timers.add(timer);
    this.start(timer);
    return () => {
      this.timers.delete(timer);
      timer.handle?.stop();
    };
  }

  protected start(timer: CloudTimer): void {
    const speed = timer.isReal ? 1 : this.speed;
    if (speed === 0 || timer.handle !== undefined) return;
    timer.since = this.base.nowMs();
    const waitMs = Math.max(0, timer.remainingMs / speed);
    timer.handle = this.base.after(Math.min(waitMs, MAX_TIMEOUT_MS), () => {
      if (waitMs <= MAX_TIMEOUT_MS) return this.fire(timer);
      this.pause(timer);
      this.start(timer);
    });
  }

  protected pause(timer: CloudTimer): void {
    if (timer.handle === undefined) return;
    timer.handle?.stop();
    timer.handle = undefined;
    timer.remainingMs -= (this.base.nowMs() - timer.since) * (timer.isReal ? 1 : this.speed);
  }

  protected fire(timer: CloudTimer): void {
    if (!this.timers.delete(timer)) return;
    timer.handle?.stop();
    timer.run();
  }
}
