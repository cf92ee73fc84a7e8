import type { MemtableEvents } from "../memtable.ts";

/** Consecutive events of one project in a journal file, which become one segment. */
export interface SegmentRange {
  /** First and last sequence. */
  readonly first: number;
  readonly last: number;
  readonly events: number;
  /** Size of the events as JSON. */
  readonly bytes: number;
}

/**
 * Divides one project's events in a memtable into segments: one, unless many events are large. The engine works on 2,048
 * rows at a time and holds some ten copies of them, so its memory depends on the total size of large events.
 */
export function segmentRangesOf({ batches, firstSequence: begin }: MemtableEvents): SegmentRange[] {
  const ranges: SegmentRange[] = [];
  let [first, last, events, bytes, large] = [begin, 0, 0, 0, 0];
  const end = () => ranges.push({ first, last, events, bytes });
  for (const { lines, length } of batches) {
    const { starts, firstSequence, body } = lines;
    // Lines are a little longer than the events as JSON.
    const ratio = lines.bytes / Math.max(1, body.length);
    for (let i = 0; i < length; i++) {
      const line = starts[i + 1]! - starts[i]!;
      const isLarge = line >= LARGE_BYTES;
      if (isLarge && large + line > MAX_LARGE_BYTES && events > 0) {
        end();
        [first, events, bytes, large] = [firstSequence + i, 0, 0, 0];
      }
      last = firstSequence + i;
      events++;
      bytes += Math.round(line * ratio);
      if (isLarge) large += line;
    }
  }
  end();
  return ranges;
}

/** Smaller events fit into the engine's usual memory, however many there are. */
export const LARGE_BYTES = 4096;
/** Size of the large events in one segment. */
export const MAX_LARGE_BYTES = 16 * 1024 * 1024;
