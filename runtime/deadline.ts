import type { Clock, Timer } from "../grammar/units/clock.ts";

/** How late a deadline may pass; negligible next to a request's own time. */
const TICK_MS = 20;

/** The app did not begin its answer in time. */
export class TimedOut extends Error {}

/**
 * The time that the app has to answer. Each part of an upload extends it: an app cannot answer before it has the
 * whole. If the platform sets a time by which the answer must have begun, that time always runs, also while a request
 * waits for the app.
 */
export class AnswerDeadline {
  readonly timeoutMs: number;
  onPassed: () => void = nothing;
  readonly #all: Deadlines;
  /** By the monotonic clock; undefined while it does not run. */
  #dueMs: number | undefined;
  /** Its index among those that run; -1 if it does not run. */
  at = -1;
  readonly #last: Timer | undefined;

  /** `answerByMs` is milliseconds since 1970. */
  constructor(all: Deadlines, timeoutMs: number, answerByMs: number | undefined) {
    const { clock } = all;
    const leftMs = answerByMs === undefined ? Number.POSITIVE_INFINITY : Math.max(0, answerByMs - clock.nowMs());
    this.#all = all;
    this.timeoutMs = Math.min(timeoutMs, leftMs);
    if (answerByMs !== undefined) this.#last = clock.after(leftMs, () => this.onPassed());
  }

  /** Rejects with TimedOut. For waiting before the request is sent. */
  passed(): Promise<never> {
    return new Promise((_, reject) => {
      this.onPassed = () => reject(new TimedOut());
    });
  }

  start(): void {
    this.#dueMs = this.#all.clock.monotonicMs() + this.timeoutMs;
    this.#all.add(this);
  }

  /** Does nothing before the start and after the stop. */
  extend(): void {
    if (this.#dueMs !== undefined) this.start();
  }

  stop(): void {
    this.#dueMs = undefined;
    if (this.at !== -1) this.#all.remove(this);
  }

  end(): void {
    this.stop();
    this.#last?.stop();
    // Once V8 has moved the deadline to its old generation, it would keep the request from the young collector.
    this.onPassed = nothing;
  }

  isDue(nowMs: number): boolean {
    return this.#dueMs !== undefined && nowMs >= this.#dueMs;
  }
}

function nothing(): void {}

/**
 * The deadlines that run. One timer for all: one for each request would be set and cleared again and again, and is rarely
 * needed.
 */
export class Deadlines {
  readonly clock: Clock;
  readonly #running: AnswerDeadline[] = [];
  #ticker: Timer | undefined;

  constructor(clock: Clock) {
    this.clock = clock;
  }

  add(deadline: AnswerDeadline): void {
    if (deadline.at === -1) deadline.at = this.#running.push(deadline) - 1;
    this.#ticker ??= this.clock.every(TICK_MS, () => this.#tick());
  }

  remove(deadline: AnswerDeadline): void {
    // The last one takes its place: there is no order among them.
    const last = this.#running.pop()!;
    if (last !== deadline) {
      this.#running[deadline.at] = last;
      last.at = deadline.at;
    }
    deadline.at = -1;
  }

  #tick(): void {
    if (this.#running.length === 0) {
      this.#ticker?.stop();
      this.#ticker = undefined;
      return;
    }
    const nowMs = this.clock.monotonicMs();
    for (const deadline of [...this.#running]) {
      if (!deadline.isDue(nowMs)) continue;
      deadline.stop();
      deadline.onPassed();
    }
  }
}
