// Entries on their way to the log service. The app never fails because the service does, and its requests wait for it no
// longer than WAIT_MS, once in each pause between attempts.
import { gzipSync } from "node:zlib";
import type { Entry } from "../../grammar/entry.ts";
import { levelOf, severity } from "../../grammar/query/levels.ts";
import type { Clock, Timer } from "../../grammar/units/clock.ts";

/** What the service made of a batch. A batch that failed is sent again, one that was refused is not. */
export type Outcome =
  | { readonly kind: "taken"; readonly refused: number; readonly reason?: string }
  | { readonly kind: "refused"; readonly reason: string }
  | { readonly kind: "failed"; readonly reason: string; readonly retryAfterMs?: number };

/** Sends a batch once. Never rejects; how long it takes is up to the service, and to the platform, which stops this process. */
export type Post = (batch: { readonly body: Buffer; readonly idempotencyKey: string }) => Promise<Outcome>;

export interface SenderOptions {
  readonly post: Post;
  /** Begins the keys of batches. */
  readonly instance: string;
  readonly clock: Clock;
  /** Writes an entry about the delivery itself. */
  readonly note: (level: string, message: string, fields: Readonly<Record<string, unknown>>) => void;
  /** Takes lines that could not be delivered so far, once each; undefined if they are printed in any case. */
  readonly print?: ((lines: readonly string[]) => void) | undefined;
}

