import type { EncodedEvent } from "./line.ts";
import { decodeLine, eventLine, generatedId, idMember, type StoredEvent } from "./line.ts";

/** The lines of a batch, all of one project, with what is known of them without parsing. */
export interface BatchLines {
  readonly project: string;
  /** Sequence of the first event. The others follow without a gap. */
  readonly firstSequence: number;
  readonly body: Buffer;
  /** Offset of each line in the body, then the end of the last one. */
  readonly starts: Uint32Array;
  /** When each event was, as the predicate reads its timestamp. */
  readonly times: Float64Array;
  /** Size of the events as JSON. */
  readonly bytes: number;
}

/** The lines of new events, the first of which gets the sequence. */
export function encodeBatch(project: string, firstSequence: number, events: readonly EncodedEvent[]): BatchLines {
  const starts = new Uint32Array(events.length + 1);
  const times = new Float64Array(events.length);
  const lines: string[] = [];
  let [length, bytes] = [0, 0];
  for (let i = 0; i < events.length; i++) {
    const event = events[i]!;
    const line = eventLine(firstSequence + i, project, event);
    lines.push(line);
    length += line.length;
    starts[i + 1] = length;
    times[i] = event.ms;
    bytes += event.bytes;
  }
  return { project, firstSequence, body: Buffer.from(lines.join(""), "latin1"), starts, times, bytes };
}

/** The lines of a batch that the journal kept, and their events. */
export function decodeBatch(
  project: string,
  firstSequence: number,
  body: Buffer,
): { lines: BatchLines; events: readonly StoredEvent[] } {
  const starts = [0];
  for (let at = body.indexOf(LF); at >= 0; at = body.indexOf(LF, at + 1)) starts.push(at + 1);
  const events = starts.slice(1).map((end, i) => decodeLine(body, starts[i]!, end));
  const bytes = events.reduce((sum, event) => sum + event.bytes, 0);
  const times = Float64Array.from(events, ({ ms }) => ms);
  return { lines: { project, firstSequence, body, starts: Uint32Array.from(starts), times, bytes }, events };
}

export function eventAt({ body, starts }: BatchLines, index: number): StoredEvent {
  return decodeLine(body, starts[index]!, starts[index + 1]!);
}

/** Index of the last event with an id, or -1. */
export function lastIndexOf(lines: BatchLines, id: string): number {
  const { firstSequence, times, body, starts } = lines;
  const ofMade = Number.parseInt(id, 36) - firstSequence;
  const isMade = ofMade >= 0 && ofMade < times.length && generatedId(firstSequence + ofMade) === id;
  let index = isMade && !eventAt(lines, ofMade).hasOwnId ? ofMade : -1;
  const own = Buffer.from(idMember(id));
  for (let at = body.lastIndexOf(own); at > 0; at = body.lastIndexOf(own, at - 1)) {
    const line = starts.findLastIndex((start) => start <= at);
    if (line <= index) break;
    // The same bytes may be in the fields.
    if (eventAt(lines, line).event.id === id) index = line;
  }
  return index;
}

const LF = 0x0a;
