import { describe } from "../../grammar/problem.ts";
import { type AlertQuery, parseAlertQuery } from "../../grammar/query/index.ts";

export type { AlertQuery };

export type ReadAlertQuery =
  | { readonly ok: true; readonly value: AlertQuery }
  | { readonly ok: false; readonly problems: readonly string[] };

/** Reads the query of an alert. The problems are whole sentences without what they are about: "must have no timeseries". */
export function readAlertQuery(text: string): ReadAlertQuery {
  const parsed = parseAlertQuery(text);
  return parsed.ok ? parsed : { ok: false, problems: parsed.problems.map(describe) };
}

/** Returns the problems of the query of an alert; empty if it has none. */
export function checkAlertQuery(text: string): readonly string[] {
  const read = readAlertQuery(text);
  return read.ok ? [] : read.problems;
}
