// Work that the cloud does again and again by itself, in real time.
import type { World } from "./world.ts";

/** Until what it gives back is called. The next time follows the end of a run, so that none is run twice at once. */
export function everyMs({ clock, options }: World, ms: number, run: () => Promise<void>): () => void {
  let isOver = false;
  const next = () => {
    if (isOver) return;
    clock.at(clock.now() + ms, () => {
      void run()
        .catch((error: Error) => options.report?.(String(error.stack)))
        .finally(next);
    });
  };
  next();
  return () => {
    isOver = true;
  };
}
