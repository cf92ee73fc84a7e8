// Events of nearly the largest size.
import type { NewEvent } from "../../../logservice/events/store.ts";
import { LIMITS } from "../../../logservice/limits.ts";

// Letters without an order, which no compressor knows.
let state = 1;
const letters = Array.from({ length: LIMITS.eventBytes }, () => {
  state = (state * 48271) % 2147483647;
  return String.fromCharCode(97 + (state % 26));
}).join("");

/** Different for each number below the length of an event. */
export const largeText = (number: number) => (letters.slice(number) + letters.slice(0, number)).slice(200);

export const largeEvent = (number: number, text: unknown): NewEvent => ({
  timestamp: new Date(1_714_557_600_000 + number).toISOString(),
  level: "info",
  message: `event ${number}`,
  fields: { number, tags: ["large"], text },
});
