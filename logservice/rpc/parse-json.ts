import { RpcError } from "../error.ts";

/**
 * A JSON text as a value. Numbers that float64 cannot hold (whole ones beyond 2^53 that it would round, and those beyond
 * its range) become texts of their digits. Throws `bad_request`.
 */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(MAY_HOLD_LARGE_NUMBERS.test(text) ? quoteLargeNumbers(text) : text);
  } catch (error) {
    // The parser's words quote the text, which may hold anything.
    throw new RpcError("bad_request", "the body is not valid JSON", { cause: error });
  }
}

/** Sixteen digits that do not follow a point: fractions are often as long. */
const MAY_HOLD_LARGE_NUMBERS = /(?<![.\d])\d{16}|[eE]\+?\d{3}/;

/** Text that is no JSON stays none: only whole numbers are touched, and quotes go around what was one token before. */
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

/** Behind the quote that ends the string that begins at `start`; the end of the text where there is none. */
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
