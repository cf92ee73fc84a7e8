import { OPEN_BRACE, OPEN_BRACKET, QUOTE } from "../../grammar/json-bytes.ts";
import { endOfString, quoteNumbers } from "../../grammar/json-numbers.ts";
import { RpcError } from "../error.ts";
import { LIMITS } from "../limits.ts";

/**
 * Parses JSON. Numbers that float64 cannot hold (integers beyond 2^53 that it would round, and numbers beyond its range)
 * become strings of their digits. Throws `bad_request` and `too_large`.
 */
export function parseExactJson(text: string): unknown {
  refuseDense(text);
  try {
    return JSON.parse(MAY_HOLD_LARGE_NUMBERS.test(text) ? quoteNumbers(text, fits) : text);
  } catch (error) {
    // The parser's message quotes the text, which may contain anything.
    throw new RpcError("bad_request", "the body is not valid JSON", { cause: error });
  }
}

/**
 * Throws for text with more objects and lists than are allowed: parsing the millions of empty ones that a small request
 * unpacks to takes gigabytes, and many seconds in which nobody else is answered.
 */
function refuseDense(text: string): void {
  const most = LIMITS.objectsPerBody;
  // A few characters of usual logs are brackets, so that most text is never read by its characters.
  if (text.length <= most || countOf(text, "{", most) + countOf(text, "[", most) <= most) return;
  if (openingsOf(text, most) <= most) return;
  throw new RpcError("too_large", `there must be at most ${most} objects and lists at once: send them in parts`);
}

/** Counts a character, up to one more than `most`. */
function countOf(text: string, character: string, most: number): number {
  let count = 0;
  for (let at = text.indexOf(character); at !== -1 && count <= most; at = text.indexOf(character, at + 1)) count++;
  return count;
}

/** Counts the objects and lists that begin outside of strings, up to one more than `most`. */
function openingsOf(text: string, most: number): number {
  let count = 0;
  for (let at = 0; at < text.length && count <= most; at++) {
    const code = text.charCodeAt(at);
    if (code === QUOTE) at = endOfString(text, at) - 1;
    else if (code === OPEN_BRACE || code === OPEN_BRACKET) count++;
  }
  return count;
}

/** Sixteen digits, but not after a point: fractions often have as many. */
const MAY_HOLD_LARGE_NUMBERS = /(?<![.\d])\d{16}|[eE]\+?\d{3}/;

function fits(number: string): boolean {
  const value = Number(number);
  if (!Number.isFinite(value)) return false;
  return Number.isSafeInteger(value) || !/^-?\d+$/.test(number) || BigInt(number) === BigInt(value);
}
