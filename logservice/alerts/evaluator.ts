import type { Clock, Timer } from "../../grammar/units/clock.ts";
import type { EventsStore } from "../events/store.ts";
import { endLease, holdLease, type Lease, takeLease } from "../records/evaluator-lease.ts";
import type { Records } from "../records/open.ts";
import { newId } from "../records/row.ts";
import { transact } from "../records/transact.ts";
import { Turns, type TurnTaker } from "../turns/turns.ts";
import { type AlertQuery, type ReadAlertQuery, readAlertQuery } from "./alert-query.ts";
import { type Evaluation, writeEvaluation } from "./commit.ts";
import { DISK_QUERY, freeDisk } from "./disk.ts";
import { episodesSince, removeOldEpisodes } from "./episodes.ts";
import { groupValuesOf } from "./group.ts";
import { type LateSlots, rangesAround, reconsider } from "./late.ts";
import { dueLateMinutes, type LateMinute, removeOldLateMinutes } from "./late-minutes.ts";
import { EVALUATION_MS, Readings } from "./readings.ts";
import { replay } from "./replay.ts";
import { sampleEvents } from "./samples.ts";
import { evaluatedAtMs, firstSlotFrom, lastDueSlot, MINUTE_MS, slotAt, slotStartMs, slotStopMs } from "./slots.ts";
import type { EvaluationState, GroupState, Rule, Slot, SlotOutcome, Transition } from "./state.ts";
import { beginAheadAnew } from "./stored-alerts.ts";
import { type DueAlert, dueAlerts, lateAlerts, readStates } from "./stored-states.ts";
import type { MessageFacts } from "./tell.ts";

export interface EvaluatorOptions {
  readonly records: Pick<Records, "db">;
  readonly events: EventsStore;
  readonly clock: Clock;
  /** Called after deliveries were added. */
  readonly deliveriesAdded: () => void;
  /** Takes failures, for the operators of the service. */
  readonly failed: (message: string, error: unknown) => void;
}

/** How often it looks for alerts that are due. */
const PASS_MS = 1_000;
const RENEW_MS = 10_000;
const CLEAN_MS = 3_600_000;
const KEPT_EPISODES_MS = 90 * 24 * 3_600_000;
/** The most slots that are evaluated after a downtime: an hour of an alert of each minute. */
const MOST_REPLAYED = 60;
/** Evaluations at once. More would only wait for the processor, and people's queries with them. */
const READS_AT_ONCE = 2;
/** Evaluations of one project at once, so that one with slow queries does not hold up the others. */
const PROJECT_READS = 1;
/** An evaluation that took too long is asked half as often the next time, down to one slot in so many. */
const MOST_PACE = 16;
/** How often late events are read at most if the store fails: no later slot tells of them. */
export const LATE_TRIES = 3;
/** The time between two of these readings. */
const LATE_RETRY_MS = 60_000;
/** Transitions of one evaluation that are told with events: each takes a search. */
const MOST_SAMPLES = 20;

/**
 * Evaluates the alerts of all projects when their slots are over. What it finds is written in transactions that many alerts
 * share: those whose evaluation ends while the transaction before is written.
 */
export class Evaluator {
  readonly #options: EvaluatorOptions;
  readonly #holder = newId();
  readonly #closing = new AbortController();
  readonly #readings: Readings;
  /** The alerts that wait, are read or are written, by their id: since when they are due. */
  readonly #busy = new Map<string, number>();
  readonly #turns = new Turns<Due>({ atOnce: READS_AT_ONCE, perMember: PROJECT_READS });
  readonly #running = new Set<Promise<void>>();
  #evaluations: Evaluation[] = [];
  #writing: Promise<void> | undefined;
  #lease: Lease | undefined;
  #renewedAtMs = Number.NEGATIVE_INFINITY;
  #cleanedAtMs = Number.NEGATIVE_INFINITY;
  /** When it looked last, by a clock that may be set back. */
  #lastAtMs = Number.POSITIVE_INFINITY;
  #timer: Timer | undefined;
  #pass: Promise<void> | undefined;
  #isFailing = false;
  readonly #counts = { evaluated: 0, failed: 0, told: 0, dropped: 0, skipped: 0, late: 0 };
  /** The late minutes up to this number were seen by all alerts, or will be. */
  #lateSeen = 0;
  /** How often all are to be looked at again. */
  #lateResets = 0;
  /** The alerts whose late events could not be read, by their id. */
  readonly #lateFailures = new Map<string, { readonly count: number; readonly atMs: number }>();
  #gauges = { triggered: 0, failing: 0 };
  /** Until when it has looked for alerts that are due. */
  #lookedAtMs = Number.POSITIVE_INFINITY;

