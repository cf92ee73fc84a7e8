// Figures of one metric in one minute: exact in count, sum, minimum and maximum, near enough in their distribution.

export interface Digest {
  count: number;
  sum: number;
  min: number;
  max: number;
  /** Values and how often each was there; of many values, the means of those that are near each other. */
  values: number[];
  counts: number[];
}

/** More values than these are merged. */
const MAX_VALUES = 128;

/** How many values are written. */
const MAX_WRITTEN = 64;

/** Few values, such as the 0 and 1 of errors, are looked for before they are added. */
const MAX_SEARCHED = 8;

/** How near values are that are merged first; twice as much each time that too many are left. */
const FIRST_WIDTH = 0.005;

export function emptyDigest(): Digest {
  return { count: 0, sum: 0, min: Infinity, max: -Infinity, values: [], counts: [] };
}

export function addTo(digest: Digest, value: number, times = 1): void {
  const { values, counts } = digest;
  digest.count += times;
  digest.sum += value * times;
  digest.min = Math.min(digest.min, value);
  digest.max = Math.max(digest.max, value);
  const index = values.length <= MAX_SEARCHED ? values.indexOf(value) : -1;
  if (index !== -1) counts[index]! += times;
  else {
    values.push(value);
    counts.push(times);
  }
  // Merging now and then costs less than with each value.
  if (values.length >= 2 * MAX_VALUES) merge(digest);
}

/** All that several digests hold; undefined if there are none. */
export function mergedDigests(digests: readonly Digest[]): Digest | undefined {
  if (digests.length < 2) return digests[0];
  const all = emptyDigest();
  for (const { count, sum, min, max, values, counts } of digests) {
    all.count += count;
    all.sum += sum;
    all.min = Math.min(all.min, min);
    all.max = Math.max(all.max, max);
    all.values.push(...values);
    all.counts.push(...counts);
  }
  return all;
}

/** As it is written: what a percentile of one minute needs, in few characters. */
export function compacted(digest: Digest): Digest {
  const copy = { ...digest };
  if (copy.values.length > MAX_WRITTEN) merge(copy, MAX_WRITTEN);
  return { ...copy, values: copy.values.map((value) => Number(value.toPrecision(4))), counts: [...copy.counts] };
}

function merge(digest: Digest, most = MAX_VALUES): void {
  const sorted = digest.values.map((value, i) => [value, digest.counts[i]!] as const).sort(([a], [b]) => a - b);
  for (let width = FIRST_WIDTH; ; width *= 2) {
    const values: number[] = [];
    const counts: number[] = [];
    let first = Number.NaN;
    for (const [value, count] of sorted) {
      const last = values.length - 1;
      if (value - first <= Math.abs(first) * width) {
        const total = counts[last]! + count;
        values[last]! += ((value - values[last]!) * count) / total;
        counts[last] = total;
      } else {
        first = value;
        values.push(value);
        counts.push(count);
      }
    }
    if (values.length > most && width < 1e9) continue;
    digest.values = values;
    digest.counts = counts;
    return;
  }
}

/** Undefined if there is no such statistic. */
export function statisticOf(statistic: string, digest: Digest): number | undefined {
  const [, percent] = /^p(\d+(?:\.\d+)?)$/.exec(statistic) ?? [];
  if (percent !== undefined) return percentileOf(Number(percent), digest);
  switch (statistic) {
    case "Sum":
      return digest.sum;
    case "Average":
      return digest.sum / digest.count;
    case "Minimum":
      return digest.min;
    case "Maximum":
      return digest.max;
    case "SampleCount":
      return digest.count;
    default:
      return undefined;
  }
}

function percentileOf(percent: number, { count, values, counts, max }: Digest): number {
  const sorted = values.map((value, i) => [value, counts[i]!] as const).sort(([a], [b]) => a - b);
  let left = Math.max(1, Math.ceil((percent / 100) * count));
  for (const [value, times] of sorted) {
    left -= times;
    if (left <= 0) return value;
  }
  return max;
}
