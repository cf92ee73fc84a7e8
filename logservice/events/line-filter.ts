import { QUOTE } from "../../grammar/json-bytes.ts";
import { type Level, planScan, type Query, readsOf, severity } from "../../grammar/query/index.ts";
import type { BatchLines } from "./journal/batch-lines.ts";
import { severityNeedle } from "./journal/line.ts";

/** The places of the lines that may be selected, in their order: all that are, and some more. */
export type LineFilter = (lines: BatchLines) => readonly number[];

/** Passes over lines by searches for bytes; undefined where the query says nothing about bytes. */
export function lineFilter(query: Query, nowMs: number): LineFilter | undefined {
  const { entry } = readsOf(query);
  // A line has neither as the event has it: ids of our making and most spellings of times are left out.
  if (entry.has("timestamp") || entry.has("id")) return undefined;
  // The journal escapes nothing that a needle may hold, so that the units of the plan do not matter.
  const { needles } = planScan(query, { nowMs, levelNeedle });
  if (needles === undefined) return undefined;
  return ({ body, starts, times }) => {
    const isHit = new Uint8Array(times.length);
    for (const { bytes, isQuoted, accepts } of needles) {
      let line = 0;
      for (let at = body.indexOf(bytes); at >= 0; ) {
        while (starts[line + 1]! <= at) line++;
        const isIt = (!isQuoted || body[at - 1] === QUOTE) && (accepts?.(body, at + bytes.length) ?? true);
        if (isIt) isHit[line] = 1;
        at = body.indexOf(bytes, isIt ? starts[line + 1] : at + 1);
      }
    }
    const places: number[] = [];
    for (let i = 0; i < isHit.length; i++) if (isHit[i] === 1) places.push(i);
    return places;
  };
}

const levelNeedle = (levels: ReadonlySet<Level>) => severityNeedle(new Set([...levels].map(severity)));
