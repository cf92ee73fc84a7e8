// Entries on their way to the log service. The app never fails because the service does, and its requests wait for it no
// longer than WAIT_MS, once in each pause between attempts.
import { gzipSync } from "node:zlib";
import type { Entry } from "../../grammar/entry.ts";
import { levelOf, severity } from "../../grammar/query/levels.ts";
import type { Clock, Timer } from "../../grammar/units/clock.ts";
import { LineBuffer, type Lines } from "./line-buffer.ts";

/** The fate of a batch at the service. A batch that failed is sent again, one that was refused is not. */
export type Outcome =
  | { readonly kind: "taken"; readonly refused: number; readonly reason?: string }
  | { readonly kind: "refused"; readonly reason: string }
  | { readonly kind: "failed"; readonly reason: string; readonly retryAfterMs?: number };

/** Sends a batch once. Never rejects; how long it takes is up to the service, and to the platform, which stops this process. */
export type PostBatch = (batch: {
  readonly body: Buffer;
  /** Its lines. */
  readonly count: number;
  readonly idempotencyKey: string;
}) => Promise<Outcome>;

export interface SenderOptions {
  readonly post: PostBatch;
  /** Begins the keys of batches. */
  readonly instance: string;
  readonly clock: Clock;
  /** Writes an entry about the delivery itself. */
  readonly note: (level: string, message: string, fields: Readonly<Record<string, unknown>>) => void;
  /** Takes lines, each with its end, that could not be delivered so far, once each; undefined if all are printed in any case. */
  readonly print?: ((text: string) => void) | undefined;
}

/** How long an answered request keeps the instance from its next one. */
const WAIT_MS = 250;
/** Entries may wait for others while pauses between two events are shorter than this: the next event takes them along. */
const SHORT_PAUSE_MS = 200;
/** The longest that they wait then. */
const GATHER_MS = 1_000;
/** After a failure. The pause doubles up to a minute: a service that is back is noticed within it. */
const FIRST_PAUSE_MS = 1_000;
const MAX_PAUSE_MS = 60_000;
/** The most that is kept for a service that does not take it. */
const MAX_KEPT_BYTES = 1024 * 1024;
/** Size of a batch: what is dropped at once is an eighth of what is kept. */
const BATCH_BYTES = MAX_KEPT_BYTES / 8;
const BATCH_LINES = 1_000;

const ERROR = severity("error");

/** The lines of a batch never change, so that its key stands for them from its first sending on. */
interface Batch extends Lines {
  readonly idempotencyKey: string;
  printedBytes: number;
}

interface Flight {
  readonly batch: Batch;
  readonly landed: Promise<Outcome["kind"]>;
}

/** Entries that wait, and the attempts to send them. */
export class Sender {
  readonly #options: SenderOptions;
  readonly #clock: Clock;
  /** Full, or sent before; the oldest first. */
  #batches: Batch[] = [];
  #keptBytes = 0;
  readonly #open = new LineBuffer();
  #openPrintedBytes = 0;
  #openSinceMs = 0;
  #hasError = false;
  #count = 0;
  #flight: Flight | undefined;
  #gathering: Timer | undefined;
  /** When that fires, by the monotonic clock. */
  #gatheredAtMs = 0;
  #pauseMs = 0;
  #resumesAtMs = Number.NEGATIVE_INFINITY;
  #dropped = 0;
  #refused = 0;
  #refusedNotedMs = Number.NEGATIVE_INFINITY;
  #lastReason = "";

  constructor(options: SenderOptions) {
    this.#options = options;
    this.#clock = options.clock;
  }

