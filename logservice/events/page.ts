import type { Event } from "./store.ts";

/** The most that a page holds of its events as JSON: ten thousand events of the largest size would be 2.5 GB. */
export const PAGE_BYTES = 16 * 1024 * 1024;

/** Whether an event of `bytes` bytes still fits a page that holds `heldBytes`; the first event always does. */
export const pageFits = (heldBytes: number, bytes: number) => heldBytes === 0 || heldBytes + bytes <= PAGE_BYTES;

/** The length of an event as JSON in UTF-8, where the JSON of its fields is there already. */
export function bytesOf({ id, timestamp, level, message, truncated }: Event, fieldsJson: string): number {
  const head = JSON.stringify({ id, timestamp, level, message, truncated });
  return Buffer.byteLength(head) + ',"fields":'.length + Buffer.byteLength(fieldsJson);
}
