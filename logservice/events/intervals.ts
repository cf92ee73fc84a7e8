/** The first and the last sequence of the events of one flush. */
export type Interval = readonly [first: number, last: number];

/**
 * The union in ascending order. Only neighbours without a gap are joined: sequences are one counter for all projects, so
 * that a gap may hold events of the same project in another segment.
 */
export function unionOf(intervals: Iterable<Interval>): Interval[] {
  const sorted = [...intervals].sort(([a], [b]) => a - b);
  const union: [number, number][] = [];
  for (const [first, last] of sorted) {
    const before = union.at(-1);
    if (before !== undefined && first <= before[1] + 1) before[1] = Math.max(before[1], last);
    else union.push([first, last]);
  }
  return union;
}

/** Whether each sequence from the first to the last is in a union. */
export function containsInterval(union: readonly Interval[], [first, last]: Interval): boolean {
  const at = atOrBefore(union, first);
  return at !== undefined && at[1] >= last;
}

/** The last interval that begins at or before a sequence. */
function atOrBefore(union: readonly Interval[], sequence: number): Interval | undefined {
  let [low, high] = [0, union.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (union[middle]![0] <= sequence) low = middle + 1;
    else high = middle;
  }
  return union[low - 1];
}
