import type { RowReader } from "../rows/rows.ts";
import type { Arrivals } from "./arrivals.ts";

/** The events that have arrived while a list is shown. */
export type Arrived = Pick<Arrivals, "has" | "counts">;

/**
 * Reads rows without the events that are shown above them already. Programs send events some time after they happened: such
 * an event arrives, and is then among the rows of its time if those are read later.
 */
export function withoutArrived(reader: RowReader, arrived: () => Arrived | undefined): RowReader {
  return {
    ...reader,
    async events(range, page, signal) {
      const { events, cursor } = await reader.events(range, page, signal);
      const above = arrived();
      return { events: above === undefined ? events : events.filter((event) => !above.has(event)), cursor };
    },
    async steps(range, most, signal) {
      const { steps, stepMs } = await reader.steps(range, most, signal);
      const above = arrived()?.counts(range, stepMs);
      const left = ({ startMs, count }: (typeof steps)[number]) => Math.max(0, count - (above?.get(startMs) ?? 0));
      return { steps: steps.map((step) => ({ ...step, count: left(step) })), stepMs };
    },
  };
}
