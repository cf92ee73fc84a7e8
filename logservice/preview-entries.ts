// The replay of alerts over entries that the service does not hold, for `tool alerts test`. Beside admin.ts the only file that
// the command imports: it opens no store and loads no package.
import type { Entry } from "../grammar/entry.ts";
import type { AlertInput } from "../schema/rpc.generated.ts";
import { readAlertQuery } from "./alerts/alert-query.ts";
import { EntryEvents } from "./alerts/entry-events.ts";
import { LATENESS } from "./alerts/lateness.ts";
import { type AlertPreview, previewAlert } from "./alerts/preview.ts";
import { slotAt, slotStartMs, slotStopMs } from "./alerts/slots.ts";

export { plainGroup } from "./alerts/group.ts";
export { RpcError } from "./error.ts";
export type { AlertPreview };

/** The service evaluates intervals of a deployed app no sooner after their end, in milliseconds: its entries may be on their way. */
export const LATENESS_MS = LATENESS.runtime * 1000;

/** The intervals that are replayed: from that of the first entry to that of the last, or the whole ones of a range. */
export type ReplayRange = "entries" | { readonly startMs: number; readonly stopMs: number };

/** An alert and the entries that it is replayed over, by the code of preview_alert. */
export class AlertReplay {
  readonly #alert: AlertInput;
  readonly #events: EntryEvents;

  /** Throws RpcError `invalid` if the query is not one of an alert. */
  /** `nowMs` is what relative times of the query count back from. */
  constructor(alert: AlertInput, nowMs: number) {
    const read = readAlertQuery(alert.query ?? "");
    const [query, keepsEntries] = read.ok ? [read.value.query, read.value.pipes.length > 0] : [undefined, false];
    this.#alert = alert;
    // An invalid query is said by the preview.
    this.#events = new EntryEvents({ query, keepsEntries, nowMs });
  }

  add(entry: Entry): void {
    this.#events.add(entry);
  }

  /** Throws RpcError `invalid` if the query is not one of an alert, or the range has too many intervals. */
  async preview(range: ReplayRange, signal: AbortSignal): Promise<AlertPreview> {
    const { interval = 5 } = this.#alert;
    const bounds = this.#events.bounds ?? { firstMs: 0, lastMs: 0 };
    const { startMs, stopMs } =
      range !== "entries"
        ? range
        : {
            startMs: slotStartMs(slotAt(bounds.firstMs, interval), interval),
            stopMs: slotStopMs(slotAt(bounds.lastMs, interval), interval),
          };
    return previewAlert(this.#events, "", this.#alert, { startMs, stopMs, signal });
  }
}
