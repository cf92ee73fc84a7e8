export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = sorted.length >> 1;
  return sorted.length % 2 === 1 ? sorted[middle]! : (sorted[middle - 1]! + sorted[middle]!) / 2;
}

/** The smallest and the largest, as text: how far a run on a shared machine can be trusted. */
export function spread(values: readonly number[]): string {
  return `(${Math.min(...values).toPrecision(3)} to ${Math.max(...values).toPrecision(3)})`;
}
