import type { Event } from "../events/store.ts";
import type { DeliveryKind } from "./tables.ts";

/** The message to the target of a notification: everything that a mail or a call says, as it was at that time. */
export interface AlertMessage {
  /** The id of its delivery, the same for each attempt. */
  readonly id: string;
  /** `test` changes nothing and is told although nothing happened. */
  readonly kind: DeliveryKind | "test";
  readonly team: { readonly id: string; readonly name: string };
  readonly project: { readonly id: string; readonly name: string };
  readonly alert: {
    readonly id: string;
    readonly name: string;
    readonly description: string;
    /** Empty if the disk is measured. */
    readonly query: string;
    readonly severity: "info" | "notice" | "error" | "critical";
    readonly operator: ">" | ">=" | "<" | "<=";
    readonly threshold: number;
    /** Minutes. */
    readonly interval: number;
  };
  /** The same from the trigger to its resolution, for receivers that put them together. */
  readonly episodeId: string;
  /** The values that the query grouped by, with the names of their columns; empty without groups. */
  readonly group: readonly { readonly name: string; readonly value: unknown }[];
  /**
   * The value that was compared with the threshold: a number of events, or the value of the query's column. Null for
   * `failed`.
   */
  readonly value: number | null;
  /**
   * The name of the value, for people: `events`, the column such as `p99(duration)`, or `free disk`, with its unit such
   * as `ms` or "".
   */
  readonly what: string;
  readonly unit: string;
  /** The slot, RFC 3339. The stop is not part of it. */
  readonly window: { readonly start: string; readonly stop: string };
  /** When the episode began, RFC 3339. */
  readonly triggeredAt: string;
  /** Newest first, at most the alert's `limit`. Messages and fields that are very long are cut. */
  readonly events: readonly Event[];
  /** Whether there were more events than these. */
  readonly hasMoreEvents: boolean;
  /** Why it failed, is told late, or was resolved if not by its value: for people, one sentence without a full stop. */
  readonly reason: string;
  /** Path of the page with exactly these events, or that shows the disk; it needs an origin before it. */
  readonly path: string;
}
