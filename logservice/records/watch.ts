import type { Records } from "./open.ts";

/** How soon a change by another process is noticed. Asking costs 6 µs: SQLite reads a number in shared memory. */
const WATCH_MS = 500;

/**
 * Calls `look` after another process changed the records (`tool service token rm` beside the service), and again after
 * WATCH_MS if it fails. `failed` is told the first failure of a row. Returns what ends the watch.
 */
export function watchRecords(
  records: Pick<Records, "dataVersion">,
  look: () => Promise<void>,
  failed: (error: unknown) => void,
): () => void {
  let seen = records.dataVersion();
  let isLooking = false;
  let isFailing = false;
  const timer = setInterval(async () => {
    if (isLooking) return;
    isLooking = true;
    try {
      const version = records.dataVersion();
      if (version !== seen) await look();
      seen = version;
      isFailing = false;
    } catch (error) {
      if (!isFailing) failed(error);
      isFailing = true;
    } finally {
      isLooking = false;
    }
  }, WATCH_MS);
  timer.unref();
  return () => clearInterval(timer);
}
