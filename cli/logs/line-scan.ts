import type { Entry } from "../../grammar/entry.ts";
import {
  compilePredicate,
  type Needle,
  planScan,
  type Query,
  type Reads,
  readsOf,
  type ScanPlan,
  TIME_KEY,
} from "../../grammar/query/index.ts";
import { timeReader } from "../time/time-reader.ts";
import { type ByteSearch, byteSearch, NO_HIT } from "./byte-search.ts";
import { type EntryLine, readEntryLine } from "./entry-line.ts";
import type { Block } from "./line-blocks.ts";
import { partialReader } from "./partial-entry.ts";

/** Which lines are selected. Plain data, as it is passed to other threads. */
export interface Wanted {
  readonly query: Query;
  readonly nowMs: number;
  readonly sinceMs: number | undefined;
  readonly untilMs: number | undefined;
}

/**
 * Called with a selected line: the bytes from `start` to the LF at `end`. `line` is given if it had to be parsed as a whole;
 * otherwise `partialEntry` of the scan has what was asked for, and nothing else. Returns whether to continue.
 */
export type OnLine = (bytes: Buffer, start: number, end: number, line: EntryLine | undefined) => boolean;

/** Scans a block; returns whether to continue with the next. */
export interface LineScan {
  (block: Block, onLine: OnLine): boolean;
  /** The fields that were read of the line with which `onLine` is called, if it was not parsed as a whole. */
  partialEntry(): Entry;
}

/**
 * Finds the lines whose entries are in the period and match the query, in the order of the input. Lines that cannot match
 * are skipped by searching for bytes. From the others only what the query asks about is read; unusual lines are parsed as a
 * whole. With `prefilter` false every line is read: the same result, slower. `reads` is what is to be read of an entry, the
 * query's own included.
 */
export function lineScan(
  wanted: Wanted,
  {
    prefilter = true,
    reads = readsOf(wanted.query),
  }: { readonly prefilter?: boolean; readonly reads?: Reads | undefined } = {},
): LineScan {
  const { query, nowMs, sinceMs, untilMs } = wanted;
  const matches = query.expr === undefined ? undefined : compilePredicate(query, { nowMs });
  const isBound = sinceMs !== undefined || untilMs !== undefined;
  const timeOf = timeReader();
  const select = (entry: Entry): boolean => {
    if (isBound) {
      const timeMs = timeOf(entry.timestamp);
      // An entry without a time is in no period.
      if (!(timeMs >= (sinceMs ?? Number.NEGATIVE_INFINITY) && timeMs < (untilMs ?? Number.POSITIVE_INFINITY))) {
        return false;
      }
    }
    return matches === undefined || matches(entry);
  };
  const reader = partialReader(isBound ? { ...reads, entry: new Set([...reads.entry, "timestamp" as const]) } : reads);

  const partialEntry = () => reader!.entry;

  /** Judges a line and returns the position of its LF. Sets `ended` if the search should stop. */
  let ended = false;
  const judge = (bytes: Buffer, start: number, onLine: OnLine): number => {
    const readTo = reader === undefined ? -1 : reader.read(bytes, start);
    if (readTo >= 0) {
      if (select(reader!.entry)) ended = !onLine(bytes, start, readTo, undefined);
      return readTo;
    }
    const end = bytes.indexOf(LF, start);
    if (!isBlank(bytes, start, end)) {
      const line = readEntryLine(bytes.toString("utf8", start, end));
      if (select(line.entry)) ended = !onLine(bytes, start, end, line);
    }
    return end;
  };

  const everyLine = ({ bytes, start, end }: Block, onLine: OnLine): boolean => {
    ended = false;
    for (let at = start; at <= end && !ended; ) at = judge(bytes, at, onLine) + 1;
    return !ended;
  };

  const plan = prefilter ? planScan(query, wanted) : undefined;
  if (plan === undefined || (plan.needles === undefined && plan.isOutside === undefined))
    return Object.assign(everyLine, { partialEntry });
  const searches = searchesOf(plan);
  const { isOutside } = plan;
  let denseBlocks = 0;

  /** Skips lines that start with a time outside of the period. */
  const withinPeriod = ({ bytes, start, end }: Block, onLine: OnLine): boolean => {
    const area = bytes.subarray(0, end);
    let candidateBytes = 0;
    ended = false;
    const hits = searches.map(() => start - 1);
    for (let at = start; at <= end && !ended; ) {
      const length = isOutside!(bytes, at);
      if (length > 0) {
        const lineEnd = bytes.indexOf(LF, at + length);
        let hit = NO_HIT;
        for (let i = 0; i < hits.length; i++) {
          if (hits[i]! < at + length) hits[i] = searches[i]!(area, at + length);
          hit = Math.min(hit, hits[i]!);
        }
        if (hit > lineEnd) {
          at = lineEnd + 1;
          continue;
        }
      }
      const lineEnd = judge(bytes, at, onLine);
      candidateBytes += lineEnd - at;
      at = lineEnd + 1;
    }
    if (candidateBytes > DENSE_SHARE * (end - start)) denseBlocks = DENSE_BLOCKS;
    return !ended;
  };

  const scan = (block: Block, onLine: OnLine): boolean => {
    if (denseBlocks > 0) {
      denseBlocks--;
      return everyLine(block, onLine);
    }
    if (isOutside !== undefined) return withinPeriod(block, onLine);
    const { bytes, start, end } = block;
    const area = bytes.subarray(0, end);
    let candidateBytes = 0;
    ended = false;
    const hits = searches.map((search) => search(area, start));
    for (;;) {
      const hit = Math.min(...hits);
      if (hit === NO_HIT) break;
      let lineStart = hit;
      while (lineStart > start && bytes[lineStart - 1] !== LF) lineStart--;
      const lineEnd = judge(bytes, lineStart, onLine);
      if (ended) return false;
      candidateBytes += lineEnd - lineStart;
      for (let i = 0; i < hits.length; i++) if (hits[i]! <= lineEnd) hits[i] = searches[i]!(area, lineEnd + 1);
    }
    // If most lines have to be read anyway, searching is wasted for the next blocks. Later ones may be different.
    if (candidateBytes > DENSE_SHARE * (end - start)) denseBlocks = DENSE_BLOCKS;
    return true;
  };
  return Object.assign(scan, { partialEntry });
}

