import type { Clock } from "../../grammar/units/clock.ts";
import type { EventsStore } from "../events/store.ts";
import { StoreError } from "../events/store.ts";
import type { AlertRow } from "../records/tables.ts";
import type { ReadAlertQuery } from "./alert-query.ts";
import { failureOf } from "./evaluate.ts";
import { readSlots, type Slots } from "./read-slots.ts";
import { JITTER_MS } from "./slots.ts";
import type { SlotOutcome } from "./state.ts";

/** How long the evaluation of an alert may take. It is repeated with each slot, so it has less time than a person's query. */
export const EVALUATION_MS = 10_000;

/**
 * The readings of slots. Alerts with the same project, query and slot share one: it is kept as long as another alert may ask
 * for it.
 */
export class Readings {
  readonly #events: EventsStore;
  readonly #failed: (message: string, error: unknown) => void;
  readonly #clock: Clock;
  readonly #recent = new Map<string, { readonly atMs: number; readonly outcomes: Promise<readonly SlotOutcome[]> }>();

  constructor(events: EventsStore, failed: (message: string, error: unknown) => void, clock: Clock) {
    this.#events = events;
    this.#failed = failed;
    this.#clock = clock;
  }

  /**
   * Reads the outcome of each slot of an alert. Rejects with the reason of the signal. Those that are read again for late events
   * have the number of these, `lateSeen`: a reading of before is not theirs.
   */
  async read(
    { events_key, query: text, interval }: Pick<AlertRow, "query" | "interval"> & { readonly events_key: string },
    read: ReadAlertQuery,
    slots: Slots & { readonly lateSeen?: number },
    signal: AbortSignal,
  ): Promise<readonly SlotOutcome[]> {
    const { first, last, lateSeen = 0 } = slots;
    // It was valid when the alert was written, by the language of that time.
    if (!read.ok) return repeated(read, slots);
    const key = JSON.stringify([events_key, interval, first, last, text, lateSeen]);
    const recent = this.#recent.get(key);
    if (recent !== undefined) return recent.outcomes;
    const question = { project: events_key, query: read.value, interval, isEvaluation: true };
    const outcomes = this.#within(signal, slots, (timed) => readSlots(this.#events, question, slots, timed));
    this.#recent.set(key, { atMs: this.#clock.nowMs(), outcomes });
    // A failure may be a moment's, so that nobody shares it.
    const forget = () => this.#recent.delete(key);
    // One that took too long would take as long again.
    const isKept = (outcome: SlotOutcome) => outcome.ok || outcome.isOverTime === true;
    outcomes.then((results) => results.every(isKept) || forget(), forget);
    return outcomes;
  }

  /** Drops the readings that no alert will ask for. */
  forget(): void {
    const nowMs = this.#clock.nowMs();
    for (const [key, { atMs }] of this.#recent) if (Math.abs(nowMs - atMs) > JITTER_MS) this.#recent.delete(key);
  }

  /** Runs for a limited time. What goes wrong is an outcome, unless the evaluator closes. */
  async #within(
    over: AbortSignal,
    slots: Slots,
    run: (signal: AbortSignal) => Promise<SlotOutcome[]>,
  ): Promise<SlotOutcome[]> {
    over.throwIfAborted();
    const timed = new AbortController();
    const message = `the query takes longer than ${EVALUATION_MS / 1000} s`;
    const timer = this.#clock.after(EVALUATION_MS, () => timed.abort(new StoreError("timeout", message)));
    const end = () => timed.abort(over.reason);
    over.addEventListener("abort", end, { once: true });
    try {
      return await run(timed.signal);
    } catch (error) {
      over.throwIfAborted();
      if (timed.signal.aborted) return repeated({ ok: false, problems: [message], isOverTime: true }, slots);
      if (error instanceof StoreError) return repeated(failureOf(error), slots);
      this.#failed("the query of an alert failed", error);
      return repeated({ ok: false, problems: ["the query failed"], isMomentary: true }, slots);
    } finally {
      timer.stop();
      over.removeEventListener("abort", end);
    }
  }
}

const repeated = (outcome: SlotOutcome, { first, last }: Slots) =>
  Array.from({ length: last - first + 1 }, () => outcome);
