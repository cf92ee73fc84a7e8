import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import type { Entry } from "../../grammar/entry.ts";
import { type RpcClient, RpcFailure } from "../../schema/rpc-client.ts";

export interface Shipper {
  /** Returns at once. */
  write(entries: readonly Entry[]): void;
  /** Sends what waits, for a short while, and says what could not be sent. */
  close(): Promise<void>;
}

export interface ShipperOptions {
  readonly client: RpcClient;
  readonly project: string;
  /** Of the project, where it has to be added. */
  readonly name: string;
  /** What a person should know; the same is not said twice in a row. */
  readonly note: (text: string) => void;
  readonly maxWaitingBytes?: number;
}

/** Entries that wait for a slow or absent service; beyond it they are dropped and counted. */
const MAX_WAITING_BYTES = 16 * 1024 * 1024;
/** A batch: a fifth of what the service takes at once. */
const BATCH_BYTES = 1024 * 1024;
const BATCH_LINES = 1_000;
/** Entries of one moment travel together; nobody waits longer than that to see them. */
const GATHER_MS = 200;
const FIRST_WAIT_MS = 500;
const MAX_WAIT_MS = 15_000;
/** Longer than the service holds a request before it refuses it. */
const ANSWER_MS = 15_000;
/** What the end of the command waits for. */
const CLOSE_MS = 2_000;

/**
 * Sends entries to a log service, in order and in batches, each again until it is taken: a batch carries a key, by which the
 * service knows it when only its answer was lost. Lines go as they are; what the service refuses to keep is left out, alone.
 */
export function shipEntries(options: ShipperOptions): Shipper {
  const { client, project, note, maxWaitingBytes = MAX_WAITING_BYTES } = options;
  let waiting: string[] = [];
  let waitingBytes = 0;
  let dropped = 0;
  let refused = 0;
  let lastNote = "";
  const stop = new AbortController();
  let sending: Promise<void> | undefined;
  let hurry: () => void = () => {};

  return {
    write(entries) {
      for (const entry of entries) {
        const line = JSON.stringify(entry);
        if (waitingBytes + line.length > maxWaitingBytes) dropped++;
        else {
          waiting.push(line);
          waitingBytes += line.length;
        }
      }
      sending ??= send().finally(() => {
        sending = undefined;
      });
    },

    async close() {
      hurry();
      const timer = setTimeout(() => stop.abort(), CLOSE_MS);
      while (sending !== undefined) await sending;
      clearTimeout(timer);
      const lost = dropped + waiting.length;
      if (lost > 0) note(`${lost} entries did not reach the log service`);
      if (refused > 0) note(`${refused} entries were refused by the log service`);
    },
  };

  async function send(): Promise<void> {
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, GATHER_MS);
      hurry = () => {
        clearTimeout(timer);
        resolve();
      };
    });
    while (waiting.length > 0 && !stop.signal.aborted) {
      let count = 0;
      for (let bytes = 0; count < waiting.length && count < BATCH_LINES; count++) {
        bytes += waiting[count]!.length;
        if (count > 0 && bytes > BATCH_BYTES) break;
      }
      const batch = waiting.slice(0, count);
      if (!(await sendWhole(batch))) return;
      waiting = waiting.slice(count);
      waitingBytes -= batch.reduce((sum, line) => sum + line.length, 0);
      if (dropped > 0) {
        const lost = dropped;
        dropped = 0;
        say(`${lost} entries came too fast for the log service and were left out`);
      }
    }
  }

  /** Until it is taken, or refused for good; false where it was given up. A batch with a bad line goes in halves. */
  async function sendWhole(lines: readonly string[]): Promise<boolean> {
    const idempotencyKey = randomUUID();
    for (let waitMs = FIRST_WAIT_MS; ; waitMs = Math.min(2 * waitMs, MAX_WAIT_MS)) {
      let failure: unknown;
      try {
        const signal = AbortSignal.any([stop.signal, AbortSignal.timeout(ANSWER_MS)]);
        await client.ingest(project, lines.join("\n"), { idempotencyKey, signal });
        lastNote = "";
        return true;
      } catch (error) {
        failure = error;
      }
      if (stop.signal.aborted) return false;
      if (failure instanceof RpcFailure && (failure.status === 400 || failure.status === 413)) {
        if (lines.length === 1) {
          refused++;
          return true;
        }
        const middle = lines.length >> 1;
        return (await sendWhole(lines.slice(0, middle))) && (await sendWhole(lines.slice(middle)));
      }
      if (failure instanceof RpcFailure && failure.status === 404 && (await addProject())) continue;
      say(`the log service does not take entries: ${reasonOf(failure)}; trying again`);
      const askedMs = failure instanceof RpcFailure ? (failure.retryAfterMs ?? 0) : 0;
      await sleep(Math.max(waitMs, askedMs), undefined, { signal: stop.signal }).catch(() => undefined);
      if (stop.signal.aborted) return false;
    }
  }

  async function addProject(): Promise<boolean> {
    try {
      await client.call("add_project", { project: { id: project, name: options.name } }, { signal: stop.signal });
      return true;
    } catch (error) {
      // Somebody else was faster.
      return error instanceof RpcFailure && error.status === 409;
    }
  }

  function say(text: string): void {
    if (text === lastNote) return;
    lastNote = text;
    note(text);
  }
}

function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const { cause } = error;
  // fetch says no more than that it failed.
  return cause instanceof Error ? cause.message || String((cause as NodeJS.ErrnoException).code) : error.message;
}
