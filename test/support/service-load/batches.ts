// Batches of events that say of themselves what they are, and what must be found of them.
import type { Event, NewEvent } from "../../../schema/rpc.generated.ts";

/** How a retry of it is known: by the ids of its events, by its key (also as lines of POST /ingest), or not at all. */
export type Kind = "ids" | "key" | "lines" | "plain";

export interface Batch {
  readonly number: number;
  readonly kind: Kind;
  readonly size: number;
  /** `there`: acknowledged, or shown to somebody. `unknown`: no answer came. */
  state: "unknown" | "there" | "absent";
}

/** Each batch has a second of its own: a range of time is a range of numbers. */
const FIRST_MS = Date.parse("2026-01-01T00:00:00Z");

export function rangeOf(from: number, to: number): { readonly start: string; readonly stop: string } {
  const at = (ms: number) => new Date(FIRST_MS + ms).toISOString();
  return { start: at(from * 1000), stop: at(to * 1000 - 1) };
}

export function eventsOf({ number, kind, size }: Pick<Batch, "number" | "kind" | "size">): NewEvent[] {
  return Array.from({ length: size }, (_, i) => ({
    ...(kind === "ids" && { id: `b${number}-${i}` }),
    timestamp: new Date(FIRST_MS + number * 1000 + i).toISOString(),
    level: "info" as const,
    message: `batch ${number}: ${i + 1} of ${size}`,
    fields: { number, kind, size, i, filling: "0123456789äöü\n".repeat((number * 7 + i * 3) % 40) },
  }));
}

export function keyOf({ number, kind }: Batch): string | undefined {
  return kind === "key" || kind === "lines" ? `batch ${number}` : undefined;
}

/** The number of the batch of an event that is, to the last character, as it was sent; what is wrong with it otherwise. */
export function numberOf(event: Event, batches: ReadonlyMap<number, Batch>): number | string {
  const { number, i } = (event.fields ?? {}) as { number?: number; i?: number };
  const batch = number === undefined ? undefined : batches.get(number);
  const sent = batch === undefined || i === undefined ? undefined : eventsOf(batch)[i];
  if (batch === undefined || sent === undefined) return `nobody sent ${JSON.stringify(event)}`;
  const { id, timestamp, level, message, fields } = event;
  const head = { ...(batch.kind === "ids" && { id }), timestamp: new Date(timestamp).toISOString() };
  if (canonical({ ...head, level, message, fields }) === canonical(sent)) return batch.number;
  return `batch ${number} was changed: ${JSON.stringify(event)}`;
}

const canonical = (value: object): string =>
  JSON.stringify(value, (_, part) =>
    typeof part === "object" && part !== null && !Array.isArray(part)
      ? Object.fromEntries(Object.entries(part).sort(([a], [b]) => (a < b ? -1 : 1)))
      : part,
  );

/**
 * Returns the faults in the events that were found of these batches: they are to be there whole and once, or, where no
 * answer came, not at all. Doubtful states are known afterwards.
 */
export function settle(batches: ReadonlyMap<number, Batch>, events: readonly Event[]): string[] {
  const wrong: string[] = [];
  const seen = new Map<number, number[]>();
  for (const event of events) {
    const number = numberOf(event, batches);
    if (typeof number === "string") wrong.push(number);
    else seen.set(number, [...(seen.get(number) ?? []), (event.fields as { i: number }).i]);
  }
  for (const batch of batches.values()) {
    const { number, kind, size } = batch;
    const parts = seen.get(number) ?? [];
    const isWhole = parts.length === size && new Set(parts).size === size;
    const mayBe = batch.state === "unknown" ? isWhole || parts.length === 0 : isWhole === (batch.state === "there");
    const isExtra = batch.state === "absent" && parts.length > 0;
    if (!mayBe || isExtra) {
      wrong.push(`batch ${number} (${kind}, ${batch.state}): found ${parts.length} events of ${size}`);
    }
    batch.state = isWhole ? "there" : "absent";
  }
  return wrong;
}
