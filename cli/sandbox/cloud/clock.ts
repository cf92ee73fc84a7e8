// The clock of the stand-in: real time for what is written down, and the cloud's slow work in a fraction of its time.

export interface ClockOptions {
  /** How many milliseconds of the cloud's work pass in one; 0: none pass but by `advance`. */
  readonly speed?: number;
}

/** A stack that takes four minutes in the cloud takes half a second. */
const DEFAULT_SPEED = 500;

interface Timer {
  remainingMs: number;
  since: number;
  handle: NodeJS.Timeout | undefined;
  readonly run: () => void;
}

export class Clock {
  #speed: number;
  #offsetMs = 0;
  readonly #timers = new Set<Timer>();
  #last = 0;

  constructor({ speed = DEFAULT_SPEED }: ClockOptions = {}) {
    this.#speed = speed;
  }

  now(): number {
    return Date.now() + this.#offsetMs;
  }

  date(): Date {
    return new Date(this.now());
  }

  /** A time that no call before has got: for what is sorted by time. */
  nextDate(): Date {
    this.#last = Math.max(this.now(), this.#last + 1);
    return new Date(this.#last);
  }

  /** Runs after `ms` of the cloud's milliseconds. */
  after(ms: number, run: () => void): void {
    const timer: Timer = { remainingMs: ms, since: 0, handle: undefined, run };
    this.#timers.add(timer);
    this.#start(timer);
  }

  sleep(ms: number): Promise<void> {
    return new Promise((resolve) => this.after(ms, resolve));
  }

  /** Lets time pass at once, and runs what is due in its order. */
  advance(ms: number): void {
    this.#stopAll();
    this.#offsetMs += ms;
    for (const timer of this.#timers) timer.remainingMs -= ms;
    const due = [...this.#timers].filter(({ remainingMs }) => remainingMs <= 0);
    for (const timer of due.sort((a, b) => a.remainingMs - b.remainingMs)) this.#fire(timer);
    for (const timer of this.#timers) this.#start(timer);
  }

  setSpeed(speed: number): void {
    this.#stopAll();
    this.#speed = speed;
    for (const timer of this.#timers) this.#start(timer);
  }

  /** What is still to come never happens. */
  stop(): void {
    this.#stopAll();
    this.#timers.clear();
  }

  #start(timer: Timer): void {
    if (this.#speed === 0 || timer.handle !== undefined) return;
    timer.since = Date.now();
    timer.handle = setTimeout(() => this.#fire(timer), Math.max(0, timer.remainingMs / this.#speed));
  }

  #stopAll(): void {
    for (const timer of this.#timers) {
      if (timer.handle === undefined) continue;
      clearTimeout(timer.handle);
      timer.handle = undefined;
      timer.remainingMs -= (Date.now() - timer.since) * this.#speed;
    }
  }

  #fire(timer: Timer): void {
    if (!this.#timers.delete(timer)) return;
    clearTimeout(timer.handle);
    timer.run();
  }
}
