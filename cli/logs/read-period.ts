import { completedMoment, parseMoment } from "../../grammar/query/index.ts";
import { parseDuration } from "../../grammar/units/duration.ts";
import type { Context } from "../context.ts";
import type { Options } from "../table.ts";
import type { Wanted } from "./line-scan.ts";

/** Reads `--since` and `--until`. Ends the command if one of them is no time, or if no time is between them. */
export function readPeriod(
  context: Context,
  { since, until }: Pick<Options<"logs">, "since" | "until">,
): Pick<Wanted, "sinceMs" | "untilMs"> {
  const nowMs = context.io.nowMs();
  const boundMs = (name: "since" | "until", text: string | undefined) =>
    text === undefined
      ? undefined
      : timeOf(text, nowMs, (message, hint) => context.misuse(`--${name} ${JSON.stringify(text)}: ${message}`, hint));
  const sinceMs = boundMs("since", since);
  const untilMs = boundMs("until", until);
  if (sinceMs !== undefined && untilMs !== undefined && sinceMs >= untilMs)
    return context.misuse(
      `--since ${JSON.stringify(since)} is not before --until ${JSON.stringify(until)}`,
      sinceMs === untilMs ? "give a later --until" : `write --since ${until} --until ${since}`,
    );
  return { sinceMs, untilMs };
}

/** Neither the cloud nor a log service has entries of other times, and RFC 3339 no other years. */
const FIRST_MS = 0;
const LAST_MS = Date.parse("9999-12-31T23:59:59.999Z");
const RANGE = "write a time from 1970-01-01 to 9999-12-31, or a duration like 15m, 1d12h or 1M";

/** The time that a flag names: a duration ago, or a time as queries write it. */
function timeOf(text: string, nowMs: number, refuse: (message: string, hint: string) => never): number {
  const inRange = (timeMs: number) => {
    if (timeMs < FIRST_MS) return refuse("no log goes back beyond 1970", RANGE);
    return timeMs > LAST_MS ? refuse("no log has times after the year 9999", RANGE) : timeMs;
  };
  if (/^[+-]\d{4,}-\d|^\d{5,}-\d/.test(text)) return refuse("a year has four digits", RANGE);
  if (/^\d{4}-/.test(text)) {
    const timeMs = parseMoment(text);
    if (timeMs !== undefined) return inRange(timeMs);
    const completed = completedMoment(text);
    return completed === undefined
      ? refuse("no such time", "write 2025-06-30 or 2025-06-30T12:00:00Z")
      : refuse("a time without a zone", `write ${completed}, or the offset in place of the Z`);
  }
  const duration = parseDuration(text);
  if (duration.ok) return inRange(nowMs - duration.value);
  const { message, hint = "write a duration like 15m, 1d12h or 1M" } = duration.problems[0]!;
  return refuse(message, hint);
}
