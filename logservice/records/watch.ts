import type { Clock } from "../../grammar/units/clock.ts";
import type { Records } from "./open.ts";

/** How often to look for changes by other processes. A look takes 6 µs: SQLite reads a number in shared memory. */
const WATCH_MS = 500;

/**
 * Calls `look` when another process has changed the records, such as `tool service token rm`, and again after WATCH_MS if it
 * fails; or each time, with false, where that is not known. Of several failures in a row, `failed` is called with the first. Returns a function that ends the watch.
 */
export function watchRecords(
  records: Pick<Records, "dataVersion">,
  look: (isChange: boolean) => Promise<void>,
  failed: (error: unknown) => void,
  clock: Clock,
): () => void {
  let seen = records.dataVersion();
  let isLooking = false;
  let isFailing = false;
  const watch = async () => {
    if (isLooking) return;
    isLooking = true;
    try {
      const version = records.dataVersion();
      if (version === undefined || version !== seen) await look(version !== undefined);
      seen = version;
      isFailing = false;
    } catch (error) {
      if (!isFailing) failed(error);
      isFailing = true;
    } finally {
      isLooking = false;
    }
  };
  const timer = clock.every(WATCH_MS, () => void watch(), { isBackground: true });
  return () => timer.stop();
}
