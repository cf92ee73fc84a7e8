import { humanBytes } from "../../grammar/units/bytes.ts";
import type { OutputStream } from "../io.ts";

/** Nothing is shown for a shorter wait. */
const QUIET_MS = 1000;
const REFRESH_MS = 200;

export interface ScanProgress {
  add(byteCount: number): void;
  /** Erases the line: before output to the same terminal, and at the end. */
  erase(): void;
}

/** A reading, as far as it is known before. */
interface Reading {
  readonly totalBytes: number | undefined;
  /** How many requests were made for it so far; undefined if it is not read by requests. */
  readonly requests: (() => number) | undefined;
}

/**
 * A line on a terminal with the progress of a long scan: bytes, percent if the total is known, and speed, or the number of
 * requests.
 */
export function progress(output: OutputStream, { totalBytes, requests }: Reading, clockMs: () => number): ScanProgress {
  if (!output.isTerminal) return { add() {}, erase() {} };
  const begin = clockMs();
  let shownAt = begin + QUIET_MS - REFRESH_MS;
  let bytes = 0;
  let isShown = false;
  return {
    add(byteCount) {
      bytes += byteCount;
      const now = clockMs();
      if (now - shownAt < REFRESH_MS) return;
      shownAt = now;
      isShown = true;
      // A file may grow while it is read.
      const share = totalBytes
        ? `${Math.min(100, Math.floor((bytes / totalBytes) * 100))}% of ${humanBytes(totalBytes)}`
        : "";
      const speed = `${Math.round(bytes / 1e3 / Math.max(1, now - begin))} MB/s`;
      const text =
        requests === undefined
          ? `searched ${humanBytes(bytes)}${share && `, ${share}`}, ${speed}`
          : `read ${humanBytes(bytes)} in ${requests()} request${requests() === 1 ? "" : "s"}`;
      // Not awaited: a slow terminal must not slow down the scan.
      void output.write(`\r${text.slice(0, output.columns - 1)}\u001b[K`);
    },
    erase() {
      if (isShown) void output.write("\r\u001b[K");
      isShown = false;
    },
  };
}
