/** Longer than a browser goes on to send a request again whose connections end without an answer. */
const KEPT_MS = 60_000;
const MOST_KEPT = 1_000;

/**
 * Answers a request that comes again, with the same key, by what it was answered first: browsers send a POST again by themselves
 * if its connection ends, and what it has made would be made twice.
 */
export class Repeats {
  readonly #nowMs: () => number;
  readonly #answers = new Map<string, { readonly atMs: number; readonly answer: Promise<unknown> }>();

  constructor(nowMs: () => number) {
    this.#nowMs = nowMs;
  }

  /** Runs once for each key. What was refused or broken off runs again. */
  once<T>(key: string, run: () => Promise<T>): Promise<T> {
    const nowMs = this.#nowMs();
    for (const [old, { atMs }] of this.#answers) {
      if (Math.abs(nowMs - atMs) <= KEPT_MS && this.#answers.size < MOST_KEPT) break;
      this.#answers.delete(old);
    }
    const existing = this.#answers.get(key);
    if (existing !== undefined) return existing.answer as Promise<T>;
    const answer = run();
    this.#answers.set(key, { atMs: nowMs, answer });
    answer.catch(() => this.#answers.delete(key));
    return answer;
  }
}
