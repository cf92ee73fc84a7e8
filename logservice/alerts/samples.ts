import type { Event, EventsStore } from "../events/store.ts";
import type { AlertMessage } from "../records/alert-message.ts";
import { type AlertQuestion, slotRange } from "./evaluate.ts";
import { queryOfGroup } from "./group.ts";

/**
 * The newest events of a slot that are of a group, at most `limit` of them and cut to what a message may hold. An answer
 * that cannot be had is empty: what is told must not depend on it.
 */
export async function sampleEvents(
  events: EventsStore,
  question: AlertQuestion,
  { slot, group, limit }: { readonly slot: number; readonly group: AlertMessage["group"]; readonly limit: number },
  signal: AbortSignal,
): Promise<Pick<AlertMessage, "events" | "hasMoreEvents">> {
  const range = { ...slotRange(question, slot), query: queryOfGroup(question.query, group), signal };
  try {
    const page = await events.search({ ...range, limit, order: "descending" });
    return fitting(page.events.map(cutEvent), page.cursor !== undefined);
  } catch {
    return { events: [], hasMoreEvents: true };
  }
}

/** A mail with more is cut by those who receive it, and each delivery is kept for a while. */
const MESSAGE_BYTES = 128 * 1024;
const TEXT_LENGTH = 4_000;
const FIELD_LENGTH = 1_000;
const LIST_LENGTH = 20;
const FIELDS_LENGTH = 8_000;

function fitting(cut: readonly Event[], hasMore: boolean): Pick<AlertMessage, "events" | "hasMoreEvents"> {
  const events: Event[] = [];
  let bytes = 0;
  for (const event of cut) {
    bytes += Buffer.byteLength(JSON.stringify(event));
    if (bytes > MESSAGE_BYTES) return { events, hasMoreEvents: true };
    events.push(event);
  }
  return { events, hasMoreEvents: hasMore };
}

function cutEvent(event: Event): Event {
  const fields: Record<string, unknown> = {};
  let left = FIELDS_LENGTH;
  for (const [name, value] of Object.entries(event.fields)) {
    const cut = cutValue(value);
    left -= JSON.stringify([name, cut]).length;
    if (left < 0) break;
    fields[name] = cut;
  }
  return { ...event, message: cutText(event.message, TEXT_LENGTH), fields };
}

function cutValue(value: unknown): unknown {
  if (typeof value === "string") return cutText(value, FIELD_LENGTH);
  if (Array.isArray(value)) return value.slice(0, LIST_LENGTH).map(cutValue);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, cutValue(one)]));
}

function cutText(text: string, length: number): string {
  if (text.length <= length) return text;
  // A cut within a surrogate pair would leave half a character.
  const isHalf = /[\ud800-\udbff]/.test(text[length - 1]!);
  return `${text.slice(0, isHalf ? length - 1 : length)}…`;
}
