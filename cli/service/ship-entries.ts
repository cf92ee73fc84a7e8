import { randomUUID } from "node:crypto";
import type { Entry } from "../../grammar/entry.ts";
import type { BatchReport } from "../../schema/rpc.generated.ts";
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
  /** What the end of the command waits for. */
  readonly closeMs?: number;
}

/** Entries that wait for a slow or absent service; beyond it the newest are dropped and counted. */
const MAX_WAITING_BYTES = 16 * 1024 * 1024;
/** A batch: a fifth of what the service takes at once. */
const BATCH_BYTES = 1024 * 1024;
const BATCH_LINES = 1_000;
/** Entries of one moment travel together; nobody waits longer than that to see them. */
const GATHER_MS = 200;
const FIRST_WAIT_MS = 500;
/** A service that is back is noticed within it. */
const MAX_WAIT_MS = 5_000;
/** Of what a service, or something before it, asks for by Retry-After. */
const MAX_ASKED_WAIT_MS = 60_000;
/** Longer than the service holds a request before it refuses it. */
const ANSWER_MS = 15_000;
/** Somebody pressed Ctrl-C and waits. */
const CLOSE_MS = 2_000;

/**
 * Sends entries to a log service, in order and in batches, each again until it is taken: a batch carries a key, by which the
 * service knows it when only its answer was lost. Lines go as they are; what the service refuses to keep is left out, alone
 * where the service can tell.
 */
export function shipEntries(options: ShipperOptions): Shipper {
  const { client, project, note, maxWaitingBytes = MAX_WAITING_BYTES, closeMs = CLOSE_MS } = options;
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
      const timer = setTimeout(() => stop.abort(), closeMs);
      while (sending !== undefined) await sending;
      clearTimeout(timer);
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

  /** Until it is taken, or refused for good; false where it was given up. A batch with a bad line goes in halves. */
  async function sendWhole(lines: readonly string[]): Promise<boolean> {
    const idempotencyKey = randomUUID();
    let isProjectAdded = false;
    for (let waitMs = FIRST_WAIT_MS; ; waitMs = Math.min(2 * waitMs, MAX_WAIT_MS)) {
      let errors: BatchReport["errors"] = [];
      let failure = await failureOf(async (signal) => {
        ({ errors } = await client.ingest(project, lines.join("\n"), { idempotencyKey, signal }));
      });
      let remedy = remedyOf(failure);
      const isProjectMissing = remedy === "add the project";
      if (remedy === "add the project" && !isProjectAdded) {
        failure = await failureOf((signal) =>
          client.call("add_project", { project: { id: project, name: options.name } }, { signal }),
        );
        // Somebody else may have been faster.
        isProjectAdded = failure === undefined || (failure instanceof RpcFailure && failure.status === 409);
        if (isProjectAdded) continue;
        remedy = remedyOf(failure);
      }
      if (remedy === "none") {
        lastTrouble = "";
        if (errors.length > 0) leaveOut(errors.length, errors[0]!.message);
        return true;
      }
      if (stop.signal.aborted) return false;
      if (remedy === "send parts" && lines.length > 1) {
        const middle = lines.length >> 1;
        return (await sendWhole(lines.slice(0, middle))) && (await sendWhole(lines.slice(middle)));
      }
      if (remedy !== "try again" && remedy !== "use another token") {
        leaveOut(lines.length, reasonOf(failure));
        return true;
      }
      const hint = remedy === "try again" ? "" : ` (${isProjectMissing ? projectHint(project) : TOKEN_HINT})`;
      say(`the log service does not take entries: ${reasonOf(failure)}${hint}; trying again`);
      const askedMs = failure instanceof RpcFailure ? (failure.retryAfterMs ?? 0) : 0;
      await pause(Math.max(waitMs, Math.min(askedMs, MAX_ASKED_WAIT_MS)));
      if (stop.signal.aborted) return false;
    }
  }

  /** Undefined where it succeeded. */
  async function failureOf(ask: (signal: AbortSignal) => Promise<unknown>): Promise<unknown> {
    try {
      await ask(AbortSignal.any([stop.signal, AbortSignal.timeout(ANSWER_MS)]));
      return undefined;
    } catch (error) {
      return error;
    }
  }

  /** Not all of it where the command is about to end: then every moment may be the last one to send something. */
  function pause(ms: number): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(() => wake(), isClosing ? Math.min(ms, CLOSING_WAIT_MS) : ms);
      wake = () => {
        clearTimeout(timer);
        resolve();
      };
      if (stop.signal.aborted) wake();
    });
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

const entriesOf = (count: number) => (count === 1 ? "1 entry" : `${count} entries`);

const CLOSING_WAIT_MS = 100;

const projectHint = (project: string) =>
  `there is no project ${project} yet: add it, or start again with a token of tool service token add --scope events:write,projects:write`;

const TOKEN_HINT = "start again with TOOL_LOGS_TOKEN set to what tool service token add prints";

type Remedy = "none" | "try again" | "use another token" | "add the project" | "send parts" | "leave it out";

/** What is to be done where a request failed so. */
function remedyOf(failure: unknown): Remedy {
  if (failure === undefined) return "none";
  if (!(failure instanceof RpcFailure)) return "try again";
  const { status, type } = failure;
  if (status === 401 || status === 403) return "use another token";
  if (status === 404 && type === "not_found") return "add the project";
  // Proxies have limits of their own; a 400 that is not the service's says nothing about a line.
  if (status === 413 || (status === 400 && type !== "unknown")) return "send parts";
  return status >= 500 || status === 408 || status === 429 ? "try again" : "leave it out";
}

function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const { cause } = error;
  // fetch says no more than that it failed.
  return cause instanceof Error ? cause.message || String((cause as NodeJS.ErrnoException).code) : error.message;
}
