import { randomUUID } from "node:crypto";
import type { Entry } from "../../grammar/entry.ts";
import type { Clock } from "../../grammar/units/clock.ts";
import { type RpcClient, RpcFailure } from "../../schema/rpc-client.ts";
import { type ConnectionFailure, connectionFailure } from "../team/connection-failure.ts";
import { withinTime } from "../within-time.ts";

export interface Shipper {
  /** Returns at once. */
  write(entries: readonly Entry[]): void;
  /** Tries for a short while to send what is waiting, and reports what could not be sent. */
  close(): Promise<void>;
}

export interface ShipperOptions {
  readonly client: RpcClient;
  /** Where the service is, for hints. */
  readonly url: string;
  readonly project: string;
  /** Name of the project, used if it has to be added. */
  readonly name: string;
  /** The hint for people whose token the service refuses. */
  readonly remedy: string;
  /** Takes messages for people. The same message is not repeated in a row. */
  readonly note: (text: string) => void;
  readonly clock: Clock;
  readonly maxWaitingBytes?: number;
  /** How long `close` may take. */
  readonly closeMs?: number;
}

/** Entries that wait for a slow or unreachable service. When it is reached, new entries are dropped and counted. */
const MAX_WAITING_BYTES = 16 * 1024 * 1024;
/** Size of a batch: a fifth of the limit of the service. */
const BATCH_BYTES = 1024 * 1024;
const BATCH_LINES = 1_000;
/** How long entries are gathered into a batch. */
const GATHER_MS = 200;
const FIRST_WAIT_MS = 500;
/** The longest wait between attempts: a service that is back is noticed within it. */
const MAX_WAIT_MS = 5_000;
/** The longest wait that a service, or a proxy in front of it, may ask for by Retry-After. */
const MAX_RETRY_AFTER_MS = 60_000;
/** Timeout of a request. Longer than the service holds one before it refuses it. */
const ANSWER_MS = 15_000;
/** How long `close` takes at most: the user has pressed Ctrl-C and waits. */
const CLOSE_MS = 2_000;

/**
 * Sends entries to a log service, in order and in batches. A batch is sent again until it is accepted; it has an idempotency
 * key, so that the service recognizes it if only the answer was lost. Entries that the service refuses are left out, one by
 * one if the service says which they are.
 */
