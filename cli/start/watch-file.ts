import { readFile } from "node:fs/promises";
import { setTimeout as sleep } from "node:timers/promises";

/** Below what a person notices after saving. */
const POLL_MS = 250;
/** A text that stays the same for so long is no half of one: editors truncate, then write. */
const SETTLED_MS = 50;

/**
 * Calls `changed` with each new text of a file, one call after another, until the signal aborts. It looks at the text
 * itself, so that renaming editors, network folders and touched files make no difference; while the file is away
 * nothing is called.
 */
export async function watchFile(
  path: string,
  known: string,
  changed: (text: string) => Promise<void>,
  signal: AbortSignal,
): Promise<void> {
  let last = known;
  while (!signal.aborted) {
    await sleep(POLL_MS, undefined, { signal }).catch(() => undefined);
    let text = await readIfThere(path);
    if (text === undefined || text === last) continue;
    for (let before: string | undefined; text !== before; ) {
      before = text;
      await sleep(SETTLED_MS, undefined, { signal }).catch(() => undefined);
      text = await readIfThere(path);
    }
    if (text === undefined || text === last || signal.aborted) continue;
    last = text;
    await changed(text);
  }
}

async function readIfThere(path: string): Promise<string | undefined> {
  try {
    return await readFile(path, "utf8");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === undefined) throw error;
    return undefined;
  }
}
