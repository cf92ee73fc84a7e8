import type { NewestEvents } from "./newest.ts";

/** Neighbours of one project in a journal file, which become one segment. */
export interface Piece {
  /** Sequences. */
  readonly first: number;
  readonly last: number;
  readonly events: number;
  /** Of the events as JSON. */
  readonly bytes: number;
}

/**
 * The pieces that one project's events are made into segments by: one, unless many are large. The engine works on 2,048
 * rows at a time and holds some ten copies of them, so that its memory depends on how large events are together.
 */
export function piecesOf(newest: NewestEvents): Piece[] {
  const pieces: Piece[] = [];
  let [first, last, events, bytes, large] = [newest.firstSequence, 0, 0, 0, 0];
  const end = () => pieces.push({ first, last, events, bytes });
  for (const { lines, length } of newest.chunks) {
    // Of the lines, which are a little longer.
    const { starts, firstSequence, body } = lines;
    const share = lines.bytes / Math.max(1, body.length);
    for (let i = 0; i < length; i++) {
      const line = starts[i + 1]! - starts[i]!;
      const isLarge = line >= LARGE_BYTES;
      if (isLarge && large + line > MAX_LARGE_BYTES && events > 0) {
        end();
        [first, events, bytes, large] = [firstSequence + i, 0, 0, 0];
      }
      last = firstSequence + i;
      events++;
      bytes += Math.round(line * share);
      if (isLarge) large += line;
    }
  }
  end();
  return pieces;
}

/** Of these the engine's usual memory holds what it works on. */
export const LARGE_BYTES = 4096;
/** Of large events in a piece. */
export const MAX_LARGE_BYTES = 16 * 1024 * 1024;
