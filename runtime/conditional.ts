// Conditional requests and ranges (RFC 9110, sections 13 and 14) for content that is available as a whole.
import type { ProxyRequest } from "./exchange.ts";

export interface Validators {
  readonly bytes: number;
  /** A strong one, with its quotes. */
  readonly etag: string;
  /** Absent if the time says nothing about the content: conditions on it are then ignored. */
  readonly modifiedMs?: number;
}

export type ConditionalAnswer =
  | { readonly status: 200 | 304 | 412 | 416 }
  | { readonly status: 206; readonly first: number; readonly last: number };

/** Returns the answer to a GET or a HEAD, in the order of precedence of section 13.2.2. */
export function answerTo(request: ProxyRequest, is: Validators): ConditionalAnswer {
  const { headers, method } = request;
  const ifMatch = headers["if-match"];
  const unmodifiedSince = secondsOf(headers["if-unmodified-since"]);
  const seconds = is.modifiedMs === undefined ? undefined : Math.floor(is.modifiedMs / 1000);
  if (ifMatch !== undefined) {
    if (!tagsOf(ifMatch).some((tag) => tag === "*" || tag === is.etag)) return { status: 412 };
  } else if (unmodifiedSince !== undefined && seconds !== undefined && seconds > unmodifiedSince)
    return { status: 412 };

  const ifNoneMatch = headers["if-none-match"];
  if (ifNoneMatch !== undefined) {
    if (tagsOf(ifNoneMatch).some((tag) => tag === "*" || tag.replace(/^W\//, "") === is.etag)) return { status: 304 };
  } else {
    const modifiedSince = secondsOf(headers["if-modified-since"]);
    if (modifiedSince !== undefined && seconds !== undefined && seconds <= modifiedSince) return { status: 304 };
  }

  const ifRange = headers["if-range"] as string | undefined;
  if (method !== "GET" || headers.range === undefined) return { status: 200 };
  if (ifRange !== undefined && ifRange !== is.etag && (seconds === undefined || secondsOf(ifRange) !== seconds))
    return { status: 200 };
  return range(headers.range, is.bytes);
}

/** Several ranges, other units and malformed ranges are answered with the whole file, as section 14.2 allows. */
function range(header: string, bytes: number): ConditionalAnswer {
  const single = /^bytes=\s*(?:(\d+)-(\d*)|-(\d+))\s*$/i.exec(header.trim());
  if (single === null) return { status: 200 };
  const [, from, to, suffix] = single;
  const first = from === undefined ? Math.max(0, bytes - Number(suffix)) : Number(from);
  const last = from === undefined || to === "" ? bytes - 1 : Math.min(Number(to), bytes - 1);
  if (from !== undefined && to !== "" && Number(to) < Number(from)) return { status: 200 };
  return first > last ? { status: 416 } : { status: 206, first, last };
}

/** The tags of a list. A tag may contain a comma. */
function tagsOf(header: string): string[] {
  return header.match(/(?:W\/)?"[^"]*"|\*/g) ?? [];
}

const MONTH = "(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)";
const TIME = "\\d{2}:\\d{2}:\\d{2}";
const HTTP_DATE = new RegExp(
  `^(?:[A-Z][a-z]{2}, \\d{2} ${MONTH} \\d{4} ${TIME} GMT|[A-Z][a-z]+day, \\d{2}-${MONTH}-\\d{2} ${TIME} GMT` +
    `|[A-Z][a-z]{2} ${MONTH} [ \\d]\\d ${TIME} \\d{4})$`,
);

/** The three forms of section 5.6.7; undefined for everything else, as if it had not been sent. */
function secondsOf(header: string | undefined): number | undefined {
  if (header === undefined || !HTTP_DATE.test(header)) return undefined;
  // The oldest form does not say that it is in GMT.
  const ms = Date.parse(header.endsWith("GMT") ? header : `${header} GMT`);
  return Number.isNaN(ms) ? undefined : ms / 1000;
}
