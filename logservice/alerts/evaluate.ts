import { lastInstantBefore, levelOf } from "../../grammar/query/index.ts";
import { levelName } from "../events/level-names.ts";
import { type EventRange, type EventsStore, StoreError } from "../events/store.ts";
import type { AlertQuery } from "./alert-query.ts";
import { groupKey } from "./group.ts";
import { slotStartMs, slotStopMs } from "./slots.ts";
import type { SlotOutcome } from "./state.ts";

/** The part of a store that alerts are evaluated by. */
export type AlertEvents = Pick<EventsStore, "count" | "timeseries" | "aggregate" | "losses">;

/** The question of a reading: the query of an alert, over slots of its interval in minutes. */
export interface AlertQuestion {
  /** The key of the project's events. */
  readonly project: string;
  readonly query: AlertQuery;
  readonly interval: number;
  /** Whether the evaluator asks it: see EventRange. */
  readonly isEvaluation?: boolean;
  readonly asker?: EventRange["asker"];
}

/**
 * Finds the values of one slot. An answer that lacks events is a failure, never a low number: nobody knows what was lost.
 * Rejects with the reason of the signal, and if the store has a bug; all else that goes wrong is an outcome.
 */
export async function evaluateSlot(
  events: AlertEvents,
  question: AlertQuestion,
  slot: number,
  signal: AbortSignal,
): Promise<SlotOutcome> {
  const range = { ...slotRange(question, slot), signal };
  const { pipes } = question.query;
  try {
    if (pipes.length === 0) {
      const { count, stats } = await events.count(range);
      return stats.missingBytes > 0 ? missingEvents(stats.missingBytes) : { ok: true, value: new Map([["", count]]) };
    }
    const { rows, isTruncated, stats } = await events.aggregate({ ...range, pipes, limit: MOST_GROUPS });
    if (stats.missingBytes > 0) return missingEvents(stats.missingBytes);
    if (isTruncated) return { ok: false, problems: [`the query gives more than ${MOST_GROUPS} groups`] };
    return valuesOf(question.query, rows);
  } catch (error) {
    if (signal.aborted || !(error instanceof StoreError)) throw error;
    return failureOf(error);
  }
}

/** The outcome of a slot that the store did not read. */
export const failureOf = ({ message, type }: StoreError): SlotOutcome => ({
  ok: false,
  problems: [message],
  ...(type === "unavailable" && { isMomentary: true }),
});

/** With more groups a query tells values and not things to look after, and nobody reads so many messages. */
const MOST_GROUPS = 100;

/** Events of a slot, as the store takes ranges. */
export function slotRange(
  { project, query, interval, isEvaluation = false, asker }: AlertQuestion,
  slot: number,
): EventRange {
  const [startMs, stopMs] = [slotStartMs(slot, interval), slotStopMs(slot, interval)];
  return {
    project,
    startMs,
    stopMs: lastInstantBefore(stopMs),
    query: query.query,
    isEvaluation,
    ...(asker && { asker }),
  };
}

export const missingEvents = (bytes: number): SlotOutcome => ({
  ok: false,
  problems: [`events of the interval are missing (${Math.ceil(bytes)} bytes)`],
});

function valuesOf({ columns, isCount }: AlertQuery, rows: readonly (readonly unknown[])[]): SlotOutcome {
  const place = columns.findIndex(({ isGroup }) => !isGroup);
  const values = new Map<string, number>();
  for (const row of rows) {
    const value = row[place];
    // The mean of a group without numbers.
    if (value === null || value === undefined) continue;
    if (typeof value !== "number") return { ok: false, problems: [`${columns[place]!.name} is not a number`] };
    values.set(
      groupKey(row.flatMap((cell, at) => (columns[at]!.isGroup ? [named(cell, columns[at]!.type)] : []))),
      value,
    );
  }
  const isGrouped = columns.some(({ isGroup }) => isGroup);
  // Without a row nothing was found, such as after | count | where count > 5.
  if (!isGrouped && isCount && rows.length === 0) values.set("", 0);
  return { ok: true, value: values };
}

/** A level by the name that people know. */
const named = (cell: unknown, type: string) =>
  type === "level" && typeof cell === "string" && levelOf(cell) !== undefined ? levelName(cell) : cell;
