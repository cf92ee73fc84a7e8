import type { Clock } from "../../grammar/units/clock.ts";
import { MailFailure } from "./failure.ts";
import type { Mailer, MailMessage } from "./mailer.ts";

export interface MailQueueOptions {
  readonly mailer: Mailer;
  /** The mails that are not sent at a time, also those from before a crash. */
  unsent(now: string): Promise<readonly UnsentMail[]>;
  readonly clock: Clock;
  /** Takes failures, for the operators of the service. */
  readonly failed: (message: string, error: unknown) => void;
}

/** Pause before mails are looked for. */
const ANSWERED_MS = 20;
/** Pause after the first failure of a mail; each further one is twice as long, up to the longest. */
const FIRST_PAUSE_MS = 2_000;
const LONGEST_PAUSE_MS = 5 * 60_000;
/** Mails that are sent at once. A recipient whose server is slow holds up none of the others. */
const MOST_AT_ONCE = 20;

/** A mail to send, and what notes that there is no more to do about it. */
export interface UnsentMail {
  readonly id: string;
  /** Undefined if the address may not come in: nothing is sent, and whoever asked does not learn it. */
  message(): Promise<MailMessage | undefined>;
  done(now: string): Promise<void>;
}

/** Sends the mails that its owner says are not sent. It keeps none itself: what is lost with the process is asked for again. */
export class MailQueue {
  readonly #options: MailQueueOptions;
  readonly #closing = new AbortController();
  /** When each mail that failed is tried again, in the time of a monotonic clock, and the pause before it. */
  readonly #failures = new Map<string, { readonly atMs: number; readonly pauseMs: number }>();
  /** The mails that are being sent, by the id of their record. */
  readonly #sending = new Map<string, Promise<void>>();
  #isAsked = false;
  #wake = new AbortController();
  #work: Promise<void> | undefined;

  constructor(options: MailQueueOptions) {
    this.#options = options;
  }

  /** Sends what waits. To be called at the start and after records that need a mail were added. */
  kick(): void {
    this.#isAsked = true;
    this.#wake.abort();
    this.#work ??= this.#run().finally(() => {
      this.#work = undefined;
      if (this.#isAsked && !this.#closing.signal.aborted) this.kick();
    });
  }

  /** Ends. What was not sent is sent after the next start. */
  async close(): Promise<void> {
    this.#closing.abort();
    this.#options.mailer.close();
    await this.#work;
    await Promise.allSettled(this.#sending.values());
  }

  async #run(): Promise<void> {
    const { signal } = this.#closing;
    try {
      while (!signal.aborted) {
        // Whoever asked has the answer by then: how long it takes must not tell whether a mail is written.
        await this.#options.clock.sleep(ANSWERED_MS, signal, { isBackground: true });
        this.#isAsked = false;
        const waiting = await this.#waiting();
        this.#forget(waiting);
        const idle = waiting.filter(({ id }) => !this.#sending.has(id));
        for (const one of idle.filter(({ id }) => this.#dueMs(id) <= 0)) {
          if (this.#sending.size < MOST_AT_ONCE) this.#start(one);
        }
        if (this.#isAsked) continue;
        // Each mail that is done kicks: there may be more than are sent at once.
        const next = idle.filter(({ id }) => !this.#sending.has(id)).map(({ id }) => this.#dueMs(id));
        const pauses = next.filter((ms) => ms > 0);
        if (pauses.length === 0) return;
        await this.#sleep(Math.min(...pauses));
      }
    } catch (error) {
      if (signal.aborted) return;
      this.#options.failed("mails could not be sent; trying again", error);
      // The records may be busy for a moment. Nobody else would ask for what waits.
      await this.#options.clock.sleep(FIRST_PAUSE_MS, signal, { isBackground: true }).catch(() => {});
      this.#isAsked = true;
    }
  }

  #start(one: UnsentMail): void {
    const work = this.#send(one)
      .catch((error) => {
        if (!this.#closing.signal.aborted) this.#options.failed("what was sent could not be noted", error);
      })
      .finally(() => {
        this.#sending.delete(one.id);
        if (!this.#closing.signal.aborted) this.kick();
      });
    this.#sending.set(one.id, work);
  }

  /** How long until a mail is tried again, in milliseconds; 0 or less if it may be sent now. */
  #dueMs(id: string): number {
    return (this.#failures.get(id)?.atMs ?? 0) - this.#options.clock.monotonicMs();
  }

  /** Waits for a time, or until somebody asks. */
  async #sleep(ms: number): Promise<void> {
    this.#wake = new AbortController();
    const signal = AbortSignal.any([this.#closing.signal, this.#wake.signal]);
    await this.#options.clock.sleep(ms, signal, { isBackground: true }).catch(() => {});
  }

  async #waiting(): Promise<readonly UnsentMail[]> {
    const { unsent, clock } = this.#options;
    return unsent(new Date(clock.nowMs()).toISOString());
  }

  async #send({ id, message, done }: UnsentMail): Promise<void> {
    const { mailer, clock, failed } = this.#options;
    const finish = async () => {
      await done(new Date(clock.nowMs()).toISOString());
      this.#failures.delete(id);
    };
    try {
      const mail = await message();
      if (mail !== undefined) await mailer.send(mail, this.#closing.signal);
      await finish();
    } catch (error) {
      if (this.#closing.signal.aborted) throw error;
      const before = this.#failures.get(id)?.pauseMs;
      const isPermanent = error instanceof MailFailure && error.isPermanent;
      if (before === undefined) failed(`a mail could not be sent${isPermanent ? "" : "; trying again"}`, error);
      const pauseMs = before === undefined ? FIRST_PAUSE_MS : Math.min(LONGEST_PAUSE_MS, before * 2);
      this.#failures.set(id, { atMs: clock.monotonicMs() + pauseMs, pauseMs });
      if (isPermanent) await finish();
    }
  }

  /** Drops the failures of mails that need not be sent any more. */
  #forget(waiting: readonly UnsentMail[]): void {
    const left = new Set(waiting.map(({ id }) => id));
    for (const id of this.#failures.keys()) if (!left.has(id)) this.#failures.delete(id);
  }
}
