import { type Clock, systemClock } from "../../grammar/units/clock.ts";
import { RECENT_IDS } from "./store.ts";

/** Takes a line about what went wrong without a request: a torn tail, a failed flush. */
export type Log = (level: "info" | "warn" | "error", message: string, fields: Record<string, unknown>) => void;

export interface EventsStoreOptions {
  /** Created if it is missing. One process at a time may use it. */
  readonly directory: string;
  /** The installation whose events these are. Events of another one are refused with ForeignEvents. */
  readonly owner?: string | undefined;
  readonly clock?: Clock;
  /** The time of day, instead of the clock's. */
  readonly nowMs?: () => number;
  readonly log?: Log;
  /** Events in a journal file, and bytes of them, before it is made into segments. */
  readonly flushEvents?: number;
  readonly flushBytes?: number;
  /** Free bytes of the disk below which nothing is accepted: what a flush and a merge need at least. */
  readonly reserveBytes?: number;
  /** Events that wait to be flushed, and bytes of them, before new ones have to wait. */
  readonly maxWaitingEvents?: number;
  readonly maxWaitingBytes?: number;
  /** How long new events wait before they are refused. */
  readonly maxAppendWaitMs?: number;
  readonly sqlLimits?: SqlLimits;
  /** How many of a project's newest ids are remembered at least. */
  readonly recentIds?: number;
  /** `position` as the records last noted it: events that have not come so far may be an older copy. */
  readonly position?: number | undefined;
  /** Ids of losses that a start does not log again. */
  readonly accepted?: ReadonlySet<string>;
}

export type StoreSettings = Required<Omit<EventsStoreOptions, Unset | "nowMs">> & Pick<EventsStoreOptions, Unset>;

type Unset = "owner" | "position";

export const storeSettings = ({ clock = systemClock, nowMs, ...options }: EventsStoreOptions): StoreSettings => ({
  clock: nowMs === undefined ? clock : withTimeOfDay(clock, nowMs),
  log: () => {},
  // A segment of this many events is made in a second or two.
  flushEvents: 100_000,
  flushBytes: 64 * 1024 * 1024,
  reserveBytes: 256 * 1024 * 1024,
  // Three memtables, two of which are being flushed.
  maxWaitingEvents: 300_000,
  maxWaitingBytes: 224 * 1024 * 1024,
  // Several public clients never try again; longer than a flush takes, shorter than any of them waits.
  maxAppendWaitMs: 3000,
  sqlLimits: SQL_LIMITS,
  recentIds: RECENT_IDS,
  accepted: new Set(),
  ...options,
});

const withTimeOfDay = (clock: Clock, nowMs: () => number): Clock => ({
  nowMs,
  monotonicMs: () => clock.monotonicMs(),
  sleep: (ms, signal, options) => clock.sleep(ms, signal, options),
  after: (ms, act, options) => clock.after(ms, act, options),
  every: (ms, act, options) => clock.every(ms, act, options),
});

export interface SqlLimits {
  readonly timeMs: number;
  readonly memoryBytes: number;
  readonly rows: number;
  readonly bytes: number;
}

const SQL_LIMITS: SqlLimits = {
  timeMs: 30_000,
  // Half of it is the engine's own limit; what it does not count, and Node, are in the rest.
  memoryBytes: 1024 * 1024 * 1024,
  rows: 10_000,
  bytes: 16 * 1024 * 1024,
};
