import type { OpenExchanges } from "./access/open-exchanges.ts";
import type { EventsStore } from "./events/store.ts";
import type { Records } from "./records/open.ts";
import type { OpenAppends } from "./rpc/open-appends.ts";

/** What the operations work on. */
export interface Service {
  readonly records: Records;
  readonly events: EventsStore;
  /** What is being answered; the removal of a token ends what is open with it. */
  readonly exchanges: OpenExchanges;
  /** The appends under way; the removal of a project waits for them. */
  readonly appends: OpenAppends;
  readonly region: string;
  nowMs(): number;
}
