import { createHash } from "node:crypto";
import type { Clock } from "../../grammar/units/clock.ts";
import { RpcError } from "../error.ts";
import { RecordsAway } from "../records/away.ts";
import { isRecordsFull } from "../records/check.ts";
import type { Records } from "../records/open.ts";
import { answerRepeat, claimRepeat, releaseRepeat } from "../records/repeats.ts";
import { openSeal } from "../records/seal.ts";

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
  readonly #records: Pick<Records, "db">;
  readonly #clock: Clock;
  /** Those of this process that are under way, and for a minute those that the records could not take. */
  readonly #answers = new Map<string, { readonly atMs: number; readonly answer: Promise<unknown> }>();

  constructor(records: Pick<Records, "db">, clock: Clock) {
    this.#records = records;
    this.#clock = clock;
  }

  /**
   * Runs once for each key, which nobody can guess. What was refused or broken off runs again. Throws if another process does not
   * end with it, or if it may have made a change although it has failed.
   */
  once<T>(key: string, run: () => Promise<T>): Promise<T> {
    const nowMs = this.#clock.nowMs();
    for (const [old, { atMs }] of this.#answers) {
      if (Math.abs(nowMs - atMs) <= KEPT_MS && this.#answers.size < MOST_KEPT) break;
      this.#answers.delete(old);
    }
    const existing = this.#answers.get(key);
    if (existing !== undefined) return existing.answer as Promise<T>;
    const forget = () => void this.#answers.delete(key);
    const answer = this.#onceOfAll(key, run, forget);
    this.#answers.set(key, { atMs: nowMs, answer });
    answer.catch(forget);
    return answer;
  }

  /** Calls `written` when the records have the answer. */
  async #onceOfAll<T>(key: string, run: () => Promise<T>, written: () => void): Promise<T> {
    const { db } = this.#records;
    const hash = digestOf("asked", key).toString("hex");
    // An answer may be a new token. Only who sends the request again can open it: the records have neither of the two digests'
    // sources, and a backup has the key of the other secrets.
    const seal = openSeal(digestOf("answered", key));
    const endMs = this.#clock.monotonicMs() + AWAITED_MS;
    let claim: { readonly hash: string; readonly made_ms: number } | undefined;
    for (;;) {
      const own = { hash, made_ms: this.#clock.nowMs() };
      const earlier = await claimRepeat(db, own, KEPT_MS).catch(unlessFull);
      if (earlier === undefined) claim = own;
      if (earlier === undefined || earlier === "full") break;
      if (earlier.answer !== "") {
        written();
        return (JSON.parse(seal.open(earlier.answer, hash)) as { output: T }).output;
      }
      if (this.#clock.monotonicMs() >= endMs) {
        const message =
          "the same request is being answered, or was broken off: look whether it was made before you try again";
        throw new RpcError("unavailable", message, { retryAfterMs: 5_000 });
      }
      await this.#clock.sleep(STEP_MS);
    }
    let output: T;
    try {
      output = await run();
    } catch (error) {
      const isAway = error instanceof RecordsAway;
      // A change that may have been made is not made again: its key stays claimed until its time is over.
      if (claim !== undefined && !(isAway && error.isInDoubt)) {
        const released = releaseRepeat(db, claim).catch(() => {});
        // A database that is away would be waited for.
        if (!isAway) await released;
      }
      throw error;
    }
    if (claim === undefined) return output;
    // The change is made: this process keeps the answer if the records cannot.
    const answer = seal.close(JSON.stringify({ output }), hash);
    await answerRepeat(db, claim, answer).then(
      (isThere) => isThere && written(),
      () => {},
    );
    return output;
  }
}

const digestOf = (purpose: string, key: string) => createHash("sha256").update(`${purpose} ${key}`).digest();

/** A full disk is no reason to refuse what may need none. */
function unlessFull(error: unknown): "full" {
  if (!isRecordsFull(error)) throw error;
  return "full";
}
