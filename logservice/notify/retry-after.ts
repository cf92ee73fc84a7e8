/**
 * The wait that a header Retry-After asks for (RFC 9110, section 10.2.3), in milliseconds: undefined if it asks for none, or
 * cannot be read.
 */
export function retryAfterMs(text: string, nowMs: number): number | undefined {
  if (/^\d{1,9}$/.test(text)) return Number(text) * 1000;
  // A date of HTTP ends so. Date.parse alone takes much that is none.
  const atMs = / GMT$/.test(text) ? Date.parse(text) : Number.NaN;
  return Number.isNaN(atMs) ? undefined : Math.max(0, atMs - nowMs);
}
