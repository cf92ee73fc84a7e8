import type { Entry } from "../grammar/entry.ts";
import { entryId } from "../grammar/entry-id.ts";
import type { Clock } from "../grammar/units/clock.ts";
import type { AnsweringRule } from "./exchange.ts";

export interface EntryLogOptions {
  /** Takes the entries of one tick, in order. */
  readonly log: (entries: readonly Entry[]) => void;
  readonly stage: string;
  readonly version: string;
  readonly commit?: string;
  readonly clock: Clock;
  /** Begins the ids of the entries, which have none without it: no two logs that are compared may have the same. */
  readonly instance?: string | undefined;
}

/**
 * Collects all entries of a running server: the app's output, its requests, and the events of its process.
 * Each carries stage, version and commit, and its number in this log if that has an instance. They are passed on once per
 * tick, so that a busy server writes many at once.
 */
export class EntryLog {
  readonly nowMs: () => number;
  /** Fields of every entry. */
  readonly common: { readonly stage: string; readonly version: string; readonly commit?: string };
  readonly #log: (entries: readonly Entry[]) => void;
  readonly #instance: string | undefined;
  #count = 0;
  #batch: Entry[] = [];
  #lastMs: number | undefined;
  #lastText = "";

  constructor(options: EntryLogOptions) {
    const { clock } = options;
    this.nowMs = () => clock.nowMs();
    this.#log = options.log;
    this.#instance = options.instance;
    const { stage, version, commit } = options;
    this.common = { stage, version, ...(commit !== undefined && { commit }) };
  }

  /** `message` has no dynamic content; values go into `fields`. */
  write(level: string, message: string, fields: Readonly<Record<string, unknown>>): void {
    this.#push({ timestamp: this.#timestamp(), level, message, fields: { ...this.common, ...fields } });
  }

  /** The same for `fields` that begin with stage, version and commit: called twice for every request. */
  writeWhole(level: string, message: string, fields: Readonly<Record<string, unknown>>): void {
    this.#push({ timestamp: this.#timestamp(), level, message, fields });
  }

  /** An entry of the app's own; a field that the app wrote stays as it wrote it. Returns what `extend` takes. */
  add(entry: Entry): Entry {
    return this.#push({ ...entry, fields: { ...this.common, ...entry.fields } });
  }

  /** Adds a line to the message of an entry; false if that was passed on already. */
  extend(added: Entry, line: string): boolean {
    const at = this.#batch.lastIndexOf(added);
    if (at === -1) return false;
    (added as { message: string }).message += `\n${line}`;
    return true;
  }

  #push(unnumbered: Entry): Entry {
    const entry =
      this.#instance === undefined ? unnumbered : { ...unnumbered, id: entryId(this.#instance, ++this.#count) };
    if (this.#batch.length === 0) setImmediate(() => this.flush());
    this.#batch.push(entry);
    return entry;
  }

  /** Many entries have the same millisecond, and writing it out takes longer than the rest of an entry. */
  #timestamp(): string {
    const nowMs = this.nowMs();
    if (nowMs !== this.#lastMs) {
      this.#lastMs = nowMs;
      this.#lastText = new Date(nowMs).toISOString();
    }
    return this.#lastText;
  }

  /** Passes on what waits for the end of the tick. */
  flush(): void {
    if (this.#batch.length === 0) return;
    const batch = this.#batch;
    this.#batch = [];
    this.#log(batch);
  }
}

/** An entry as it is kept and shipped: JSON, without the line's end. */
export function entryLine(entry: Entry): string {
  const { id, timestamp, level, message, fields } = entry;
  return JSON.stringify(
    id === undefined ? { timestamp, level, message, fields } : { id, timestamp, level, message, fields },
  );
}

/** The fields that a request entry and a response entry have in common. */
export interface RequestFields {
  readonly id: string;
  readonly ip: string;
  readonly method: string;
  /** As the client sent it. */
  readonly path: string;
  /** Without the question mark; empty if there is none. */
  readonly query: string;
}

/** Literals, here and below: two spreads in one object take V8 3 us, and serializing the result takes 4 more. */
export function writeRequest(log: EntryLog, { id, ip, method, path, query }: RequestFields): void {
  const { stage, version, commit } = log.common;
  const fields =
    commit === undefined
      ? { stage, version, id, ip, method, path, query }
      : { stage, version, commit, id, ip, method, path, query };
  log.writeWhole("info", "request", fields);
}

export interface ResponseFields {
  readonly status: number;
  /** Milliseconds, to the microsecond. */
  readonly duration: number;
  /** Bytes of the body that were sent. */
  readonly size: number;
  /** Where it is not that of the status. */
  readonly level?: string | undefined;
  /** Undefined: the app answered. */
  readonly rule?: AnsweringRule | undefined;
  /** Why the body broke off; what came of it is in `size`. */
  readonly reason?: string | undefined;
}

export function writeResponse(log: EntryLog, request: RequestFields, response: ResponseFields): void {
  const { id, ip, method, path, query } = request;
  const { status, duration, size, level, rule, reason } = response;
  const { stage, version, commit } = log.common;
  const fields: Record<string, unknown> =
    commit === undefined
      ? { stage, version, id, ip, method, path, query, status, duration, size }
      : { stage, version, commit, id, ip, method, path, query, status, duration, size };
  if (rule !== undefined) fields.rule = rule;
  if (reason !== undefined) fields.reason = reason;
  log.writeWhole(level ?? levelOfStatus(status), "response", fields);
}

export function levelOfStatus(status: number): string {
  if (status >= 500) return "error";
  return status >= 400 ? "warn" : "info";
}