export interface Sender {
  /** Takes entries with their lines. Returns at once. */
  write(entries: readonly Entry[], lines: readonly string[]): void;
  /** To be called after each answer, with the time that the last pause between two events took, if there was one. */
  answered(pauseMs: number | undefined): Promise<void>;
  /** Tries once to send all that waits, within `limitMs`, whatever became of the last attempts. */
  finish(limitMs: number): Promise<void>;
  /** Prints what could not be delivered. Nothing comes after it. */
  close(): void;
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
/** What is kept for a service that does not take it. */
const MAX_KEPT_BYTES = 1024 * 1024;
/** Size of a batch: what is dropped at once is an eighth of what is kept. */
const BATCH_BYTES = MAX_KEPT_BYTES / 8;
const BATCH_LINES = 1_000;

const ERROR = severity("error");

/** The lines of a batch never change, so that its key stands for them from its first sending on. */
interface Batch {
  readonly idempotencyKey: string;
  readonly lines: readonly string[];
  readonly bytes: number;
  isPrinted: boolean;
}

interface Flight {
  readonly batch: Batch;
  readonly landed: Promise<Outcome["kind"]>;
}

export function openSender(options: SenderOptions): Sender {
  const { post, instance, clock, note, print } = options;
  /** Full, or sent before; the oldest first. */
  let batches: Batch[] = [];
  let keptBytes = 0;
  let open: string[] = [];
  let openBytes = 0;
  let openSinceMs = 0;
  let hasError = false;
  let count = 0;
  let flight: Flight | undefined;
  let gathering: Timer | undefined;
  let pauseMs = 0;
  let resumesAtMs = Number.NEGATIVE_INFINITY;
  let dropped = 0;
  let refused = 0;
  let refusedNotedMs = Number.NEGATIVE_INFINITY;
  let lastReason = "";

  return {
    write(entries, lines) {
      for (const [i, line] of lines.entries()) {
        if (open.length === 0) openSinceMs = clock.nowMs();
        const bytes = Buffer.byteLength(line) + 1;
        open.push(line);
        openBytes += bytes;
        hasError ||= isError(entries[i]!.level);
        if (openBytes >= BATCH_BYTES || open.length >= BATCH_LINES) seal();
      }
      // A long request writes while it is answered: nothing waits for the end of it.
      if (open.length > 0) gathering ??= clock.after(GATHER_MS, gathered, { isBackground: true });
    },

    async answered(lastPauseMs) {
      const nowMs = clock.nowMs();
      if (isEmpty() || isPausing(nowMs)) return;
      const isBusy = lastPauseMs !== undefined && lastPauseMs < SHORT_PAUSE_MS;
      const ageMs = nowMs - openSinceMs;
      const mayWait = isBusy && !hasError && batches.length === 0 && ageMs >= 0 && ageMs < GATHER_MS;
      if (!mayWait) await send(WAIT_MS);
    },

    finish: (limitMs) => send(limitMs),

    close() {
      gathering?.stop();
      printWaiting();
    },
  };

  function isEmpty(): boolean {
    return open.length === 0 && batches.length === 0;
  }

  /** A clock that was set back does not prolong the pause. */
  function isPausing(nowMs: number): boolean {
    return nowMs < resumesAtMs && resumesAtMs - nowMs <= MAX_PAUSE_MS;
  }

  function gathered(): void {
    gathering = undefined;
    if (!isEmpty() && !isPausing(clock.nowMs())) void send(WAIT_MS);
  }

  function seal(): void {
    if (open.length === 0) return;
    count += 1;
    batches.push({ idempotencyKey: `${instance}/${count}`, lines: open, bytes: openBytes, isPrinted: false });
    keptBytes += openBytes;
    open = [];
    openBytes = 0;
    hasError = false;
    gathering?.stop();
    gathering = undefined;
    // The one that is being sent may have been taken already, and the newest says most about what happens now.
    while (keptBytes > MAX_KEPT_BYTES) {
      const at = batches.findIndex((batch) => batch !== flight?.batch);
      if (at === -1 || at === batches.length - 1) return;
      const [oldest] = batches.splice(at, 1);
      keptBytes -= oldest!.bytes;
      dropped += oldest!.lines.length;
      printBatch(oldest!);
    }
  }

  /** Sends batch after batch until nothing waits, one fails, or the time is over. */
  async function send(limitMs: number): Promise<void> {
    const untilMs = clock.monotonicMs() + limitMs;
    while (!isEmpty()) {
      const leftMs = untilMs - clock.monotonicMs();
      if (leftMs <= 0) return;
      flight ??= takeOff();
      const kind = await inTime(flight.landed, leftMs);
      if (kind === "failed") return;
      if (kind !== undefined) continue;
      // Still under way: the answer may come while the next request is served.
      pause();
      return printWaiting();
    }
  }

  async function inTime<T>(promise: Promise<T>, limitMs: number): Promise<T | undefined> {
    let timer: Timer | undefined;
    const late = new Promise<undefined>((resolve) => {
      timer = clock.after(limitMs, () => resolve(undefined));
    });
    const first = await Promise.race([promise, late]);
    timer?.stop();
    return first;
  }

  function takeOff(): Flight {
    if (batches.length === 0) seal();
    const batch = batches[0]!;
    const { idempotencyKey, lines } = batch;
    const landed = post({ body: gzipSync(lines.join("\n")), idempotencyKey }).then((outcome) => {
      flight = undefined;
      land(batch, outcome);
      return outcome.kind;
    });
    return { batch, landed };
  }

  function land(batch: Batch, outcome: Outcome): void {
    if (outcome.kind === "failed") {
      pause(outcome.retryAfterMs);
      if (outcome.reason !== lastReason) {
        lastReason = outcome.reason;
        note("warn", "log service does not take entries", { reason: outcome.reason });
      }
      printWaiting();
      return;
    }
    batches = batches.filter((other) => other !== batch);
    keptBytes -= batch.bytes;
    pauseMs = 0;
    resumesAtMs = Number.NEGATIVE_INFINITY;
    lastReason = "";
    const refusedHere = outcome.kind === "refused" ? batch.lines.length : outcome.refused;
    if (refusedHere > 0) {
      // The service says which, but a batch is printed as a whole: better twice than not at all.
      printBatch(batch);
      refused += refusedHere;
      noteRefused(outcome.reason);
    }
    if (dropped === 0) return;
    const entries = dropped;
    dropped = 0;
    note("warn", "entries did not reach the log service", { entries });
  }

  /** Not each time: the entry that says so may be refused, too. */
  function noteRefused(reason: string | undefined): void {
    const nowMs = clock.monotonicMs();
    if (nowMs - refusedNotedMs < MAX_PAUSE_MS) return;
    refusedNotedMs = nowMs;
    const entries = refused;
    refused = 0;
    note("error", "log service refused entries", { entries, reason });
  }

  function pause(atLeastMs = 0): void {
    pauseMs = Math.min(pauseMs === 0 ? FIRST_PAUSE_MS : 2 * pauseMs, MAX_PAUSE_MS);
    resumesAtMs = clock.nowMs() + Math.min(Math.max(pauseMs, atLeastMs), MAX_PAUSE_MS);
  }

  function printBatch(batch: Batch): void {
    if (batch.isPrinted) return;
    batch.isPrinted = true;
    print?.(batch.lines);
  }

  function printWaiting(): void {
    if (print === undefined) return;
    seal();
    for (const batch of batches) printBatch(batch);
  }
}

/** Entries of this level and above never wait. */
function isError(level: string): boolean {
  const known = levelOf(level);
  return known !== undefined && severity(known) >= ERROR;
}
