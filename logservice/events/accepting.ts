import type { Contents } from "./contents.ts";
import { encodeEvent } from "./encoded.ts";
import type { Journal } from "./journal/journal.ts";
import { eventAt, printLines } from "./lines.ts";
import type { Live } from "./live.ts";
import { addToPart } from "./newest.ts";
import type { Remembered } from "./remembered.ts";
import type { Room } from "./room.ts";
import type { Settings } from "./settings.ts";
import { type AppendOptions, type NewEvent, StoreError } from "./store.ts";

/** New batches: which of them are new, whether there is room, and their way into the journal and into memory. */
export class Accepting {
  readonly #settings: Settings;
  readonly #contents: Contents;
  readonly #journal: Journal;
  readonly #remembered: Remembered;
  readonly #live: Live;
  readonly #room: Room;
  readonly #stuckBy: (project: string) => Error | undefined;
  /** Batches that are being written, by project and key, and ids likewise: a retry waits for the first try's end. */
  readonly #writing = new Map<string, Promise<void>>();
  #isClosed = false;

  constructor(
    settings: Settings,
    contents: Contents,
    journal: Journal,
    remembered: Remembered,
    live: Live,
    room: Room,
    stuckBy: (project: string) => Error | undefined,
  ) {
    this.#stuckBy = stuckBy;
    this.#settings = settings;
    this.#contents = contents;
    this.#journal = journal;
    this.#remembered = remembered;
    this.#live = live;
    this.#room = room;
  }

  async append(
    project: string,
    batch: readonly NewEvent[],
    { idempotencyKey, digest = "" }: AppendOptions,
  ): Promise<void> {
    if (batch.some(({ id }) => id !== undefined)) {
      await this.#remembered.loadIds(project, this.#contents.projects.get(project));
    }
    const stuck = this.#stuckBy(project);
    if (stuck !== undefined) {
      const message =
        "the folder of this project's events cannot be written to: nothing was stored; the service's log says more";
      throw new StoreError("unavailable", message, { cause: stuck, retryAfterMs: 30_000 });
    }
    await this.#room.checkDisk();
    const untilMs = performance.now() + this.#settings.waitForRoomMs;
    for (;;) {
      // Refused before anything is accepted: a half-written batch would have to be taken back.
      if (this.#isClosed) throw closed();
      // Another try of the same batch may be on its way to the disk: this one's answer depends on that one's end.
      const ahead = this.#ahead(project, batch, idempotencyKey);
      if (ahead !== undefined) await ahead.catch(() => {});
      else if (!this.#room.isThere) await this.#room.wait(untilMs);
      else break;
    }
    // From here to the journal nothing waits: what is new now is new when it is written.
    const ids = this.#remembered.ids(project);
    const keys = this.#remembered.keys(project);
    if (idempotencyKey !== undefined && keys.has(idempotencyKey)) {
      // The first version noted none.
      const before = keys.noteOf(idempotencyKey) || digest;
      if (before === digest) return;
      const key = JSON.stringify(idempotencyKey);
      throw new StoreError(
        "conflict",
        `Idempotency-Key: ${key} was sent with another body: give each batch its own key`,
      );
    }
    const seen = new Set<string>();
    const fresh = batch.filter(({ id }) => {
      if (id === undefined) return true;
      if (ids.has(id) || seen.has(id)) return false;
      seen.add(id);
      return true;
    });
    if (fresh.length === 0) return;

    const nowMs = this.#settings.nowMs();
    const first = this.#contents.take(fresh.length);
    const lines = printLines(project, first, fresh.map(encodeEvent));
    const frame = {
      sequence: first,
      project,
      lines: fresh.length,
      atMs: nowMs,
      key: idempotencyKey,
      digest,
      isDrop: false,
    };
    const done = this.#journal.write(frame, lines.body, () => {
      const part = this.#contents.newestPart;
      // Those of now: the project may have been deleted, and begun anew, since this batch was looked at.
      const known = this.#remembered.ids(project);
      if (idempotencyKey !== undefined) {
        this.#remembered.keys(project).add(idempotencyKey, nowMs, digest);
        part.keys.push([project, idempotencyKey, nowMs, digest]);
      }
      for (const { id } of fresh) if (id !== undefined) known.add(id, nowMs);
      addToPart(part, lines);
      if (!this.#live.isRead(project)) return;
      for (let i = 0; i < fresh.length; i++) this.#live.publish(project, eventAt(lines, i).event);
    });
    await this.#whileWriting(project, fresh, idempotencyKey, done);
  }

  /** Nothing more is accepted. */
  close(): void {
    this.#isClosed = true;
    this.#room.changed();
  }

  /** The batch, or the event, that must end before this one can be judged. */
  #ahead(project: string, batch: readonly NewEvent[], key: string | undefined): Promise<void> | undefined {
    if (this.#writing.size === 0) return undefined;
    const ofKey = key === undefined ? undefined : this.#writing.get(keyName(project, key));
    if (ofKey !== undefined) return ofKey;
    for (const { id } of batch) {
      const ofId = id === undefined ? undefined : this.#writing.get(idName(project, id));
      if (ofId !== undefined) return ofId;
    }
    return undefined;
  }

  async #whileWriting(
    project: string,
    batch: readonly NewEvent[],
    key: string | undefined,
    done: Promise<void>,
  ): Promise<void> {
    const names = batch.flatMap(({ id }) => (id === undefined ? [] : [idName(project, id)]));
    if (key !== undefined) names.push(keyName(project, key));
    for (const name of names) this.#writing.set(name, done);
    try {
      await done;
    } finally {
      for (const name of names) this.#writing.delete(name);
    }
  }
}

export const closed = () =>
  new StoreError("unavailable", "the service is shutting down; try again", { retryAfterMs: 1000 });
const keyName = (project: string, key: string) => `k ${project} ${key}`;
const idName = (project: string, id: string) => `i ${project} ${id}`;