const LF = 0x0a;

/** Measured: below this share, searching is faster. */
const DENSE_SHARE = 0.4;
const DENSE_BLOCKS = 15;

function searchesOf({ needles, units }: ScanPlan): ByteSearch[] {
  if (needles?.length === 0) return [];
  const time = { bytes: Buffer.from(`${TIME_KEY}"`), isQuoted: true, accepts: undefined };
  return [
    ...(needles ?? [time]).map(searchOf),
    escapeSearch(units),
    // Only PHP escapes slashes, and it escapes all of them.
    ...(units.has(SLASH) ? [searchOf({ bytes: Buffer.from("\\/"), isQuoted: false, accepts: undefined })] : []),
  ];
}

const SLASH = 0x2f;

function searchOf({ bytes: needle, isQuoted, accepts }: Needle): ByteSearch {
  const search = byteSearch(needle);
  return (area, from) => {
    for (let hit = search(area, from); hit !== NO_HIT; hit = search(area, hit + 1)) {
      if (isQuoted && area[hit - 1] !== 0x22) continue;
      if (accepts === undefined || accepts(area, hit + needle.length)) return hit;
    }
    return NO_HIT;
  };
}

/** Finds a \uXXXX that encodes one of the code units. */
function escapeSearch(units: ReadonlySet<number>): ByteSearch {
  const needle = Buffer.from("\\u");
  return (area, from) => {
    for (let hit = area.indexOf(needle, from); hit >= 0; hit = area.indexOf(needle, hit + 1)) {
      if (units.has(Number.parseInt(area.toString("latin1", hit + 2, hit + 6), 16))) return hit;
    }
    return NO_HIT;
  };
}

function isBlank(bytes: Buffer, start: number, end: number): boolean {
  for (let at = start; at < end; at++) if (bytes[at]! > 0x20) return false;
  return true;
}
