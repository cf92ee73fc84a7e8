import { SQL_LIMITS, type SqlLimits } from "./sql/run-sql.ts";

export interface EventsStoreOptions {
  /** Made where it is missing. One process at a time. */
  readonly directory: string;
  readonly nowMs?: () => number;
  /** A line about what went wrong by itself: a torn tail, a failed flush. */
  readonly log?: (level: "info" | "warn" | "error", message: string, fields: Record<string, unknown>) => void;
  /** Events in a journal file before it is made into segments. */
  readonly flushEvents?: number;
  /** Free bytes of the disk below which nothing is accepted: what a flush and a merge need at least. */
  readonly reserveBytes?: number;
  /** Events that wait to be flushed before new ones are refused. */
  readonly maxWaitingEvents?: number;
  readonly sqlLimits?: SqlLimits;
}

export type Settings = Required<EventsStoreOptions>;

export const settingsOf = (options: EventsStoreOptions): Settings => ({
  nowMs: Date.now,
  log: () => {},
  // A segment of so many is made in a second or two, and they are some 100 MB in memory.
  flushEvents: 100_000,
  reserveBytes: 256 * 1024 * 1024,
  // Four files behind: memory would go on growing, and the disk is slower than what comes in.
  maxWaitingEvents: 500_000,
  sqlLimits: SQL_LIMITS,
  ...options,
});
