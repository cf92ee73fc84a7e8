import { parseDuration } from "../../grammar/units/duration.ts";
import { type FailedResult, refused } from "../refused.ts";

/** The milliseconds of a flag whose value is a duration; undefined without the flag. `example` says how it is written. */
export function flagPeriod(
  flag: string,
  written: string | undefined,
  example: string,
): { readonly ok: true; readonly value: number | undefined } | FailedResult {
  if (written === undefined) return { ok: true, value: undefined };
  const period = parseDuration(written);
  if (period.ok) return period;
  const [problem] = period.problems;
  return refused(`${flag} ${written} is not a time: ${problem!.message}`, problem!.hint ?? example);
}