  /** Takes entries with their lines. Returns at once. */
  write(entries: readonly Entry[], lines: readonly string[]): void {
    let isFull = false;
    for (const [i, line] of lines.entries()) {
      if (this.#open.count === 0) this.#openSinceMs = this.#clock.nowMs();
      this.#open.add(line);
      this.#hasError ||= isError(entries[i]!.level);
      if (this.#open.length < BATCH_BYTES && this.#open.count < BATCH_LINES) continue;
      this.#seal();
      isFull = true;
    }
    if (this.#isEmpty()) return;
    // Whoever is killed while the service is away cannot print it any more.
    if (this.#pauseMs > 0) this.#printWaiting();
    // Nothing joins a full batch.
    this.#sendWithin(isFull && this.#flight === undefined ? 0 : GATHER_MS);
  }

  /** To be called after each answer, with the time that the last pause took, if it came after a request. */
  async answered(lastPauseMs: number | undefined): Promise<void> {
    const nowMs = this.#clock.nowMs();
    if (this.#isEmpty() || this.#isPausing(nowMs)) return;
    const isBusy = lastPauseMs !== undefined && lastPauseMs < SHORT_PAUSE_MS;
    const ageMs = nowMs - this.#openSinceMs;
    const mayWait = isBusy && !this.#hasError && this.#batches.length === 0 && ageMs >= 0 && ageMs < GATHER_MS;
    if (!mayWait) await this.#send(WAIT_MS);
  }

  /** Tries once to send all that waits, within `limitMs`, whatever became of the last attempts. */
  finish(limitMs: number): Promise<void> {
    return this.#send(limitMs);
  }

  /** Prints the entries that could not be delivered. Nothing comes after it. */
  close(): void {
    this.#gathering?.stop();
    this.#printWaiting();
  }

  #isEmpty(): boolean {
    return this.#open.count === 0 && this.#batches.length === 0;
  }

  /** A clock that was set back does not prolong the pause. */
  #isPausing(nowMs: number): boolean {
    return nowMs < this.#resumesAtMs && this.#resumesAtMs - nowMs <= MAX_PAUSE_MS;
  }

  /** A long request writes while it is answered: nothing waits for the end of it. Not in a pause between attempts. */
  #sendWithin(ms: number): void {
    const nowMs = this.#clock.nowMs();
    const dueMs = this.#isPausing(nowMs) ? Math.max(ms, this.#resumesAtMs - nowMs) : ms;
    const atMs = this.#clock.monotonicMs() + dueMs;
    if (this.#gathering !== undefined && this.#gatheredAtMs <= atMs) return;
    this.#gathering?.stop();
    this.#gatheredAtMs = atMs;
    this.#gathering = this.#clock.after(dueMs, () => void this.#gathered(), { isBackground: true });
  }

  async #gathered(): Promise<void> {
    this.#gathering = undefined;
    if (!this.#isPausing(this.#clock.nowMs())) await this.#send(WAIT_MS);
    if (!this.#isEmpty()) this.#sendWithin(GATHER_MS);
  }

  #seal(): void {
    if (this.#open.count === 0) return;
    this.#count += 1;
    const idempotencyKey = `${this.#options.instance}/${this.#count}`;
    this.#keptBytes += this.#open.length;
    this.#batches.push({ idempotencyKey, printedBytes: this.#openPrintedBytes, ...this.#open.take() });
    this.#openPrintedBytes = 0;
    this.#hasError = false;
    this.#dropOldest();
  }

  /** The batch that is being sent may have been taken already, and the newest says most about what happens now: both stay. */
  #dropOldest(): void {
    while (this.#keptBytes > MAX_KEPT_BYTES) {
      const at = this.#batches.findIndex((batch) => batch !== this.#flight?.batch);
      if (at === -1 || at === this.#batches.length - 1) return;
      const [oldest] = this.#batches.splice(at, 1);
      this.#keptBytes -= oldest!.bytes.length;
      this.#dropped += oldest!.count;
      this.#printBatch(oldest!);
    }
  }

  /** Sends batch after batch until nothing waits, one fails, or the time is over. */
  async #send(limitMs: number): Promise<void> {
    const untilMs = this.#clock.monotonicMs() + limitMs;
    while (!this.#isEmpty()) {
      if (this.#clock.monotonicMs() >= untilMs) return;
      this.#flight ??= this.#takeOff();
      // Compressing a batch takes some of the time, a lot of it where the processor is throttled.
      const leftMs = Math.max(0, untilMs - this.#clock.monotonicMs());
      const kind = await this.#inTime(this.#flight.landed, leftMs);
      if (kind === "failed") return;
      if (kind !== undefined) continue;
      // Still under way: the answer may come while the next request is served. Another may have waited for it, too.
      if (!this.#isPausing(this.#clock.nowMs())) this.#pause();
      return this.#printWaiting();
    }
  }

  async #inTime<T>(promise: Promise<T>, limitMs: number): Promise<T | undefined> {
    let timer: Timer | undefined;
    const late = new Promise<undefined>((resolve) => {
      timer = this.#clock.after(limitMs, () => resolve(undefined));
    });
    const first = await Promise.race([promise, late]);
    timer?.stop();
    return first;
  }

  #takeOff(): Flight {
    if (this.#batches.length === 0) {
      this.#seal();
      this.#gathering?.stop();
      this.#gathering = undefined;
    }
    const batch = this.#batches[0]!;
    const { idempotencyKey, bytes, count } = batch;
    // Without the last line's end.
    const body = gzipSync(bytes.subarray(0, -1));
    const landed = this.#options.post({ body, count, idempotencyKey }).then((outcome) => {
      this.#flight = undefined;
      this.#land(batch, outcome);
      return outcome.kind;
    });
    return { batch, landed };
  }

  #land(batch: Batch, outcome: Outcome): void {
    if (outcome.kind === "failed") {
      this.#pause(outcome.retryAfterMs);
      if (outcome.reason !== this.#lastReason) {
        this.#lastReason = outcome.reason;
        this.#options.note("warn", "log service does not take entries", { reason: outcome.reason });
      }
      this.#printWaiting();
      return;
    }
    this.#batches = this.#batches.filter((other) => other !== batch);
    this.#keptBytes -= batch.bytes.length;
    this.#pauseMs = 0;
    this.#resumesAtMs = Number.NEGATIVE_INFINITY;
    this.#lastReason = "";
    const { count } = batch;
    const refused = outcome.kind === "refused" ? count : Math.min(outcome.refused, count);
    if (refused > 0) {
      // The service says which, but a batch is printed as a whole: better twice than not at all.
      this.#printBatch(batch);
      this.#refused += refused;
      this.#noteRefused(outcome.reason);
    }
    if (this.#dropped === 0) return;
    const entries = this.#dropped;
    this.#dropped = 0;
    this.#options.note("warn", "entries did not reach the log service", { entries });
  }

  /** Not each time: the entry that says so may be refused, too. */
  #noteRefused(reason: string | undefined): void {
    const nowMs = this.#clock.monotonicMs();
    if (nowMs - this.#refusedNotedMs < MAX_PAUSE_MS) return;
    this.#refusedNotedMs = nowMs;
    const entries = this.#refused;
    this.#refused = 0;
    this.#options.note("error", "log service refused entries", { entries, reason });
  }

  #pause(atLeastMs = 0): void {
    this.#pauseMs = Math.min(this.#pauseMs === 0 ? FIRST_PAUSE_MS : 2 * this.#pauseMs, MAX_PAUSE_MS);
    this.#resumesAtMs = this.#clock.nowMs() + Math.min(Math.max(this.#pauseMs, atLeastMs), MAX_PAUSE_MS);
  }

  #printBatch(batch: Batch): void {
    const { bytes, printedBytes } = batch;
    if (printedBytes < bytes.length) this.#options.print?.(bytes.toString("utf8", printedBytes));
    batch.printedBytes = bytes.length;
  }

  #printWaiting(): void {
    if (this.#options.print === undefined) return;
    for (const batch of this.#batches) this.#printBatch(batch);
    if (this.#openPrintedBytes === this.#open.length) return;
    // They may still be joined by others, in one batch.
    this.#options.print(this.#open.textFrom(this.#openPrintedBytes));
    this.#openPrintedBytes = this.#open.length;
  }
}

/** Entries of this level and above never wait. */
function isError(level: string): boolean {
  const canonical = levelOf(level);
  return canonical !== undefined && severity(canonical) >= ERROR;
}
