/** The last instant before a time that a float64 of milliseconds can hold: both ends of a range of events are part of it. */
export function lastInstantBefore(timeMs: number): number {
  if (timeMs === 0) return -Number.MIN_VALUE;
  const float = new Float64Array([timeMs]);
  const bits = new BigInt64Array(float.buffer);
  bits[0]! += timeMs > 0 ? -1n : 1n;
  return float[0]!;
}
