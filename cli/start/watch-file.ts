import { readFile } from "node:fs/promises";
import type { Clock } from "../../grammar/units/clock.ts";
import { requireProjectFile } from "../../language-server/node-project-file.ts";

/** Shorter than a person notices after saving. */
const POLL_MS = 250;
/** How long a text must stay the same to be complete: editors truncate, then write. */
const SETTLED_MS = 50;

/**
 * Calls `changed` with each new text of a file, one call after another, until the signal aborts. It compares the text
 * itself, so that editors that rename, network folders and touched files make no difference. An absent file is ignored.
 */
export async function watchFile(
  path: string,
  initial: string,
  changed: (text: string) => Promise<void>,
  { signal, clock }: { readonly signal: AbortSignal; readonly clock: Clock },
): Promise<void> {
  let last = initial;
  while (!signal.aborted) {
    await clock.sleep(POLL_MS, signal).catch(() => undefined);
    let text = await readIfThere(path);
    if (text === undefined || text === last) continue;
    for (let before: string | undefined; text !== before; ) {
      before = text;
      await clock.sleep(SETTLED_MS, signal).catch(() => undefined);
      text = await readIfThere(path);
    }
    if (text === undefined || text === last || signal.aborted) continue;
    last = text;
    await changed(text);
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
