import { LARGE_BYTES, MAX_LARGE_BYTES } from "./segment-ranges.ts";

/** A merge of this many events is sorted within the flusher's memory in a few seconds; of large events it takes fewer. */
export const MAX_MERGED_EVENTS = 500_000;
/** Size of the events as JSON. */
export const MAX_MERGED_BYTES = 512 * 1024 * 1024;
/** Where events are large on average: this many bytes were merged within 300 MB, twice as many not within 400 MB. */
const MAX_MERGED_LARGE_BYTES = 2 * MAX_LARGE_BYTES;

/** Fewer are not worth writing again: each event is written about once for every factor of four. */
const LEAST_RUN = 4;

/**
 * The run of neighbours to merge next, in the order of acceptance: at least four of about the same size (within a factor
 * of four), together at most `most` events of `mostBytes` bytes, none of them `excluded`. Undefined where there is none.
 */
export function pickRun<
  One extends { readonly sequence: number; readonly events: number; readonly eventBytes: number },
>(
  segments: readonly One[],
  most: number,
  mostBytes: number,
  excluded: Pick<ReadonlySet<One>, "has"> = new Set(),
): One[] | undefined {
  const byAge = [...segments].sort((a, b) => a.sequence - b.sequence);
  for (let begin = 0; begin + LEAST_RUN <= byAge.length; begin++) {
    const run: One[] = [];
    let [total, bytes] = [0, 0];
    const size = tier(byAge[begin]!.events);
    for (const segment of byAge.slice(begin)) {
      total += segment.events;
      bytes += segment.eventBytes;
      const bound = bytes < total * LARGE_BYTES ? mostBytes : Math.min(mostBytes, MAX_MERGED_LARGE_BYTES);
      const fits = total <= most && bytes <= bound;
      if (tier(segment.events) !== size || !fits || excluded.has(segment)) break;
      run.push(segment);
    }
    if (run.length >= LEAST_RUN) return run;
  }
  return undefined;
}

/** Segments as a merge reads them: the newest first, and whether they then need no sorting, since their times are apart. */
export function mergeOrder<One extends { readonly sequence: number; readonly first: bigint; readonly last: bigint }>(
  segments: readonly One[],
): { readonly segments: readonly One[]; readonly isSorted: boolean } {
  const newestFirst = [...segments].sort((a, b) =>
    a.last === b.last ? b.sequence - a.sequence : a.last < b.last ? 1 : -1,
  );
  const isSorted = newestFirst.every((segment, i) => {
    const newer = newestFirst[i - 1];
    // If two events have the same instant, the one accepted later comes first.
    return (
      newer === undefined ||
      newer.first > segment.last ||
      (newer.first === segment.last && newer.sequence > segment.sequence)
    );
  });
  return { segments: newestFirst, isSorted };
}

const tier = (events: number) => Math.floor(Math.log(Math.max(1, events)) / Math.log(4));
