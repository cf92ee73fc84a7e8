// The readers of JSON bytes share this: bytes by name, and where blanks, digits and texts without escapes end. Each
// reader decides itself which values it accepts: the prefilter of queries (query/bytes.ts) passes whatever is unclear,
// the reader of log files (cli/logs/partial-entry.ts) checks what JSON.parse checks, and the reader of batches
// (logservice/rpc/scan-json.ts) refuses what JSON.stringify would write differently.

export const TAB = 0x09;
export const LF = 0x0a;
export const CR = 0x0d;
export const SPACE = 0x20;
export const QUOTE = 0x22;
export const PLUS = 0x2b;
export const COMMA = 0x2c;
export const MINUS = 0x2d;
export const POINT = 0x2e;
export const ZERO = 0x30;
export const NINE = 0x39;
export const COLON = 0x3a;
export const OPEN_BRACKET = 0x5b;
export const BACKSLASH = 0x5c;
export const CLOSE_BRACKET = 0x5d;
export const OPEN_BRACE = 0x7b;
export const CLOSE_BRACE = 0x7d;

export const isDigit = (byte: number | undefined): byte is number => byte !== undefined && byte >= ZERO && byte <= NINE;

/** The end of the blanks at `from`. A line end is not a blank: a line of NDJSON ends there. */
export function blanksEnd(bytes: Uint8Array, from: number): number {
  let at = from;
  for (let byte = bytes[at]; byte === SPACE || byte === TAB || byte === CR; byte = bytes[at]) at++;
  return at;
}

/** The end of the digits at `from`. */
export function digitsEnd(bytes: Uint8Array, from: number): number {
  let at = from;
  while (isDigit(bytes[at])) at++;
  return at;
}

/** The closing quotation mark of the text that begins at `from`, or -1 if the text has an escape or is not closed. */
export function plainTextEnd(bytes: Uint8Array, from: number): number {
  let at = from;
  for (let byte = bytes[at]!; byte !== QUOTE; byte = bytes[++at]!) {
    // Past the end of the bytes `byte` is undefined, which compares as false.
    if (!(byte >= SPACE) || byte === BACKSLASH) return -1;
  }
  return at;
}

/** Whether `expected` is at `at`. */
export function isAt(expected: Uint8Array, bytes: Uint8Array, at: number): boolean {
  for (let i = 0; i < expected.length; i++) if (expected[i] !== bytes[at + i]) return false;
  return true;
}
