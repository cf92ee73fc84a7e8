/** A line of a log that is read from afar, and its time, in milliseconds since 1970. */
export interface LogLine {
  readonly timeMs: number;
  readonly text: string;
}

/** A batch without lines: what was there is read, and what follows comes while time passes. Told by identity. */
export const LINES_CAUGHT_UP: readonly LogLine[] = [];
