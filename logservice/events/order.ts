import { type Event, StoreError } from "./store.ts";

/** A position in the order of events. */
export interface EventPosition {
  readonly nanoseconds: bigint;
  readonly id: string;
}

/** By instant, then by the UTF-8 bytes of the id: negative if `a` comes first. */
export function comparePositions(a: EventPosition, b: EventPosition): number {
  if (a.nanoseconds !== b.nanoseconds) return a.nanoseconds < b.nanoseconds ? -1 : 1;
  return compareText(a.id, b.id);
}

/** By UTF-8 bytes, which is by code points: UTF-16 puts U+FF00 after the surrogate pairs of all higher code points. */
export function compareText(a: string, b: string): number {
  const length = Math.min(a.length, b.length);
  for (let i = 0; i < length; i++) {
    let x = a.charCodeAt(i);
    let y = b.charCodeAt(i);
    if (x === y) continue;
    if (x >= 0xd800 && y >= 0xd800) {
      x = x >= 0xe000 ? x - 0x800 : x + 0x2000;
      y = y >= 0xe000 ? y - 0x800 : y + 0x2000;
    }
    return x - y;
  }
  return a.length - b.length;
}

/** The last event of a page as a text from which the next page continues. */
export function printCursor({ nanoseconds, id }: EventPosition): string {
  return Buffer.from(JSON.stringify([String(nanoseconds), id])).toString("base64url");
}

export function readPosition(text: string): EventPosition {
  try {
    const [nanoseconds, id] = JSON.parse(Buffer.from(text, "base64url").toString()) as unknown[];
    if (typeof nanoseconds === "string" && /^-?\d{1,19}$/.test(nanoseconds) && typeof id === "string") {
      return { nanoseconds: BigInt(nanoseconds), id };
    }
  } catch (error) {
    if (!(error instanceof SyntaxError) && !(error instanceof TypeError)) throw error;
  }
  throw new StoreError(
    "bad_request",
    "cursor: is not one that a search returned; pass the cursor of the previous answer",
  );
}

/** An event and its position. */
export interface PositionedEvent extends EventPosition {
  readonly event: Event;
}
