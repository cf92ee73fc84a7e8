import type { Event } from "../../../schema/rpc.generated.ts";
import type { RowRange } from "../rows/rows.ts";

/** So many events are kept; the list is read anew when there are more. */
export const MOST_ARRIVED = 20_000;

/**
 * Events of a stream in the order of their arrival: those that are shown, and after them those that wait. They are above a
 * list that was read, and none is in both.
 */
export class Arrivals {
  /** Oldest first. */
  #events: Event[] = [];
  #keys = new Set<string>();
  /** How many have arrived before the first that is kept. */
  #before = 0;
  /** How many of the arrived ones are shown, and how many `takeNew` has returned. */
  #shownTo = 0;
  #takenTo = 0;
  /** Those that are shown, the latest first. */
  shownEvents: readonly Event[] = [];

  /** How many have arrived since the beginning. */
  get total(): number {
    return this.#before + this.#events.length;
  }

  get waiting(): number {
    return this.total - this.#shownTo;
  }

  /** Whether an event is among those that are kept. */
  has(event: Event): boolean {
    return this.#keys.has(keyOf(event));
  }

  /** How many of those that are kept are of each step of a range, by the beginning of the step. */
  counts({ startMs, stopMs }: RowRange, stepMs: number): ReadonlyMap<number, number> {
    const counts = new Map<number, number>();
    for (const { timestamp } of this.#events) {
      const timeMs = Date.parse(timestamp);
      if (timeMs < startMs || timeMs > stopMs) continue;
      const at = Math.floor(timeMs / stepMs) * stepMs;
      counts.set(at, (counts.get(at) ?? 0) + 1);
    }
    return counts;
  }

  push(event: Event): void {
    this.#events.push(event);
    this.#keys.add(keyOf(event));
    // Events that wait for hours must not fill the memory: they are read from the store when they are wanted.
    if (this.#events.length >= MOST_ARRIVED * 2) this.#drop(this.#events.length - MOST_ARRIVED);
  }

  /** Returns the events that arrived since the last call. */
  takeNew(): readonly Event[] {
    const news = this.#events.slice(Math.max(0, this.#takenTo - this.#before));
    this.#takenTo = this.total;
    return news;
  }

  /** Shows what waits. Whether that is all: otherwise the list has to be read anew. */
  show(): boolean {
    const isWhole = this.#shownTo >= this.#before;
    const news = this.#events.slice(Math.max(0, this.#shownTo - this.#before)).reverse();
    this.shownEvents = isWhole ? [...news, ...this.shownEvents] : news;
    this.#shownTo = this.total;
    if (this.shownEvents.length <= MOST_ARRIVED) return isWhole;
    this.shownEvents = this.shownEvents.slice(0, MOST_ARRIVED);
    return false;
  }

  /** The list was read anew when `mark` had arrived: those before are in it, and some of those after may be. */
  rebase(mark: number, isInList: (event: Event) => boolean): void {
    const from = Math.max(0, mark - this.#before);
    const isNew = (event: Event) => !isInList(event);
    const shownEvents = this.#events.slice(from, Math.max(from, this.#shownTo - this.#before)).filter(isNew);
    const waiting = this.#events.slice(Math.max(from, this.#shownTo - this.#before)).filter(isNew);
    const newCount = Math.max(0, this.total - this.#takenTo);
    this.#events = [...shownEvents, ...waiting];
    this.#keys = new Set(this.#events.map(keyOf));
    this.#before = 0;
    this.#shownTo = shownEvents.length;
    this.#takenTo = Math.max(0, this.#events.length - newCount);
    this.shownEvents = shownEvents.reverse();
  }

  #drop(count: number): void {
    for (const event of this.#events.splice(0, count)) this.#keys.delete(keyOf(event));
    this.#before += count;
  }
}

/** An id alone may be that of an event of another time. */
const keyOf = ({ id, timestamp }: Event) => `${timestamp} ${id}`;
