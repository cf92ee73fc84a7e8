/** How late a deadline may pass; negligible next to a request's own time. */
const TICK_MS = 20;

/** The app did not begin its answer in time. */
export class TimedOut extends Error {}

/**
 * The time that the app has to answer. Each part of an upload extends it: an app cannot answer before it has the
 * whole. If the platform sets a time by which the answer must have begun, that time always runs, also while a request
 * waits for the app.
 */
export class Deadline {
  readonly timeoutMs: number;
  onPassed: () => void = nothing;
  /** On the clock of `performance.now`; undefined while it does not run. */
  #dueMs: number | undefined;
  /** Its index in `running`; -1 if it does not run. */
  #at = -1;
  readonly #last: NodeJS.Timeout | undefined;

  /** `answerByMs` is milliseconds since 1970. */
  constructor(timeoutMs: number, answerByMs: number | undefined) {
    const leftMs = answerByMs === undefined ? Number.POSITIVE_INFINITY : Math.max(0, answerByMs - Date.now());
    this.timeoutMs = Math.min(timeoutMs, leftMs);
    if (answerByMs !== undefined) this.#last = setTimeout(() => this.onPassed(), leftMs);
  }

  /** Rejects with TimedOut. For waiting before the request is sent. */
  passed(): Promise<never> {
    return new Promise((_, reject) => {
      this.onPassed = () => reject(new TimedOut());
    });
  }

  start(): void {
    this.#dueMs = performance.now() + this.timeoutMs;
    if (this.#at === -1) this.#at = running.push(this) - 1;
    ticker ??= setInterval(tick, TICK_MS);
  }

  /** Does nothing before the start and after the stop. */
  extend(): void {
    if (this.#dueMs !== undefined) this.start();
  }

  stop(): void {
    this.#dueMs = undefined;
    if (this.#at === -1) return;
    // The last one takes its place: there is no order among them.
    const last = running.pop()!;
    if (last !== this) {
      running[this.#at] = last;
      last.#at = this.#at;
    }
    this.#at = -1;
  }

  end(): void {
    this.stop();
    clearTimeout(this.#last);
    // Once V8 has moved the deadline to its old generation, it would keep the request from the young collector.
    this.onPassed = nothing;
  }

  isDue(nowMs: number): boolean {
    return this.#dueMs !== undefined && nowMs >= this.#dueMs;
  }
}

function nothing(): void {}

/** One timer for all: one for each request would be set and cleared again and again, and is rarely needed. */
let ticker: NodeJS.Timeout | undefined;
const running: Deadline[] = [];

function tick(): void {
  if (running.length === 0) {
    clearInterval(ticker);
    ticker = undefined;
    return;
  }
  const nowMs = performance.now();
  for (const deadline of [...running]) {
    if (!deadline.isDue(nowMs)) continue;
    deadline.stop();
    deadline.onPassed();
  }
}
