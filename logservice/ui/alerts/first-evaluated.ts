import { minuteText } from "../kit/format.ts";

/**
 * When a new alert is evaluated first: `First evaluated at 28 Nov 2026, 12:05 UTC`. Its preview looks back, and the alert
 * itself does not.
 */
export const firstEvaluated = (at: string) => `First evaluated at ${minuteText(Date.parse(at))}`;
