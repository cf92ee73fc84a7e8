import type { EventsStore } from "./events/store.ts";
import type { Records } from "./records/open.ts";

/** What the operations work on. */
export interface Service {
  readonly records: Records;
  readonly events: EventsStore;
  readonly region: string;
  nowMs(): number;
}
