import { RpcError } from "../error.ts";

/**
 * Parses JSON. Numbers that float64 cannot hold (integers beyond 2^53 that it would round, and numbers beyond its range)
 * become strings of their digits. Throws `bad_request`.
 */
export function parseExactJson(text: string): unknown {
  try {
    return JSON.parse(MAY_HOLD_LARGE_NUMBERS.test(text) ? quoteLargeNumbers(text) : text);
  } catch (error) {
    // The parser's message quotes the text, which may contain anything.
    throw new RpcError("bad_request", "the body is not valid JSON", { cause: error });
  }
}

/** Sixteen digits, but not after a point: fractions often have as many. */
const MAY_HOLD_LARGE_NUMBERS = /(?<![.\d])\d{16}|[eE]\+?\d{3}/;

/** Puts large numbers in quotes. Text that is not JSON does not become JSON: each number was a token before. */
function quoteLargeNumbers(text: string): string {
  let result = "";
  let copied = 0;
  for (let at = 0; at < text.length; ) {
    const code = text.charCodeAt(at);
    if (code === QUOTE) {
      at = endOfString(text, at);
    } else if (code === MINUS || isDigit(code)) {
      NUMBER.lastIndex = at;
      const number = NUMBER.exec(text)?.[0] ?? text[at]!;
      if (!fits(number)) {
        result += `${text.slice(copied, at)}"${number}"`;
        copied = at + number.length;
      }
      at += number.length;
    } else at++;
  }
  return result + text.slice(copied);
}

const QUOTE = 0x22;
const MINUS = 0x2d;
const BACKSLASH = 0x5c;
const NUMBER = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y;

function isDigit(code: number): boolean {
  return code >= 0x30 && code <= 0x39;
}

/** Offset past the string whose text begins at `start`; the end of the text if the string is not closed. */
function endOfString(text: string, start: number): number {
  for (let at = start + 1; ; at++) {
    at = text.indexOf('"', at);
    if (at === -1) return text.length;
    let before = at;
    while (text.charCodeAt(before - 1) === BACKSLASH) before--;
    if ((at - before) % 2 === 0) return at + 1;
  }
}

function fits(number: string): boolean {
  const value = Number(number);
  if (!Number.isFinite(value)) return false;
  return Number.isSafeInteger(value) || !/^-?\d+$/.test(number) || BigInt(number) === BigInt(value);
}
