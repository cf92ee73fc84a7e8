/** A line of a log that is read from afar, and its time, in milliseconds since 1970. */
export interface LogLine {
  readonly timeMs: number;
  readonly text: string;
}
