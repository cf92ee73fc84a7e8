import {
  type DeliveryHead,
  noteGivenUp,
  removeOldDeliveries,
  type WaitingTarget,
  waitingFor,
  waitingTargets,
} from "../records/deliveries.ts";
import type { Records } from "../records/open.ts";
import { type Attempt, type Attempted, attemptDelivery } from "./attempt.ts";
import { GIVE_UP_MS, isDue } from "./backoff.ts";
import { dueDeliveries } from "./due-deliveries.ts";
import { MessagePace } from "./pace.ts";
import { type SendOptions, targetRecipients } from "./send.ts";
import { SmsBudget } from "./send-limits.ts";
import { findTarget, type NotificationTarget } from "./target.ts";
import { TargetRefused } from "./target-guard.ts";

export interface DeliveryQueueOptions extends SendOptions {
  readonly records: Records;
}

/** Pause before the records are looked at: what happens at once is told at once. */
const GATHER_MS = 100;
/** Longest pause: a clock that is set ahead or back is noticed by then. */
const LONGEST_PAUSE_MS = 60_000;
/** Pause after the records could not be read or written. */
const BROKEN_PAUSE_MS = 5_000;
/** Targets that are told at once, and those of one team: its slow targets hold up no other team. */
const TARGETS_AT_ONCE = 20;
const TARGETS_OF_TEAM_AT_ONCE = 5;
/** Attempts at one target before it is another one's turn. */
const ATTEMPTS_IN_TURN = 20;
/** Deliveries to one target that are looked at, and those in one digest. */
const MOST_LOOKED_AT = 1_000;
const MOST_IN_DIGEST = 200;
/** How long deliveries are kept that were delivered or given up, and how often older ones are removed. */
const KEPT_MS = 30 * 24 * 60 * 60_000;
const REMOVE_EACH_MS = 60 * 60_000;

/** The state of a target that deliveries wait for. Nothing of it is needed after a restart. */
interface Lane {
  readonly pace: MessagePace;
  /** Identifies the deliveries that waited when it was looked at last. */
  mark: string;
  /** When there is something to do, if nothing is added meanwhile. */
  nextMs: number;
  /** Until when the target wants to be told nothing. */
  heldUntilMs: number;
  work: Promise<void> | undefined;
  teamId: string;
}

/**
 * Delivers what the records say is to be told, also from before a crash: at least once, in order for each alert, with pauses
 * from ten seconds to an hour, for a day. Targets are told side by side.
 */
export class DeliveryQueue {
  readonly #options: DeliveryQueueOptions & { readonly smsBudget: SmsBudget };
  readonly #closing = new AbortController();
  readonly #lanes = new Map<string, Lane>();
  readonly #counts = new Map<string, number>();
  #waiting = 0;
  #removedMs = Number.NEGATIVE_INFINITY;
  #isAsked = false;
  #wake = new AbortController();
  #work: Promise<void> | undefined;

  constructor(options: DeliveryQueueOptions) {
    this.#options = { ...options, smsBudget: new SmsBudget(options.clock) };
  }

