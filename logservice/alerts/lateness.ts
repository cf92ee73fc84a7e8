import type { Kysely } from "kysely";
import type { ProjectKey } from "../records/projects.ts";
import type { Tables } from "../records/tables.ts";
import { LATE_MS } from "./slots.ts";

type Db = Kysely<Tables>;

/**
 * How many seconds events take at most until they are here, as a rule: what comes later than that is late. Nobody has to set it:
 * it is seen by what arrives.
 */
export const LATENESS = {
  /** Sent when they happen. */
  others: LATE_MS / 1000,
  /** Entries of a deployed app: the runtime sends them with its next answer, after a pause if the service was away. */
  runtime: 30,
} as const;

/** Events that come through Firehose: it collects them for so many seconds at most, and CloudWatch passes them on before. */
export const firehoseLateness = (bufferingSeconds: number) => bufferingSeconds + 60;

/** Seconds that Firehose collects events for unless its stream says otherwise: what the UI and the README set up. */
export const FIREHOSE_BUFFERING = 60;
/** By Firehose's schema of a stream. */
export const MOST_FIREHOSE_BUFFERING = 900;

/** The lateness of a project in seconds. */
export async function latenessOf(db: Db, { team_id, id }: ProjectKey): Promise<number> {
  const row = await db
    .selectFrom("projects")
    .innerJoin("lateness", "lateness.events_key", "projects.events_key")
    .select("lateness.seconds")
    .where("projects.team_id", "=", team_id)
    .where("projects.id", "=", id)
    .executeTakeFirst();
  return row?.seconds ?? LATENESS.others;
}

export interface SeenLateness {
  readonly seconds: number;
  readonly seenMs: number;
}

export async function readLateness(db: Db, events_key: string): Promise<SeenLateness> {
  const row = await db.selectFrom("lateness").selectAll().where("events_key", "=", events_key).executeTakeFirst();
  return row === undefined
    ? { seconds: LATENESS.others, seenMs: Number.NEGATIVE_INFINITY }
    : { seconds: row.seconds, seenMs: row.seen_ms };
}

export async function writeLateness(db: Db, events_key: string, { seconds, seenMs }: SeenLateness): Promise<void> {
  const row = { seconds, seen_ms: seenMs };
  await db
    .insertInto("lateness")
    .values({ ...row, events_key })
    .onConflict((conflict) => conflict.column("events_key").doUpdateSet(row))
    .execute();
}

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

/**
 * The knowledge after events came that may be so many seconds late: the same object if that is no news. A project waits for
 * the slowest of its senders, until a day after that was heard of last.
 */
export function afterArrival(before: SeenLateness, seconds: number, nowMs: number): SeenLateness {
  const agoMs = Math.abs(nowMs - before.seenMs);
  const isNews =
    seconds > before.seconds ||
    (seconds === before.seconds && seconds !== LATENESS.others && agoMs > HOUR_MS) ||
    (seconds < before.seconds && agoMs > DAY_MS);
  return isNews ? { seconds, seenMs: nowMs } : before;
}

/**
 * Until when slots may have been evaluated. Before a lateness was seen, slots were evaluated by one that may have been less: those
 * that had been by then are not waited for again. That the least is taken for it costs a reading at most.
 */
export function evaluatedUntilMs({ seconds, seenMs }: SeenLateness, nowMs: number): number {
  const beforeMs = Math.min(seenMs, nowMs) - LATENESS.others * 1000;
  return Math.max(nowMs - seconds * 1000, beforeMs);
}
