import { humanBytes } from "../units/bytes.ts";
import { humanDuration } from "../units/duration.ts";

/** How a part reads: `quiet` beside the others, the rest by what came of a request. */
export type Tone = "plain" | "quiet" | "good" | "moved" | "refused" | "failed";

/** A piece of a line, as its sender wrote it: whoever shows it makes control characters harmless. */
export interface SummaryPart {
  readonly text: string;
  readonly tone: Tone;
}

/** An entry in one line. */
export interface EntrySummary {
  /**
   * `proxy`: a request or a response that our proxy has written; `exchange`: those of others; `platform`: a line of the
   * function platform; else `text`.
   */
  readonly kind: "proxy" | "exchange" | "platform" | "text";
  /** At least one. A blank is between two of them. */
  readonly parts: readonly SummaryPart[];
  /**
   * Paths of fields that need no place after the line, spelled as in a query: the line has their values, or they would say
   * nothing in a line. The path of an object is also that of everything in it.
   */
  readonly used: ReadonlySet<string>;
  /** Whether the parts say all that the message does: then they may be shown in its place even where there is room. */
  readonly isOfFields: boolean;
}

/** The value of a part, before it is one: whole milliseconds or not, bytes, a status of HTTP. */
export interface ExchangeMeasures {
  readonly status: number | undefined;
  readonly durationMs: number | undefined;
  readonly sizeBytes: number | undefined;
}

export const plain = (text: string): SummaryPart => ({ text, tone: "plain" });
export const quiet = (text: string): SummaryPart => ({ text, tone: "quiet" });

/** The status, and how long and large the response was, as far as they are known. */
export function measuredParts({ status, durationMs, sizeBytes }: ExchangeMeasures): readonly SummaryPart[] {
  const parts: SummaryPart[] = [];
  if (status !== undefined) parts.push({ text: String(status), tone: toneOf(status) });
  const duration = durationMs === undefined ? "" : humanDuration(durationMs);
  const size = sizeBytes === undefined ? "" : humanBytes(sizeBytes);
  if (duration !== "" || size !== "") parts.push(quiet(duration && size ? `${duration} ${size}` : duration || size));
  return parts;
}

function toneOf(status: number): Tone {
  return status >= 500 ? "failed" : status >= 400 ? "refused" : status >= 300 ? "moved" : "good";
}
