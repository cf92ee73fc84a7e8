import { quoteNumbers } from "../../grammar/json-numbers.ts";
import { RpcError } from "../error.ts";

/**
 * Parses JSON. Numbers that float64 cannot hold (integers beyond 2^53 that it would round, and numbers beyond its range)
 * become strings of their digits. Throws `bad_request`.
 */
export function parseExactJson(text: string): unknown {
  try {
    return JSON.parse(MAY_HOLD_LARGE_NUMBERS.test(text) ? quoteNumbers(text, fits) : text);
  } catch (error) {
    // The parser's message quotes the text, which may contain anything.
    throw new RpcError("bad_request", "the body is not valid JSON", { cause: error });
  }
}

/** Sixteen digits, but not after a point: fractions often have as many. */
const MAY_HOLD_LARGE_NUMBERS = /(?<![.\d])\d{16}|[eE]\+?\d{3}/;

function fits(number: string): boolean {
  const value = Number(number);
  if (!Number.isFinite(value)) return false;
  return Number.isSafeInteger(value) || !/^-?\d+$/.test(number) || BigInt(number) === BigInt(value);
}
