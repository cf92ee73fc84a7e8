/**
 * Makes ids for events that come without one: in the order in which they came, and different from those of every other process,
 * which `node` tells apart.
 */
export function eventIds(node: string, nowMs: () => number): () => string {
  let last = 0;
  return () => {
    // A thousand of a millisecond, and more by taking from the time to come.
    last = Math.max(last + 1, nowMs() * 1000);
    return `${last.toString(36).padStart(ID_DIGITS, "0")}${node}`;
  };
}

/** Microseconds since 1970 in base 36, for some thousand years. */
const ID_DIGITS = 11;
