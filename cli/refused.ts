import type { Misuse } from "./argv.ts";

/** The failing side of a result whose input has no places: what is wrong with it, and what to do. */
export interface FailedResult {
  readonly ok: false;
  readonly problems: readonly [Misuse, ...Misuse[]];
}

/** One problem as the failing side of a result. */
export function refused(message: string, hint?: string): FailedResult {
  return { ok: false, problems: [{ message, ...(hint !== undefined && { hint }) }] };
}
