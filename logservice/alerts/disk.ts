import type { AlertInput } from "../../schema/rpc.generated.ts";
import type { EventsStore } from "../events/store.ts";
import { FREE_DISK } from "../notify/condition.ts";
import type { AlertQuery } from "./alert-query.ts";
import type { SlotOutcome } from "./state.ts";

/** The free part of the disk, in percent, that an alert on it triggers below if it says nothing else. */
const DEFAULT_PERCENT = 10;

/** The measure of an alert of kind disk, in the form of a query: nothing selects events. */
export const DISK_QUERY: AlertQuery = { query: undefined, pipes: [], columns: [], ...FREE_DISK, isCount: false };

/** The threshold that is kept: zero values of alerts on the disk count as absent. */
export const keptThreshold = ({ kind, threshold = 0 }: Pick<AlertInput, "kind" | "threshold">) =>
  kind === "disk" && threshold === 0 ? DEFAULT_PERCENT : threshold;

/** Returns the first problem of an alert of kind disk that its schema cannot express, with its path; undefined if there is none. */
export function diskAlertProblem({ query = "", operator, threshold = 0 }: AlertInput): string | undefined {
  if (query.trim() !== "") return "alert.query: must be absent: an alert of kind disk measures the disk alone";
  if (operator !== "<" && operator !== "<=")
    return "alert.operator: must be < or <=: an alert of kind disk triggers when too little is free";
  if (threshold > 99) return "alert.threshold: must be at most 99: it is a percentage of the disk";
  return undefined;
}

/** The free part of the disk now, in percent with two decimals. */
export async function freeDisk(events: EventsStore): Promise<SlotOutcome> {
  try {
    const { freeBytes, totalBytes } = await events.disk();
    if (!(totalBytes > 0)) return { ok: false, problems: ["the file system does not say how large the disk is"] };
    return { ok: true, value: new Map([["", Math.round((freeBytes / totalBytes) * 10_000) / 100]]) };
  } catch {
    return { ok: false, problems: ["the file system does not say how much of the disk is free"] };
  }
}
