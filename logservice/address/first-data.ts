import type { Problem } from "../../grammar/problem.ts";
import type { Account, Operations, Project } from "../../schema/rpc.generated.ts";

/** The data that the server sends with the page, so that it can be painted before it has asked for anything. */
export interface FirstData {
  readonly account: Account;
  readonly version: string;
  /** Whether the service sends mails: invites are links otherwise. */
  readonly isMailing: boolean;
  /** Whether the service sends text messages. */
  readonly isTexting: boolean;
  /** Projects of the team of the address, or of the only team; absent if there is no team. */
  readonly projects?: readonly Project[];
  /** First answers of the explorer, if the address is a view of events. */
  readonly events?: FirstEvents;
}

/** The first answers of the explorer. One that failed is absent: the page asks again and shows why. */
export interface FirstEvents {
  readonly startMs: number;
  readonly stopMs: number;
  /** Absent if the query is valid; the spans are of the query as `visibleQuery` writes it. */
  readonly problems?: readonly Problem[];
  readonly search?: Operations["search"]["output"];
  readonly levels?: Operations["get_level_timeseries"]["output"];
  readonly table?: Operations["aggregate"]["output"];
}

/** How many events are asked for at first: more than a tall screen shows. */
export const FIRST_EVENTS = 200;
/** So many steps are asked for: 60 bars, wider than a hair on a telephone, and one that the range cuts off at its beginning. */
export const HISTOGRAM_STEPS = 61;
/** The rows of a table of stages that are shown. */
export const TABLE_ROWS = 1_000;
/** The rows that are asked for if those end before the range does, for lines over time. */
export const LINE_ROWS = 10_000;
