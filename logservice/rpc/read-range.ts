import { describe } from "../../grammar/problem.ts";
import { parseQuery, type Query, type Target, target } from "../../grammar/query/index.ts";
import { parseTimestamp } from "../../grammar/query/timestamp.ts";
import { FIRST_TIME, FIRST_TIME_MS } from "../events/histogram-steps.ts";
import type { Range } from "../events/store.ts";
import { RpcError } from "./error.ts";

/** The events that an input means, but for their project: its closed period, its query. Throws `invalid`. */
export function readRange(input: {
  readonly start: string;
  readonly stop: string;
  readonly query?: string;
}): Omit<Range, "project"> {
  const startMs = readTime(input.start, "start");
  const stopMs = readTime(input.stop, "stop");
  if (stopMs < startMs) throw new RpcError("invalid", "stop: must not be before start");
  return { startMs, stopMs, query: readQuery(input.query ?? "", "query") };
}

/** Undefined where it selects everything. */
export function readQuery(text: string, place: string): Query | undefined {
  const parsed = parseQuery(text);
  if (!parsed.ok) throw new RpcError("invalid", `${place}: ${parsed.problems.map(describe).join("; ")}`);
  return parsed.value.expr === undefined ? undefined : parsed.value;
}

/** A field as a query names it. */
export function readField(text: string): Target {
  // Of the language only the names of fields are wanted here: the text must be all of what stands behind the operator.
  const source = `exists ${text}`;
  const parsed = parseQuery(source);
  const expr = parsed.ok ? parsed.value.expr : undefined;
  if (expr?.kind !== "exists" || expr.field.span.end !== source.length) {
    throw new RpcError(
      "invalid",
      'field: must be a field as a query names it, such as user.email or fields["odd key"]',
    );
  }
  return target(expr.field);
}

/** Milliseconds since 1970 of a time of an input. Throws `invalid`. */
export function readTime(text: string, place: string): number {
  const timeMs = parseTimestamp(text);
  if (timeMs === undefined) throw new RpcError("invalid", `${place}: must be a time like 2026-01-31T12:00:00Z`);
  if (timeMs < FIRST_TIME_MS || timeMs >= END_OF_TIME_MS) {
    throw new RpcError("invalid", `${place}: must be from ${FIRST_TIME} to ${LAST_TIME}`);
  }
  return timeMs;
}

/** In UTC: an offset may lead out of the years that RFC 3339 has four digits for. */
const LAST_TIME = "9999-12-31T23:59:59.999Z";
const END_OF_TIME_MS = Date.parse(LAST_TIME) + 1;
