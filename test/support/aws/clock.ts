// The sandbox's clock as tests have it: faster, and moved by hand.
import { type ClockOptions, CloudClock } from "../../../cli/sandbox/cloud/clock.ts";

/** How much faster the time of the cloud runs: a stack that takes four minutes there takes half a second. */
export const TEST_SPEED = 500;

export class TestClock extends CloudClock {
  #offsetMs = 0;

  /** At a speed of 0 none of the cloud's time passes but by `advance`. */
  constructor({ speed = TEST_SPEED }: ClockOptions = {}) {
    super({ speed });
  }

  override now(): number {
    return super.now() + this.#offsetMs;
  }

  /** Lets time pass at once, and runs what is due in its order. */
  advance(ms: number): void {
    this.#pauseAll();
    this.#offsetMs += ms;
    for (const timer of this.timers) timer.remainingMs -= ms;
    const due = [...this.timers].filter(({ remainingMs }) => remainingMs <= 0);
    for (const timer of due.sort((a, b) => a.remainingMs - b.remainingMs)) this.fire(timer);
    for (const timer of this.timers) this.start(timer);
  }

  setSpeed(speed: number): void {
    this.#pauseAll();
    this.speed = speed;
    for (const timer of this.timers) this.start(timer);
  }

  #pauseAll(): void {
    for (const timer of this.timers) this.pause(timer);
  }
}