  constructor(options: EvaluatorOptions) {
    this.#options = options;
    this.#readings = new Readings(options.events, options.failed, options.clock);
  }

  start(): void {
    this.#lookedAtMs = this.#options.clock.nowMs();
    this.#timer ??= this.#options.clock.every(PASS_MS, () => void this.pass(), { isBackground: true });
  }

  /** To be called after alerts were added or changed: what is due of them is evaluated at once. */
  changed(): void {
    if (this.#timer !== undefined) void this.pass();
  }

  /** Evaluates what is due now, as the timer does; resolves when that is written. Never rejects. */
  async pass(): Promise<void> {
    this.#pass ??= this.#look().finally(() => {
      this.#pass = undefined;
    });
    await this.#pass;
    await this.#idle();
  }

  /** Stops. What was not written is evaluated after the next start. */
  async close(): Promise<void> {
    this.#timer?.stop();
    this.#closing.abort();
    this.#turns.clear();
    await this.#pass;
    await this.#idle();
    const lease = this.#lease;
    this.#lease = undefined;
    if (lease !== undefined) await endLease(this.#options.records.db, lease).catch(() => {});
  }

  metrics(): Record<string, number> {
    return {
      alerts_evaluated_total: this.#counts.evaluated,
      alerts_evaluations_failed_total: this.#counts.failed,
      alerts_evaluations_dropped_total: this.#counts.dropped,
      alerts_slots_skipped_total: this.#counts.skipped,
      alerts_late_slots_total: this.#counts.late,
      alerts_told_total: this.#counts.told,
      alerts_triggered: this.#gauges.triggered,
      alerts_failing: this.#gauges.failing,
      alerts_waiting: this.#busy.size,
      alerts_lag_seconds: this.#lagMs() / 1000,
      alerts_evaluator: this.#lease === undefined ? 0 : 1,
    };
  }

  /** The age of the oldest evaluation that is due and not written. While it cannot look for others, theirs at least. */
  #lagMs(): number {
    const oldestMs = Math.min(...this.#busy.values(), this.#isFailing ? this.#lookedAtMs : Number.POSITIVE_INFINITY);
    return Math.max(0, this.#options.clock.nowMs() - oldestMs);
  }

  async #idle(): Promise<void> {
    while (this.#running.size > 0 || this.#writing !== undefined) {
      await Promise.all([...this.#running, this.#writing]);
    }
  }

  async #look(): Promise<void> {
    try {
      await this.#renew();
      if (this.#lease === undefined || this.#closing.signal.aborted) return;
      await this.#clean();
      await this.#enqueue();
      await this.#enqueueLate();
      this.#next();
      this.#isFailing = false;
      this.#lookedAtMs = this.#options.clock.nowMs();
    } catch (error) {
      if (!this.#isFailing && !this.#closing.signal.aborted) {
        this.#options.failed("alerts could not be evaluated; trying again", error);
      }
      this.#isFailing = true;
    }
  }

  async #renew(): Promise<void> {
    const nowMs = this.#options.clock.nowMs();
    const sinceMs = nowMs - this.#renewedAtMs;
    if (this.#lease !== undefined && sinceMs >= 0 && sinceMs < RENEW_MS) return;
    this.#lease = await takeLease(this.#options.records.db, this.#holder, nowMs);
    this.#renewedAtMs = nowMs;
  }

  async #clean(): Promise<void> {
    const { records, clock } = this.#options;
    const at = clock.nowMs();
    if (Math.abs(at - this.#cleanedAtMs) < CLEAN_MS) return;
    this.#cleanedAtMs = at;
    // An alert that was removed meanwhile left its entry.
    for (const [id, { atMs }] of this.#lateFailures) if (Math.abs(at - atMs) > CLEAN_MS) this.#lateFailures.delete(id);
    await removeOldLateMinutes(records.db, at);
    await removeOldEpisodes(records.db, new Date(at - KEPT_EPISODES_MS).toISOString());
  }

  async #enqueue(): Promise<void> {
    const { records, clock } = this.#options;
    const at = clock.nowMs();
    // At the start, and when a clock that was ahead was set back.
    if (at < this.#lastAtMs) await beginAheadAnew(records.db, at);
    this.#lastAtMs = at;
    const ended = await dueAlerts(records.db, Math.floor(at / 1000));
    const due = ended.flatMap((alert) => {
      if (this.#busy.has(alert.id)) return [];
      const last = lastDueSlot(alert, at);
      // Alerts of before there was an evaluation begin with the next slot.
      if (alert.next_slot === 0) return [{ alert, first: firstSlotFrom(at, alert.interval), last: -1 }];
      if (last < alert.next_slot) return [];
      // How full the disk was is not known.
      const isOfLast = alert.pace > 1 || alert.kind === "disk";
      const first = Math.max(alert.next_slot, last - (isOfLast ? 1 : MOST_REPLAYED) + 1);
      this.#counts.skipped += first - alert.next_slot;
      return [{ alert, first, last }];
    });
    if (due.length === 0) return;
    const states = await readStates(
      records.db,
      due.map(({ alert }) => alert.id),
    );
    for (const { alert, first, last } of due) {
      const { id, team_id, events_key } = alert;
      this.#busy.set(id, last < first ? at : evaluatedAtMs(alert, first));
      this.#turns.add({ team: team_id, member: events_key, alert, first, last, groups: states.get(id) ?? new Map() });
    }
    this.#readings.forget();
  }

  /** An evaluation of late events came to nothing: what was seen is looked at again. */
  #lookAtLateAgain(): void {
    this.#lateSeen = 0;
    this.#lateResets += 1;
  }

  /** Has slots evaluated again that got events after they were. */
  async #enqueueLate(): Promise<void> {
    const { records, clock } = this.#options;
    const at = clock.nowMs();
    const resets = this.#lateResets;
    const minutes = await dueLateMinutes(records.db, this.#lateSeen, at);
    const newest = minutes.at(-1)?.sequence;
    if (newest === undefined) return;
    const byProject = new Map<string, LateMinute[]>();
    for (const one of minutes) byProject.set(one.events_key, [...(byProject.get(one.events_key) ?? []), one]);
    const alerts = await lateAlerts(records.db, [...byProject.keys()], newest);
    const due = alerts.flatMap((alert) => {
      const slots = lateSlotsOf(alert, byProject.get(alert.events_key)!);
      const evaluated = slots.filter((slot) => slot < alert.next_slot);
      // A slot that is over may have been read before they came, for this alert or for another one with the same query. One that
      // is not will have them.
      const isWaiting = slots.some((slot) => slot >= alert.next_slot && slotStopMs(slot, alert.interval) <= at);
      const isFree = !isWaiting && !this.#busy.has(alert.id) && this.#mayReadLate(alert.id, at);
      return evaluated.length > 0 || isWaiting ? [{ alert, slots: evaluated, isFree }] : [];
    });
    const free = due.filter(({ isFree }) => isFree);
    const states = await readStates(
      records.db,
      free.map(({ alert }) => alert.id),
    );
    for (const { alert, slots } of free) {
      const { id, team_id: team, events_key } = alert;
      this.#busy.set(id, at);
      const groups = states.get(id) ?? new Map<string, GroupState>();
      const [first, last] = [Math.min(...slots), Math.max(...slots)];
      // A turn beside that of the project's usual evaluations: late events all day long do not hold those up.
      const late = { slots, seen: newest };
      this.#turns.add({ team, member: `${events_key} late`, alert, first, last, groups, late });
    }
    this.#readings.forget();
    // Evaluations were dropped since the minutes were read: all are looked at again.
    if (this.#lateResets !== resets) return;
    // Those that are busy, or evaluate such a slot soon, are looked at the next time, and read nothing again of the others.
    this.#lateSeen = due.reduce((seen, { alert, isFree }) => {
      const first = byProject.get(alert.events_key)!.find(({ sequence }) => sequence > alert.late_seen)!;
      return isFree ? seen : Math.min(seen, first.sequence - 1);
    }, newest);
  }

  #mayReadLate(id: string, nowMs: number): boolean {
    const failed = this.#lateFailures.get(id);
    return failed === undefined || Math.abs(nowMs - failed.atMs) >= LATE_RETRY_MS;
  }

  /** Notes whether late events of an alert could be read; returns whether they are to be read once more. */
  #isReadAgain(id: string, isFailed: boolean): boolean {
    const count = (this.#lateFailures.get(id)?.count ?? 0) + 1;
    const isAgain = isFailed && count < LATE_TRIES;
    if (isAgain) this.#lateFailures.set(id, { count, atMs: this.#options.clock.nowMs() });
    else this.#lateFailures.delete(id);
    return isAgain;
  }

  /** Begins evaluations as long as there is room. */
  #next(): void {
    for (let due = this.#turns.take(); due !== undefined; due = this.#turns.take()) {
      const work = this.#evaluate(due).finally(() => {
        this.#running.delete(work);
        this.#next();
      });
      this.#running.add(work);
    }
  }

  async #evaluate(due: Due): Promise<void> {
    const { alert } = due;
    try {
      const { late } = due;
      const evaluation = await (late === undefined ? this.#find(due) : this.#findLate({ ...due, late }));
      if (evaluation === undefined) {
        this.#busy.delete(alert.id);
        this.#lookAtLateAgain();
        return;
      }
      this.#evaluations.push(evaluation);
      this.#writing ??= this.#write();
    } catch (error) {
      this.#busy.delete(alert.id);
      if (due.late !== undefined) this.#lookAtLateAgain();
      if (this.#closing.signal.aborted) return;
      this.#options.failed(`the alert ${alert.id} could not be evaluated; trying again`, error);
    } finally {
      this.#turns.done(due);
    }
  }

  async #find({ alert, first, last, groups }: Due): Promise<Evaluation> {
    const before = stateOf(alert, groups);
    if (last < first) {
      const { pace } = alert;
      return { alert, before, after: before, nextSlot: first, pace, transitions: [], samples: new Map() };
    }
    const { signal } = this.#closing;
    const isOfDisk = alert.kind === "disk";
    const read: ReadAlertQuery = isOfDisk ? { ok: true, value: DISK_QUERY } : readAlertQuery(alert.query);
    const outcomes = isOfDisk
      ? [await freeDisk(this.#options.events)]
      : await this.#readings.read(alert, read, { first, last }, signal);
    this.#counts.evaluated += outcomes.length;
    this.#counts.failed += outcomes.filter(({ ok }) => !ok).length;
    const slots = slotsOf(outcomes, first, alert.interval);
    const { state: after, transitions } = replay(
      ruleOf(alert, read.ok && read.value.isCount),
      before,
      slots,
      newEpisodeId,
    );
    const { samples, isOverTime } =
      read.ok && !isOfDisk
        ? await this.#samples(alert, read.value, transitions)
        : { samples: new Map(), isOverTime: false };
    const pace = paceAfter(outcomes, alert.pace, isOverTime);
    this.#counts.skipped += pace - 1;
    return { alert, before, after, nextSlot: last + pace, pace, transitions, samples };
  }

  /**
   * Evaluates slots again that got late events. Nothing of it counts as a failure of the alert, nor as its slowness. Resolves to
   * undefined if the store failed and they are to be read once more.
   */
  async #findLate({ alert, groups, late }: Due & { readonly late: LateWork }): Promise<Evaluation | undefined> {
    const { records, clock } = this.#options;
    const before = stateOf(alert, groups);
    const { next_slot: nextSlot, pace, interval } = alert;
    const unchanged = { alert, before, nextSlot, pace, lateSeen: late.seen };
    const read = readAlertQuery(alert.query);
    if (!read.ok) return { ...unchanged, after: before, transitions: [], samples: new Map() };
    const bounds = { first: alert.first_slot, last: nextSlot - 1 };
    const around = rangesAround(late.slots, alert, bounds);
    // A count reads all of them at once.
    const isPlain = read.value.pipes.length === 0;
    const whole = { first: around[0]!.first, last: around.at(-1)!.last };
    const numbers = new Set(late.slots);
    const ranges: LateSlots[] = [];
    const { signal } = this.#closing;
    const untilMs = clock.monotonicMs() + EVALUATION_MS;
    for (const range of isPlain ? [whole] : around) {
      // All of them have the time of one: teams take turns.
      if (clock.monotonicMs() > untilMs) break;
      const outcomes = await this.#readings.read(alert, read, { ...range, lateSeen: late.seen }, signal);
      this.#counts.late += outcomes.length;
      const slots = slotsOf(outcomes, range.first, interval);
      ranges.push({ slots, late: numbers, isUpToNow: range.last === bounds.last });
      if (outcomes.some((one) => !one.ok && one.isOverTime === true)) break;
    }
    const isFailed = ranges.some(({ slots }) =>
      slots.some(({ outcome }) => !outcome.ok && outcome.isMomentary === true),
    );
    if (this.#isReadAgain(alert.id, isFailed)) return undefined;
    const since = new Date(slotStartMs(whole.first, interval)).toISOString();
    const episodes = await episodesSince(records.db, alert.id, since);
    const rule = ruleOf(alert, read.value.isCount);
    const { state: after, transitions } = reconsider(rule, before, { ranges, episodes }, newEpisodeId);
    const { samples } = await this.#samples(alert, read.value, transitions);
    return { ...unchanged, after, transitions, samples };
  }

  async #samples(
    alert: DueAlert,
    query: AlertQuery,
    transitions: readonly Transition[],
  ): Promise<{ readonly samples: Evaluation["samples"]; readonly isOverTime: boolean }> {
    const { events, clock } = this.#options;
    const question = { project: alert.events_key, query, interval: alert.interval, isEvaluation: true };
    const alarms = transitions.filter(({ kind, isTold }) => isTold && (kind === "triggered" || kind === "repeated"));
    const samples = new Map<Transition, MessageFacts["samples"]>(
      alarms.map((transition) => [transition, { events: [], hasMoreEvents: true }]),
    );
    // As long as the reading of the values, for all of them together: they are read by the same query.
    const timed = new AbortController();
    const timer = clock.after(EVALUATION_MS, () => timed.abort());
    const signal = AbortSignal.any([this.#closing.signal, timed.signal]);
    for (const transition of alarms.slice(0, MOST_SAMPLES)) {
      if (signal.aborted) break;
      const { slot, key } = transition;
      const sample = { slot, group: groupValuesOf(query.columns, key), limit: alert.limit };
      samples.set(transition, await sampleEvents(events, question, sample, signal));
    }
    timer.stop();
    return { samples, isOverTime: timed.signal.aborted };
  }

  /** Writes what was found, until there is no more. */
  async #write(): Promise<void> {
    while (this.#evaluations.length > 0) {
      const batch = this.#evaluations;
      this.#evaluations = [];
      try {
        await this.#commit(batch);
      } catch (error) {
        this.#lookAtLateAgain();
        if (batch.length === 1) this.#options.failed("an evaluation could not be written; trying again", error);
        // One that cannot be written must not keep the others from it.
        else for (const one of batch) await this.#commit([one]).catch((reason) => this.#unwritten(one, reason));
      }
      for (const { alert } of batch) this.#busy.delete(alert.id);
    }
    // At once: an evaluation that ends a moment later begins the next one.
    this.#writing = undefined;
  }

  #unwritten({ alert }: Evaluation, error: unknown): void {
    this.#options.failed(`the evaluation of the alert ${alert.id} could not be written; trying again`, error);
  }

  async #commit(batch: readonly Evaluation[]): Promise<void> {
    const { records, clock, deliveriesAdded } = this.#options;
    const lease = this.#lease;
    if (lease === undefined) {
      this.#lookAtLateAgain();
      return;
    }
    let isHeld = false;
    const counts = await transact(records.db, async (db) => {
      isHeld = await holdLease(db, lease);
      if (!isHeld) return [];
      const now = new Date(clock.nowMs()).toISOString();
      const added: (number | undefined)[] = [];
      for (const one of batch) added.push(await writeEvaluation(db, one, now));
      return added;
    });
    if (!isHeld && this.#lease === lease) this.#lease = undefined;
    this.#counts.dropped += batch.length - counts.filter((one) => one !== undefined).length;
    // Those for late events that were dropped are looked at again.
    if (batch.some(({ lateSeen }, at) => lateSeen !== undefined && counts[at] === undefined)) this.#lookAtLateAgain();
    const deliveries = counts.reduce<number>((sum, one) => sum + (one ?? 0), 0);
    this.#counts.told += deliveries;
    if (deliveries > 0) deliveriesAdded();
  }
}

