import type { Alert } from "../../../schema/rpc.generated.ts";
import { byName } from "../data/by-name.ts";

/** Alerts that are triggered, then those that fail; each by name. */
export function urgentFirst(alerts: readonly Alert[]): readonly Alert[] {
  const urgency = ({ triggered, state }: Alert) => (triggered ? 0 : state === "failing" ? 1 : 2);
  return [...byName(alerts)].sort((a, b) => urgency(a) - urgency(b));
}
