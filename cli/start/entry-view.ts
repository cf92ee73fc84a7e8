import type { Entry } from "../../grammar/entry.ts";
import type { Clock, Timer } from "../../grammar/units/clock.ts";
import type { OutputStream } from "../io.ts";

/** Limit of what waits for a slow reader. Further entries are dropped and counted, so that memory stays bounded. */
const MAX_WAITING_CHARACTERS = 4 * 1024 * 1024;

/** How long a reader has at the end to take what waits for it. */
const LAST_WORDS_MS = 1_000;

export interface EntryView {
  /** Returns at once. */
  show(entries: readonly Entry[]): void;
  /** Writes a line between entries. Returns at once; the line is never dropped. */
  say(text: string): void;
  /** Resolves with true when everything is written, with false if nobody reads it. */
  close(): Promise<boolean>;
}

export interface EntryViewOptions {
  /** Returns whole lines, or an empty text. */
  readonly textOf: (entry: Entry) => string;
  readonly clock: Clock;
  readonly maxWaitingCharacters?: number;
}

/**
 * Shows entries on an output whose reader may be slow or stopped. They wait for it up to a limit and are dropped above it:
 * the app must not wait, and the log has all of them.
 */
export function entryView(output: OutputStream, options: EntryViewOptions): EntryView {
  const { textOf, clock, maxWaitingCharacters = MAX_WAITING_CHARACTERS } = options;
  let waiting: string[] = [];
  let characters = 0;
  let dropped = 0;
  let writing: Promise<void> | undefined;

  return { show, say, close };

  function show(entries: readonly Entry[]): void {
    for (const entry of entries) {
      if (characters < maxWaitingCharacters) hold(textOf(entry));
      else dropped++;
    }
    if (waiting.length > 0) writing ??= write();
  }

  function say(text: string): void {
    hold(`${text}\n`);
    writing ??= write();
  }

  function hold(text: string): void {
    if (text === "") return;
    waiting.push(text);
    characters += text.length;
  }

  async function write(): Promise<void> {
    while (waiting.length > 0) {
      const text = waiting.join("");
      waiting = [];
      characters = 0;
      await output.write(text);
      if (dropped > 0) waiting.push(textOf(noteOf(dropped)));
      dropped = 0;
    }
    writing = undefined;
  }

  function noteOf(count: number): Entry {
    const timestamp = new Date(clock.nowMs()).toISOString();
    const message = "entries not shown, their reader was too slow: tool logs has them all";
    return { timestamp, level: "warn", message, fields: { entries: count } };
  }

  async function close(): Promise<boolean> {
    let timer: Timer | undefined;
    const impatience = new Promise<boolean>((resolve) => {
      timer = clock.after(LAST_WORDS_MS, () => resolve(false));
    });
    const all = Promise.resolve(writing).then(() => output.flush());
    const isOut = await Promise.race([all.then(() => true), impatience]);
    timer?.stop();
    return isOut;
  }
}