/** An alert with its slots that are due; none if the first one is only to be noted. It takes turns by team and project. */
interface Due extends TurnTaker {
  readonly alert: DueAlert;
  readonly first: number;
  readonly last: number;
  readonly groups: ReadonlyMap<string, GroupState>;
  /** Slots that are evaluated again; then `first` and `last` are their bounds. */
  readonly late?: LateWork;
}

interface LateWork {
  readonly slots: readonly number[];
  /** The greatest number of a late minute that is done with it. */
  readonly seen: number;
}

/** The slots of an alert that these minutes are part of, and that it was not looked at again for their events. */
function lateSlotsOf(alert: DueAlert, minutes: readonly LateMinute[]): number[] {
  // One that takes too long is asked less often, not more.
  if (alert.pace > 1) return [];
  const slots = minutes
    .filter(({ sequence }) => sequence > alert.late_seen)
    .map(({ minute }) => slotAt(minute * MINUTE_MS, alert.interval));
  return [...new Set(slots)].filter((slot) => slot >= alert.first_slot);
}

function slotsOf(outcomes: readonly SlotOutcome[], first: number, interval: number): Slot[] {
  return outcomes.map((outcome, at) => {
    const number = first + at;
    return { number, stop: new Date(slotStopMs(number, interval)).toISOString(), outcome };
  });
}

/** Half as often after each evaluation that took too long; as often as its interval says after one that succeeded. */
function paceAfter(outcomes: readonly SlotOutcome[], before: number, isSlow: boolean): number {
  if (isSlow || outcomes.some((one) => !one.ok && one.isOverTime === true)) return Math.min(before * 2, MOST_PACE);
  return outcomes.at(-1)?.ok === true ? 1 : before;
}

const newEpisodeId = () => `eps_${newId()}`;

function stateOf(alert: DueAlert, groups: ReadonlyMap<string, GroupState>): EvaluationState {
  const { failures, failure, failing_episode_id: id, failing_since: since, failing_told } = alert;
  const failing = id === "" ? undefined : { id, since: since ?? "", isTold: failing_told === 1, toldSlot: 0 };
  return { groups, failures, failure, failing };
}

const ruleOf = (alert: DueAlert, isCount: boolean): Rule => ({
  ...{ operator: alert.operator, threshold: alert.threshold, interval: alert.interval },
  ...{ for: alert.for, recover: alert.recover, repeat: alert.repeat, isMuted: alert.muted === 1, isCount },
});
