import { createHash } from "node:crypto";
import type { Clock } from "../../grammar/units/clock.ts";
import { isUnwritable } from "../access/tokens.ts";
import { RpcError } from "../error.ts";
import type { Records } from "../records/open.ts";
import { answerRepeat, claimRepeat, releaseRepeat } from "../records/repeats.ts";

/** Longer than a browser goes on to send a request again whose connections end without an answer. */
const KEPT_MS = 60_000;
const MOST_KEPT = 1_000;
/** How long a request waits while another process runs the same one, which may have been killed. */
const AWAITED_MS = 5_000;
const STEP_MS = 100;

/**
 * Answers a request that comes again, with the same key, by what it was answered first: browsers send a POST again by themselves
 * if its connection ends, and what it has made would be made twice. Keys and answers are in the records, as it may come to another
 * process, or after a start.
 */
export class Repeats {
  readonly #records: Pick<Records, "db" | "seal">;
  readonly #clock: Clock;
  /** Those of this process that are under way, and for a minute those that the records could not take. */
  readonly #answers = new Map<string, { readonly atMs: number; readonly answer: Promise<unknown> }>();

  constructor(records: Pick<Records, "db" | "seal">, clock: Clock) {
    this.#records = records;
    this.#clock = clock;
  }

  /** Runs once for each key. What was refused or broken off runs again. Throws if another process does not end with it. */
  once<T>(key: string, run: () => Promise<T>): Promise<T> {
    const nowMs = this.#clock.nowMs();
    for (const [old, { atMs }] of this.#answers) {
      if (Math.abs(nowMs - atMs) <= KEPT_MS && this.#answers.size < MOST_KEPT) break;
      this.#answers.delete(old);
    }
    const existing = this.#answers.get(key);
    if (existing !== undefined) return existing.answer as Promise<T>;
    const forget = () => void this.#answers.delete(key);
    const answer = this.#onceOfAll(createHash("sha256").update(key).digest("hex"), run, forget);
    this.#answers.set(key, { atMs: nowMs, answer });
    answer.catch(forget);
    return answer;
  }

  /** Calls `written` when the records have the answer. */
  async #onceOfAll<T>(hash: string, run: () => Promise<T>, written: () => void): Promise<T> {
    const { db, seal } = this.#records;
    const endMs = this.#clock.monotonicMs() + AWAITED_MS;
    for (;;) {
      const earlier = await claimRepeat(db, { hash, made_ms: this.#clock.nowMs() }, KEPT_MS).catch(unlessUnwritable);
      if (earlier === undefined) break;
      if (earlier.answer !== "") {
        written();
        return (JSON.parse(seal.open(earlier.answer, placeOf(hash))) as { output: T }).output;
      }
      if (this.#clock.monotonicMs() >= endMs) {
        const message = "the same request is being answered, or was broken off: try again";
        throw new RpcError("unavailable", message, { retryAfterMs: 5_000 });
      }
      await this.#clock.sleep(STEP_MS);
    }
    let output: T;
    try {
      output = await run();
    } catch (error) {
      // Until its time is over, a key that stays claimed is refused.
      await releaseRepeat(db, hash).catch(() => {});
      throw error;
    }
    // The change is made: this process keeps the answer if the records cannot.
    const sealed = seal.close(JSON.stringify({ output }), placeOf(hash));
    await answerRepeat(db, hash, sealed).then(
      (isThere) => isThere && written(),
      () => {},
    );
    return output;
  }
}

/** Answers have secrets, such as a new token. */
const placeOf = (hash: string) => `repeats ${hash} answer`;

/** A full disk is no reason to refuse what may need none. */
function unlessUnwritable(error: unknown): undefined {
  if (!isUnwritable(error)) throw error;
}