export function shipEntries(options: ShipperOptions): Shipper {
  const { client, url, project, note, clock, maxWaitingBytes = MAX_WAITING_BYTES, closeMs = CLOSE_MS } = options;
  let waiting: string[] = [];
  let waitingBytes = 0;
  let dropped = 0;
  let refused = 0;
  let lastTrouble = "";
  let lastRefusal = "";
  let sending: Promise<void> | undefined;
  let isClosing = false;
  let wake: () => void = () => {};
  const stop = new AbortController();
  stop.signal.addEventListener("abort", () => wake());

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
      sendWaiting();
    },

    async close() {
      isClosing = true;
      wake();
      const timer = clock.after(closeMs, () => stop.abort());
      while (sending !== undefined) await sending;
      timer.stop();
      const lost = dropped + waiting.length;
      if (lost > 0) note(`${entriesOf(lost)} did not reach the log service`);
      if (refused > 0) note(`${entriesOf(refused)} ${refused === 1 ? "was" : "were"} refused by the log service`);
    },
  };

  function sendWaiting(): void {
    if (waiting.length === 0 || stop.signal.aborted) return;
    sending ??= send().finally(() => {
      sending = undefined;
      sendWaiting();
    });
  }

  async function send(): Promise<void> {
    await pause(GATHER_MS);
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
        note(
          `${entriesOf(dropped)} ${dropped === 1 ? "was" : "were"} left out: no more than ${maxWaitingBytes} bytes wait for the log service`,
        );
        dropped = 0;
      }
    }
  }

  /**
   * Sends a batch until it is accepted or refused for good. Splits one that is refused as a whole. Returns false if the
   * shipper was stopped before that.
   */
  async function sendWhole(lines: readonly string[]): Promise<boolean> {
    const idempotencyKey = randomUUID();
    let isProjectAdded = false;
    for (let waitMs = FIRST_WAIT_MS; ; waitMs = Math.min(2 * waitMs, MAX_WAIT_MS)) {
      const ingest = await attempt((signal) => client.ingest(project, lines.join("\n"), { idempotencyKey, signal }));
      if (ingest.kind === "answered") {
        lastTrouble = "";
        const { errors } = ingest.answer;
        if (errors.length > 0) leaveOut(errors.length, errors[0]!.message);
        return true;
      }
      let { failure } = ingest;
      let remedy = remedyOf(failure);
      const isProjectMissing = remedy === "add the project";
      if (remedy === "add the project" && !isProjectAdded) {
        const addition = await attempt((signal) =>
          client.call("add_project", { project: { id: project, name: options.name } }, { signal }),
        );
        // Another client may have added it just now.
        if (addition.kind === "answered" || isConflict(addition.failure)) {
          isProjectAdded = true;
          continue;
        }
        failure = addition.failure;
        remedy = remedyOf(failure);
      }
      if (stop.signal.aborted) return false;
      if (remedy === "send parts" && lines.length > 1) {
        const middle = lines.length >> 1;
        return (await sendWhole(lines.slice(0, middle))) && (await sendWhole(lines.slice(middle)));
      }
      if (remedy !== "try again" && remedy !== "use another token") {
        leaveOut(lines.length, reasonOf(failure).reason);
        return true;
      }
      const { reason, hint: network } = reasonOf(failure);
      const own = isProjectMissing ? projectHint(project) : `${options.remedy}, and start again`;
      const hint = remedy === "try again" ? network : own;
      say(`the log service does not accept entries: ${reason}${hint === undefined ? "" : ` (${hint})`}; trying again`);
      const retryAfterMs = failure instanceof RpcFailure ? (failure.retryAfterMs ?? 0) : 0;
      await pause(Math.max(waitMs, Math.min(retryAfterMs, MAX_RETRY_AFTER_MS)));
      if (stop.signal.aborted) return false;
    }
  }

  /** Sends a request once. */
  async function attempt<T>(request: (signal: AbortSignal) => Promise<T>): Promise<Attempt<T>> {
    try {
      const answer = await withinTime(request, { limitMs: ANSWER_MS, signal: stop.signal, clock });
      return { kind: "answered", answer };
    } catch (failure) {
      return { kind: "failed", failure };
    }
  }

  /** Waits, but only briefly while closing: any attempt may be the last. */
  function pause(ms: number): Promise<void> {
    return new Promise((resolve) => {
      const timer = clock.after(isClosing ? Math.min(ms, CLOSING_WAIT_MS) : ms, () => wake());
      wake = () => {
        timer.stop();
        resolve();
      };
      if (stop.signal.aborted) wake();
    });
  }

  function reasonOf(failure: unknown): ConnectionFailure {
    if (failure instanceof RpcFailure) return { reason: failure.message, hint: undefined };
    return connectionFailure(failure, url);
  }

  function leaveOut(count: number, reason: string): void {
    refused += count;
    if (reason === lastRefusal) return;
    lastRefusal = reason;
    note(`the log service refused ${entriesOf(count)}, left out here: ${reason}`);
  }

  function say(text: string): void {
    if (text === lastTrouble) return;
    lastTrouble = text;
    note(text);
  }
}

const isConflict = (failure: unknown) => failure instanceof RpcFailure && failure.status === 409;

const entriesOf = (count: number) => (count === 1 ? "1 entry" : `${count} entries`);

const CLOSING_WAIT_MS = 100;

const projectHint = (project: string) =>
  `there is no project ${project} yet: an admin of the team can add it, or start again with a token of tool service token add --scope events:write,projects:write`;

/** How a request ended. A failure is what was thrown: whether to try again is decided by it. */
type Attempt<T> =
  | { readonly kind: "answered"; readonly answer: T }
  | { readonly kind: "failed"; readonly failure: unknown };

type Remedy = "try again" | "use another token" | "add the project" | "send parts" | "leave it out";

/** Tells how to go on after a request that failed. */
function remedyOf(failure: unknown): Remedy {
  if (!(failure instanceof RpcFailure)) return "try again";
  const { status, type } = failure;
  if (status === 401 || status === 403) return "use another token";
  if (status === 404 && type === "not_found") return "add the project";
  // Proxies have limits of their own. A 400 from one of them says nothing about a line.
  if (status === 413 || (status === 400 && type !== "unknown")) return "send parts";
  return status >= 500 || status === 408 || status === 429 ? "try again" : "leave it out";
}
