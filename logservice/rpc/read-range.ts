import { describe } from "../../grammar/problem.ts";
import {
  type Field,
  lastInstantBefore,
  type Pipe,
  type Pipeline,
  parsePipeline,
  parseQuery,
  type Query,
  readFields,
} from "../../grammar/query/index.ts";
import { parseTimestamp } from "../../grammar/query/timestamp.ts";
import { RpcError } from "../error.ts";
import { FIRST_TIME, FIRST_TIME_MS } from "../events/histogram-steps.ts";
import type { EventRange } from "../events/store.ts";

/** Reads the closed time range and the query of an input. Throws `invalid`. */
export function readRange(input: {
  readonly start: string;
  readonly stop: string;
  readonly query?: string;
}): Omit<EventRange, "project"> {
  const startMs = readTimeInput(input.start, "start");
  const stopMs = readStop(input.stop);
  if (stopMs < startMs) throw new RpcError("invalid", "stop: must not be before start");
  return { startMs, stopMs, query: readQuery(input.query ?? "", "query") };
}

/** Parses a query that selects events; undefined if it selects everything. Throws `invalid`. */
export function readQuery(text: string, place: string): Query | undefined {
  const { query, pipes } = readPipelineInput(text, place);
  if (pipes.length > 0)
    throw new RpcError("invalid", `${place}: must have no stages: the operation aggregate takes them`);
  return query.expr === undefined ? undefined : query;
}

/** Parses a query that may have stages. Throws `invalid`. */
export function readPipelineInput(text: string, place: string): Pipeline {
  const parsed = parsePipeline(text);
  if (!parsed.ok) throw new RpcError("invalid", `${place}: ${parsed.problems.map(describe).join("; ")}`);
  // The name of a saved query, to the command; here it would be a field.
  const isSaved = readFields(parsed.value.query).some(({ name, isAlone }) => isAlone && name.startsWith("@"));
  if (isSaved && parsed.value.pipes.length > 0)
    throw new RpcError("invalid", `${place}: saved queries are known to the command only: send their text`);
  return parsed.value;
}

/** Reads the range and the stages of an input. Throws `invalid`. */
export function readPipes(input: {
  readonly start: string;
  readonly stop: string;
  readonly query: string;
}): Omit<EventRange, "project"> & { readonly pipes: readonly Pipe[] } {
  const { query, pipes } = readPipelineInput(input.query, "query");
  if (pipes.length === 0)
    throw new RpcError("invalid", "query: needs a stage, such as | count by path; the operation search returns events");
  return { ...readRange({ ...input, query: "" }), query: query.expr === undefined ? undefined : query, pipes };
}

/** Parses a field as a query names it. Throws `invalid`. */
export function readField(text: string, place = "field"): Field {
  // Only the name of a field is allowed here: it has to be the whole text after the operator.
  const source = `exists ${text}`;
  const parsed = parseQuery(source);
  const expr = parsed.ok ? parsed.value.expr : undefined;
  if (expr?.kind !== "exists" || expr.field.span.end !== source.length) {
    throw new RpcError(
      "invalid",
      `${place}: must be a field as a query names it, such as user.email or fields["odd key"]`,
    );
  }
  return expr.field;
}

/**
 * Reads the end of a closed range. Times are float64 of milliseconds, which have no 999,999 nanoseconds: rounded up, the
 * range would have the beginning of the next millisecond, and one step more.
 */
function readStop(text: string): number {
  const stopMs = readTimeInput(text, "stop");
  const wholeMs = parseTimestamp(text.replace(/(\.\d{3})\d+/, "$1"))!;
  return stopMs < wholeMs + 1 ? stopMs : lastInstantBefore(wholeMs + 1);
}

/** Reads a time of an input as milliseconds since 1970. Throws `invalid`. */
export function readTimeInput(text: string, place: string): number {
  const timeMs = parseTimestamp(text);
  if (timeMs === undefined) throw new RpcError("invalid", `${place}: must be a time like 2026-01-31T12:00:00Z`);
  if (timeMs < FIRST_TIME_MS || timeMs >= END_OF_TIME_MS) {
    throw new RpcError("invalid", `${place}: must be from ${FIRST_TIME} to ${LAST_TIME}`);
  }
  return timeMs;
}

/** In UTC, since an offset may lead out of the years that have four digits, as RFC 3339 requires. */
const LAST_TIME = "9999-12-31T23:59:59.999Z";
const END_OF_TIME_MS = Date.parse(LAST_TIME) + 1;
