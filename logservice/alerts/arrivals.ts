import { isEntryId } from "../../grammar/entry-id.ts";
import type { Clock } from "../../grammar/units/clock.ts";
import type { NewEvent } from "../events/store.ts";
import type { Records } from "../records/open.ts";
import { addLateMinutes, GATHER_MS, MOST_LATE_MS } from "./late-minutes.ts";
import {
  afterArrival,
  evaluatedUntilMs,
  LATENESS,
  readLateness,
  type SeenLateness,
  writeLateness,
} from "./lateness.ts";
import { MINUTE_MS } from "./slots.ts";

export interface ArrivalsOptions {
  readonly records: Pick<Records, "db">;
  readonly clock: Clock;
  /** Takes failures, for the operators of the service. */
  readonly failed: (message: string, error: unknown) => void;
}

/** An event that was stored. */
export interface ArrivedEvent extends Pick<NewEvent, "id" | "timestamp"> {
  /** Its timestamp in milliseconds, where that is there: an event in the form of the journal is parsed for its text. */
  readonly ms?: number;
}

/**
 * The facts about arriving events that alerts need: how late those of a project may be, and which of their minutes alerts have
 * counted already. It is written before a batch is answered: after a crash its sender sends it again, it counts once in
 * the store, and is noted here.
 */
export class EventArrivals {
  readonly #options: ArrivalsOptions;
  /** By the key of a project's events. */
  readonly #lateness = new Map<string, Promise<SeenLateness>>();
  /** By project and minute: until when what is noted stands for other events, and when it is written. */
  readonly #noted = new Map<string, { readonly dueMs: number; readonly written: Promise<void> }>();

  constructor(options: ArrivalsOptions) {
    this.#options = options;
  }

  /**
   * To be called with events that were stored, before their sender is answered; `lateness` is that of the way that they came, in
   * seconds, where it has one of its own. Never rejects: that events are stored does not depend on it.
   */
  async note(eventsKey: string, events: readonly ArrivedEvent[], lateness = latenessOfEvents(events)): Promise<void> {
    try {
      const seen = await this.#latenessAfter(eventsKey, lateness);
      const nowMs = this.#options.clock.nowMs();
      await this.#noteMinutes(eventsKey, lateMinutesOf(events, nowMs, evaluatedUntilMs(seen, nowMs)));
    } catch (error) {
      this.#options.failed("events came late, and alerts will not be evaluated again for them", error);
    }
  }

  #latenessAfter(eventsKey: string, seconds: number): Promise<SeenLateness> {
    const { records, clock } = this.#options;
    const before = this.#lateness.get(eventsKey) ?? readLateness(records.db, eventsKey);
    const after = before.then(async (seen) => {
      const next = afterArrival(seen, seconds, clock.nowMs());
      if (next !== seen) await writeLateness(records.db, eventsKey, next);
      return next;
    });
    this.#lateness.set(eventsKey, after);
    // Whatever could not be read or written is read again.
    after.catch(() => this.#lateness.get(eventsKey) === after && this.#lateness.delete(eventsKey));
    return after;
  }

  async #noteMinutes(eventsKey: string, minutes: readonly number[]): Promise<void> {
    if (minutes.length === 0) return;
    const { records, clock } = this.#options;
    const nowMs = clock.nowMs();
    this.#forget(nowMs);
    const fresh = minutes.filter((minute) => !this.#noted.has(nameOf(eventsKey, minute)));
    if (fresh.length > 0) {
      const written = addLateMinutes(records.db, eventsKey, fresh, nowMs);
      for (const minute of fresh) this.#noted.set(nameOf(eventsKey, minute), { dueMs: nowMs + GATHER_MS, written });
      written.catch(() => {
        for (const minute of fresh) this.#noted.delete(nameOf(eventsKey, minute));
      });
    }
    await Promise.all(minutes.map((minute) => this.#noted.get(nameOf(eventsKey, minute))?.written));
  }

  #forget(nowMs: number): void {
    for (const [name, { dueMs }] of this.#noted) {
      if (dueMs <= nowMs || dueMs > nowMs + GATHER_MS) this.#noted.delete(name);
    }
  }
}

const nameOf = (eventsKey: string, minute: number) => `${minute} ${eventsKey}`;

/** The runtime gives its entries ids of a form that nobody else has. */
const latenessOfEvents = (events: readonly ArrivedEvent[]) =>
  isEntryId(events[0]?.id) ? LATENESS.runtime : LATENESS.others;

/** The minutes of events that alerts may have counted without them, each once. */
function lateMinutesOf(events: readonly ArrivedEvent[], nowMs: number, evaluatedMs: number): number[] {
  const firstMs = nowMs - MOST_LATE_MS;
  const last = Math.floor(evaluatedMs / MINUTE_MS) - 1;
  const minutes = new Set<number>();
  const add = (timeMs: number) => {
    const minute = Math.floor(timeMs / MINUTE_MS);
    if (minute <= last && timeMs >= firstMs) minutes.add(minute);
  };
  let before = "";
  for (const event of events) {
    if (event.ms !== undefined) {
      add(event.ms);
      continue;
    }
    // Most events are of the minute of the one before, and in UTC.
    const { timestamp } = event;
    const isUtc = timestamp.endsWith("Z");
    if (isUtc && timestamp.slice(0, MINUTE_LENGTH) === before) continue;
    add(Date.parse(timestamp));
    before = isUtc ? timestamp.slice(0, MINUTE_LENGTH) : "";
  }
  return [...minutes];
}

const MINUTE_LENGTH = "2026-03-01T12:00".length;
