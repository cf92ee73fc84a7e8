import { crc32 } from "node:zlib";
import { type Interval, unionOf } from "../intervals.ts";

/**
 * The events of a folder in a few numbers, which merges do not change: enough to tell whether files that are found
 * later are all that there were.
 */
export interface HeldEvents {
  /** The last sequence. */
  readonly newest: number;
  /** How many intervals the union of all flushes has, and the CRC-32 of it. */
  readonly count: number;
  readonly sum: number;
  readonly events: number;
  /** The events as JSON. */
  readonly bytes: number;
  /** When the events were, in nanoseconds since 1970, as digits; "0" both if there are none. */
  readonly first: string;
  readonly last: string;
}

/** The entry of a segment in a manifest, whether it is there or lost. */
interface HeldEntry {
  readonly events: number;
  readonly eventBytes: number;
  readonly first: string;
  readonly last: string;
  readonly sequence: number;
  readonly intervals?: readonly Interval[];
}

/** Undefined if one of them does not tell which flushes it has. */
export function heldEvents(entries: readonly HeldEntry[]): HeldEvents | undefined {
  const intervals: Interval[] = [];
  let [newest, events, bytes] = [0, 0, 0];
  let first: bigint | undefined;
  let last: bigint | undefined;
  for (const entry of entries) {
    if (entry.intervals === undefined) return undefined;
    for (const interval of entry.intervals) intervals.push(interval);
    newest = Math.max(newest, entry.sequence);
    events += entry.events;
    bytes += entry.eventBytes;
    const [begin, end] = [BigInt(entry.first), BigInt(entry.last)];
    if (first === undefined || begin < first) first = begin;
    if (last === undefined || end > last) last = end;
  }
  return { newest, ...digestOf(intervals), events, bytes, first: String(first ?? 0), last: String(last ?? 0) };
}

/**
 * Whether the entries hold all that was held once. Others may have come since, all of them newer, and expired ones that
 * were left out then may still be there.
 */
export function hasAll(entries: readonly HeldEntry[], { newest, count, sum }: HeldEvents): boolean {
  // Those whose events are the oldest expire first.
  const exact = entries.filter(({ intervals }) => intervals !== undefined);
  const left = exact.sort((a, b) => (BigInt(a.last) < BigInt(b.last) ? -1 : 1));
  for (let expired = 0; expired <= left.length; expired++) {
    const intervals = left.slice(expired).flatMap((entry) => entry.intervals!);
    const before = intervals.filter(([begin]) => begin <= newest).map(([begin, end]) => [begin, Math.min(end, newest)]);
    const digest = digestOf(before as unknown as Interval[]);
    if (digest.count === count && digest.sum === sum) return true;
  }
  return false;
}

function digestOf(intervals: readonly Interval[]): { readonly count: number; readonly sum: number } {
  const union = unionOf(intervals);
  return { count: union.length, sum: crc32(union.map(([first, last]) => `${first}-${last}`).join()) };
}
