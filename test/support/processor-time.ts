/** Calls are repeated until they took this much processor time together: less is lost among what else the process does. */
const MEASURED_US = 3_000;
const TRIES = 3;

/**
 * How many times as much processor time one call takes as another, both in this run: the machine's speed and what else it
 * does are in both. The least of three tries; the first within the bound ends them.
 */
export function timesAsLong(act: () => unknown, other: () => unknown, bound: number): number {
  other();
  let least = Number.POSITIVE_INFINITY;
  for (let tries = 0; tries < TRIES && least > bound; tries++) {
    const otherUs = processorUs(other);
    least = Math.min(least, processorUs(act) / otherUs);
  }
  return least;
}

/** Microseconds of processor time that one call takes. */
function processorUs(act: () => unknown): number {
  const before = process.cpuUsage();
  for (let calls = 1; ; calls++) {
    act();
    const { user, system } = process.cpuUsage(before);
    if (user + system >= MEASURED_US) return (user + system) / calls;
  }
}
