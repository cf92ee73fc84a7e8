import type { Entry } from "../../grammar/entry.ts";
import type { Output } from "../io.ts";

/** What waits for a slow reader; beyond it entries are left out and counted, so that the proxy's memory is its own. */
const MAX_WAITING_CHARACTERS = 4 * 1024 * 1024;

/** At the end a reader has this long to take what waits for it. */
const LAST_WORDS_MS = 1_000;

export interface EntryView {
  /** Returns at once. */
  show(entries: readonly Entry[]): void;
  /** A line between them; returns at once, and is never left out. */
  say(text: string): void;
  /** Resolves with true once all is out, with false where nobody reads it. */
  close(): Promise<boolean>;
}

export interface EntryViewOptions {
  /** Whole lines, or nothing. */
  readonly textOf: (entry: Entry) => string;
  readonly nowMs: () => number;
  readonly maxWaitingCharacters?: number;
}

/**
 * Entries on an output whose reader may be slow, or stopped: they wait for it up to a limit and are dropped beyond, for
 * the app goes on and the log has them all.
 */
export function entryView(output: Output, options: EntryViewOptions): EntryView {
  const { textOf, nowMs, maxWaitingCharacters = MAX_WAITING_CHARACTERS } = options;
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
    const timestamp = new Date(nowMs()).toISOString();
    const message = "entries not shown, their reader was too slow: tool logs has them all";
    return { timestamp, level: "warn", message, fields: { entries: count } };
  }

  async function close(): Promise<boolean> {
    let timer: NodeJS.Timeout | undefined;
    const impatience = new Promise<boolean>((resolve) => {
      timer = setTimeout(() => resolve(false), LAST_WORDS_MS);
    });
    const all = Promise.resolve(writing).then(() => output.flush());
    const isOut = await Promise.race([all.then(() => true), impatience]);
    clearTimeout(timer);
    return isOut;
  }
}
