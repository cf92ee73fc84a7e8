import { STEPS_MS } from "../events/histogram-steps.ts";
import type { Loss } from "../events/store.ts";
import { type AlertEvents, type AlertQuestion, evaluateSlot, missingEvents, slotRange } from "./evaluate.ts";
import { MINUTE_MS, slotStartMs, slotStopMs } from "./slots.ts";
import type { SlotOutcome } from "./state.ts";

/** Slots from the first to the last. */
export interface Slots {
  readonly first: number;
  readonly last: number;
}

/**
 * Finds the values of slots in a row. Counts are read together, as points of a histogram; stages are run for each slot that has
 * events, and once for those that have none.
 * Rejects as evaluateSlot does, and where a count of many slots fails.
 */
export async function readSlots(
  events: AlertEvents,
  question: AlertQuestion,
  { first, last }: Slots,
  signal: AbortSignal,
): Promise<SlotOutcome[]> {
  const outcomes: SlotOutcome[] = [];
  const most = slotsAtOnce(question.interval);
  for (let from = first; from <= last; from += most) {
    const to = Math.min(last, from + most - 1);
    if (from === to) outcomes.push(await evaluateSlot(events, question, from, signal));
    else {
      const counts = await countSlots(events, question, { first: from, last: to }, signal);
      const isPlain = question.query.pipes.length === 0;
      outcomes.push(...(isPlain ? counts : await runPipes(events, question, { first: from, counts }, signal)));
    }
  }
  return outcomes;
}

/** Runs the stages on each slot. Slots without events give the same, whenever they were. */
async function runPipes(
  events: AlertEvents,
  question: AlertQuestion,
  { first, counts }: { readonly first: number; readonly counts: readonly SlotOutcome[] },
  signal: AbortSignal,
): Promise<SlotOutcome[]> {
  const outcomes: SlotOutcome[] = [];
  let nothing: SlotOutcome | undefined;
  for (const [at, outcome] of counts.entries()) {
    const isEmpty = outcome.ok && outcome.value.get("") === 0;
    if (!outcome.ok) outcomes.push(outcome);
    else if (!isEmpty) outcomes.push(await evaluateSlot(events, question, first + at, signal));
    else {
      // A failure may be a moment's.
      if (!nothing?.ok) nothing = await evaluateSlot(events, question, first + at, signal);
      outcomes.push(nothing);
    }
  }
  return outcomes;
}

/** The losses that concern questions about a project: those that nobody has accepted. */
export function openLosses(events: AlertEvents, project: string): readonly Loss[] {
  // Whose events a file of the journal held may not be known.
  return events.losses().filter((loss) => !loss.isAccepted && (loss.project === project || loss.project === ""));
}

/** Whether a loss may have had events of a time, whose end is not part of it. */
export const isTouched = ({ firstMs, lastMs }: Loss, startMs: number, stopMs: number) =>
  firstMs === undefined || lastMs === undefined || (firstMs < stopMs && lastMs >= startMs);

/** Points of one histogram: each is an object. */
const MOST_POINTS = 20_000;

/** The longest step of histograms that divides an interval. A minute always does. */
const stepOf = (interval: number) => STEPS_MS.findLast((stepMs) => (interval * MINUTE_MS) % stepMs === 0)!;

const slotsAtOnce = (interval: number) =>
  Math.max(1, Math.floor((MOST_POINTS * stepOf(interval)) / (interval * MINUTE_MS)));

async function countSlots(
  events: AlertEvents,
  question: AlertQuestion,
  { first, last }: Slots,
  signal: AbortSignal,
): Promise<SlotOutcome[]> {
  const { interval } = question;
  const [{ startMs }, { stopMs, ...rest }] = [slotRange(question, first), slotRange(question, last)];
  // The range has exactly so many of these steps, so that no shorter step fits.
  const maxPoints = (slotStopMs(last, interval) - slotStartMs(first, interval)) / stepOf(interval);
  const { points, stats } = await events.timeseries({ ...rest, startMs, stopMs, maxPoints, signal });
  const counts = new Array<number>(last - first + 1).fill(0);
  for (const { timestamp, count } of points) {
    counts[Math.floor((Date.parse(timestamp) - startMs) / (interval * MINUTE_MS))]! += count;
  }
  const losses = stats.missingBytes === 0 ? [] : openLosses(events, question.project);
  return counts.map((count, at) => {
    const slot = first + at;
    const touching = losses.filter((loss) => isTouched(loss, slotStartMs(slot, interval), slotStopMs(slot, interval)));
    const bytes = touching.reduce((sum, loss) => sum + Math.max(1, loss.bytes), 0);
    if (bytes > 0) return missingEvents(bytes);
    // A loss that is not listed: it may have been in any slot.
    if (stats.missingBytes > 0 && losses.length === 0) return missingEvents(stats.missingBytes);
    return { ok: true, value: new Map([["", count]]) };
  });
}
