import type { FirstData } from "../../address/first-data.ts";

/** The service leaves out what takes longer than a second or two; later, they are asked for. */
const LATE_MS = 8_000;

/**
 * The data that come with the page. The script may run before they have arrived: the page is shown meanwhile. Undefined
 * if the page ended without them.
 */
export function readFirstData(): Promise<FirstData | undefined> {
  const read = (): FirstData | undefined => {
    const text = document.getElementById("first")?.textContent;
    try {
      return text ? (JSON.parse(text) as FirstData) : undefined;
    } catch {
      // The connection ended amid them.
      return undefined;
    }
  };
  if (document.readyState !== "loading") return Promise.resolve(read());
  return new Promise((resolve) => {
    document.addEventListener("DOMContentLoaded", () => resolve(read()), { once: true });
    // A page that was cut off is never said to have all of its content.
    document.addEventListener("readystatechange", () => document.readyState === "complete" && resolve(read()));
    setTimeout(() => resolve(undefined), LATE_MS);
  });
}