  /**
   * Looks for what is to be told. To be called at the start and after deliveries were added. With the id of a notification that
   * was changed, or whose deliveries are to be tried at once: then also if its target had asked for a pause.
   */
  kick(notificationId?: string): void {
    if (this.#closing.signal.aborted) return;
    const lane = notificationId === undefined ? undefined : this.#lanes.get(notificationId);
    if (lane !== undefined) Object.assign(lane, { heldUntilMs: 0, nextMs: 0 });
    this.#isAsked = true;
    this.#wake.abort();
    this.#work ??= this.#run();
  }

  /** Ends. What was not delivered is delivered after the next start. */
  async close(): Promise<void> {
    this.#closing.abort();
    await this.#work;
    await Promise.all([...this.#lanes.values()].map(({ work }) => work));
  }

  /** Counters of attempts by kind of target and outcome, and how many deliveries wait. */
  metrics(): Record<string, number> {
    return { ...Object.fromEntries(this.#counts), deliveries_waiting: this.#waiting };
  }

  async #run(): Promise<void> {
    const { signal } = this.#closing;
    while (!signal.aborted) {
      await this.#options.clock.sleep(GATHER_MS, signal, { isBackground: true }).catch(() => {});
      if (signal.aborted) return;
      this.#isAsked = false;
      const pauseMs = await this.#look().catch((error: unknown) => {
        if (!signal.aborted) this.#options.failed("deliveries could not be looked for; trying again", error);
        return BROKEN_PAUSE_MS;
      });
      if (!this.#isAsked) await this.#sleep(pauseMs);
    }
  }

  /** Waits for a time, or until somebody asks. */
  async #sleep(ms: number): Promise<void> {
    this.#wake = new AbortController();
    const signal = AbortSignal.any([this.#closing.signal, this.#wake.signal]);
    await this.#options.clock.sleep(ms, signal, { isBackground: true }).catch(() => {});
  }

  /** Begins what can be done now. Returns how long there is nothing else to do. */
  async #look(): Promise<number> {
    const { records, clock } = this.#options;
    await this.#removeOld();
    const targets = await waitingTargets(records.db);
    this.#waiting = targets.reduce((sum, { count }) => sum + count, 0);
    const now = clock.nowMs();
    this.#forget(targets);
    const ready = targets.filter((target) => {
      const { work, mark, nextMs } = this.#laneOf(target);
      return work === undefined && (mark !== target.mark || isDue(nextMs, now));
    });
    // Whoever has waited longest comes first: a target that hangs has had its turn.
    ready.sort((one, other) => this.#laneOf(one).nextMs - this.#laneOf(other).nextMs);
    for (const target of ready) if (this.#mayBegin(target.teamId)) this.#begin(target);
    // The end of each work asks again.
    const idle = targets.map((target) => this.#laneOf(target)).filter(({ work }) => work === undefined);
    const nextMs = Math.min(...idle.map((lane) => lane.nextMs).filter((ms) => ms > now));
    return Math.min(LONGEST_PAUSE_MS, nextMs - now);
  }

  #laneOf({ notificationId, teamId }: WaitingTarget): Lane {
    let lane = this.#lanes.get(notificationId);
    if (lane === undefined) {
      lane = { pace: new MessagePace(), mark: "", nextMs: 0, heldUntilMs: 0, work: undefined, teamId };
      this.#lanes.set(notificationId, lane);
    }
    return lane;
  }

  #mayBegin(team: string): boolean {
    const working = [...this.#lanes.values()].filter(({ work }) => work !== undefined);
    const ofTeam = working.filter(({ teamId }) => teamId === team);
    return working.length < TARGETS_AT_ONCE && ofTeam.length < TARGETS_OF_TEAM_AT_ONCE;
  }

  #begin(target: WaitingTarget): void {
    const { signal } = this.#closing;
    const lane = this.#laneOf(target);
    lane.mark = target.mark;
    lane.work = this.#deliver(target.notificationId, lane)
      .catch((error: unknown) => {
        if (signal.aborted) return this.#options.clock.nowMs();
        this.#options.failed("deliveries could not be made or noted; trying again", error);
        return this.#options.clock.nowMs() + BROKEN_PAUSE_MS;
      })
      .then((nextMs) => {
        lane.nextMs = nextMs;
        lane.work = undefined;
        this.kick();
      });
  }

  /** Delivers what is due to one target. Returns when there is more to do, in milliseconds since 1970. */
  async #deliver(notificationId: string, lane: Lane): Promise<number> {
    const { records, clock } = this.#options;
    const { signal } = this.#closing;
    for (let attempts = 0; attempts < ATTEMPTS_IN_TURN; attempts++) {
      signal.throwIfAborted();
      const waiting = await waitingFor(records.db, notificationId, MOST_LOOKED_AT);
      const now = clock.nowMs();
      if (!isDue(lane.heldUntilMs, now)) return lane.heldUntilMs;
      const { due, heldUp, nextMs } = dueDeliveries(waiting, now);
      const [first] = waiting;
      if (first === undefined) return Number.POSITIVE_INFINITY;
      const target = due.length + heldUp.length === 0 ? undefined : await this.#targetFor(first, waiting);
      if (target === undefined) return nextMs;
      if (due.length === 0) {
        await this.#tellHeldUp(target, heldUp, lane);
        return Math.max(nextMs, lane.heldUntilMs);
      }
      const step = target.type === "pagerduty" ? EACH : lane.pace.step(due.length, now);
      if (step.kind === "wait") return step.untilMs;
      const deliveries = step.kind === "digest" ? due.slice(0, MOST_IN_DIGEST) : due.slice(0, 1);
      lane.pace.sent(deliveries.length, now);
      const kind = await this.#attempt({ target, deliveries, heldUpBy: [] }, lane);
      // It may hang: what else there is for it waits until other targets had their turn.
      if (kind === "retry") return clock.nowMs();
      for (const delivery of kind === "split" ? deliveries : []) {
        if (!isDue(lane.heldUntilMs, clock.nowMs())) break;
        signal.throwIfAborted();
        await this.#attempt({ target, deliveries: [delivery], heldUpBy: [] }, lane);
      }
    }
    return clock.nowMs();
  }

  /** The target of what waits. If there is none, all of it is given up. */
  async #targetFor(first: DeliveryHead, waiting: readonly DeliveryHead[]): Promise<NotificationTarget | undefined> {
    const { records, clock, confirmsNumbers = false } = this.#options;
    const now = clock.nowMs();
    try {
      return await findTarget(records, first, { nowMs: now, confirmsNumbers });
    } catch (error) {
      if (!(error instanceof TargetRefused)) throw error;
      const ids = waiting.map(({ id }) => id);
      await noteGivenUp(records.db, ids, error.message, new Date(now).toISOString());
      return undefined;
    }
  }

  /** Tells what is held up to the recipients that have what comes before it. */
  async #tellHeldUp(
    target: NotificationTarget,
    heldUp: readonly { readonly delivery: DeliveryHead; readonly by: readonly DeliveryHead[] }[],
    lane: Lane,
  ): Promise<void> {
    if (targetRecipients(target).length === 1) return;
    for (const { delivery, by } of heldUp) {
      if (!isDue(lane.heldUntilMs, this.#options.clock.nowMs())) return;
      await this.#attempt({ target, deliveries: [delivery], heldUpBy: by }, lane);
    }
  }

  async #attempt(attempt: Attempt, lane: Lane): Promise<Attempted["kind"]> {
    const { kind, afterMs } = await attemptDelivery(this.#options, attempt, this.#closing.signal);
    if (kind === "none" || kind === "split") return kind;
    const name = `deliveries_${attempt.target.type}_${COUNTED[kind]}_total`;
    this.#counts.set(name, (this.#counts.get(name) ?? 0) + 1);
    // A target that asks for a pause means all that it would be told.
    if (afterMs > 0) lane.heldUntilMs = this.#options.clock.nowMs() + Math.min(afterMs, GIVE_UP_MS);
    return kind;
  }

  /** Drops what is known of targets that nothing waits for, but how much they were sent within the last minute. */
  #forget(targets: readonly WaitingTarget[]): void {
    const left = new Set(targets.map(({ notificationId }) => notificationId));
    const now = this.#options.clock.nowMs();
    for (const [id, { work, pace }] of this.#lanes) {
      if (!left.has(id) && work === undefined && pace.isOver(now)) this.#lanes.delete(id);
    }
  }

  async #removeOld(): Promise<void> {
    const { records, clock } = this.#options;
    if (clock.monotonicMs() < this.#removedMs + REMOVE_EACH_MS) return;
    this.#removedMs = clock.monotonicMs();
    await removeOldDeliveries(records.db, new Date(clock.nowMs() - KEPT_MS).toISOString());
  }
}

const EACH = { kind: "each" } as const;

/** The names of outcomes in metrics. */
const COUNTED = { delivered: "delivered", retry: "retried", refused: "failed" } as const;
