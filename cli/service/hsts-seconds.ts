import { parseDuration } from "../../grammar/units/duration.ts";
import { type FailedResult, refused } from "../refused.ts";

const EXAMPLE = "write --hsts 1d, or --hsts 0s for none";

/** The seconds of `--hsts`; undefined without the flag. */
export function hstsSeconds(
  written: string | undefined,
): { readonly ok: true; readonly value: number | undefined } | FailedResult {
  if (written === undefined) return { ok: true, value: undefined };
  const period = parseDuration(written);
  if (period.ok) return { ok: true, value: Math.floor(period.value / 1000) };
  const [problem] = period.problems;
  return refused(`--hsts ${written} is not a time: ${problem!.message}`, problem!.hint ?? EXAMPLE);
}
