import type { OpenExchanges } from "../access/open-exchanges.ts";
import type { EventsStore } from "../events/store.ts";
import type { Records } from "../records/open.ts";
import type { OpenAppends } from "./open-appends.ts";

/** What the operations work on. */
export interface Service {
  readonly records: Records;
  readonly events: EventsStore;
  /** The requests being answered; the removal of a token ends those it opened. */
  readonly exchanges: OpenExchanges;
  /** The appends under way; the removal of a project waits for them. */
  readonly appends: OpenAppends;
  readonly region: string;
  nowMs(): number;
}
