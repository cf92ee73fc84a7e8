import { readFile } from "node:fs/promises";
import type { Clock } from "../../grammar/units/clock.ts";
import { requireProjectFile } from "../../language-server/node-project-file.ts";

/** Shorter than a person notices after saving. */
const POLL_MS = 250;
/** How long a text must stay the same to be complete: editors truncate, then write. */
const SETTLED_MS = 50;

/** A text that is not taken may be right as soon as another file is: a page, a folder. */
const AGAIN_MS = 1_000;

export interface FileWatch {
  readonly signal: AbortSignal;
  readonly clock: Clock;
  /** Whether a text that was not taken would be now; asked each second. */
  readonly isMended?: () => Promise<boolean>;
}

/**
 * Calls `changed` with each new text of a file, one call after another, until the signal aborts. It compares the text
 * itself, so that editors that rename, network folders and touched files make no difference. An absent file is ignored.
 * A text for which it gives false is not taken: it is called with it again once it is mended by other files.
 */
export async function watchFile(
  path: string,
  initial: string,
  changed: (text: string) => Promise<boolean | undefined>,
  { signal, clock, isMended }: FileWatch,
): Promise<void> {
  let last = initial;
  let isTaken: boolean | undefined = true;
  let askedMs = 0;
  while (!signal.aborted) {
    await clock.sleep(POLL_MS, signal).catch(() => undefined);
    let text = await readIfThere(path);
    if (text === last && isTaken === false && isMended !== undefined && clock.monotonicMs() - askedMs >= AGAIN_MS) {
      askedMs = clock.monotonicMs();
      if (!signal.aborted && (await isMended())) isTaken = await changed(text);
      continue;
    }
    if (text === undefined || text === last) continue;
    for (let before: string | undefined; text !== before; ) {
      before = text;
      await clock.sleep(SETTLED_MS, signal).catch(() => undefined);
      text = await readIfThere(path);
    }
    if (text === undefined || text === last || signal.aborted) continue;
    last = text;
    isTaken = await changed(text);
  }
}

async function readIfThere(path: string): Promise<string | undefined> {
  try {
    requireProjectFile(path);
    return await readFile(path, "utf8");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === undefined) throw error;
    return undefined;
  }
}
