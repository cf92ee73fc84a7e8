/**
 * The candidate that `text` was most likely meant to be: the only nearest one within one slip per three characters.
 * Upper and lower case, `-`, `_` and blanks count as no slip. Undefined if none is near, or two are equally near.
 */
export function didYouMean(text: string, candidates: Iterable<string>): string | undefined {
  const plain = normalize(text);
  // A long text is not a slip of a short name; this also bounds the work.
  if (plain.length > 64 || plain.length < 2) return undefined;
  let best: string | undefined;
  let bestDistance = Math.max(1, Math.floor(plain.length / 3)) + 1;
  let tied = false;
  for (const candidate of candidates) {
    if (candidate === text) continue;
    const limit = Math.max(1, Math.floor(Math.min(plain.length, candidate.length) / 3));
    if (Math.abs(plain.length - candidate.length) > limit + MAX_BLANKS) continue;
    const distance = editDistance(plain, normalize(candidate));
    if (distance > limit || distance > bestDistance) continue;
    tied = distance === bestDistance;
    if (!tied) {
      best = candidate;
      bestDistance = distance;
    }
  }
  return tied ? undefined : best;
}

// How many `-`, `_` and blanks a candidate may have beside its letters: a cheap test before the dear one.
const MAX_BLANKS = 4;

const normalize = (text: string) => text.toLowerCase().replace(/[-_ ]/g, "");

/** Insertions, deletions, replacements and swaps of neighbours (optimal string alignment). */
function editDistance(a: string, b: string): number {
  let before: number[] = [];
  let previous = Array.from({ length: b.length + 1 }, (_, i) => i);
  for (let i = 1; i <= a.length; i++) {
    const row = [i];
    for (let j = 1; j <= b.length; j++) {
      const same = a[i - 1] === b[j - 1];
      let cost = Math.min(previous[j]! + 1, row[j - 1]! + 1, previous[j - 1]! + (same ? 0 : 1));
      if (i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1]) cost = Math.min(cost, before[j - 2]! + 1);
      row.push(cost);
    }
    before = previous;
    previous = row;
  }
  return previous[b.length]!;
}
