// Numbers of JSON that float64 cannot hold become the texts of their digits, so that nothing is rounded without a word.

/**
 * Puts the numbers of JSON that do not fit in quotes, as written. Text that is not JSON does not become JSON: each number was
 * a token before.
 */
export function quoteNumbers(text: string, fits: (number: string) => boolean): string {
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

/** Offset past the JSON string whose text begins at `start`; the end of the text if the string is not closed. */
export function endOfString(text: string, start: number): number {
  for (let at = start + 1; ; at++) {
    at = text.indexOf('"', at);
    if (at === -1) return text.length;
    let before = at;
    while (text.charCodeAt(before - 1) === BACKSLASH) before--;
    if ((at - before) % 2 === 0) return at + 1;
  }
}

/**
 * JSON.parse, but numbers beyond the range of float64 (`1e400`) become the texts of their digits: there is no infinity among
 * the values of entries. Throws SyntaxError.
 */
export const parseFinite = (text: string): unknown =>
  JSON.parse(MAY_BE_INFINITE.test(text) ? quoteNumbers(text, (number) => Number.isFinite(Number(number))) : text);

/** A number with three digits of exponent, or so many of its own that two are enough. */
const MAY_BE_INFINITE = /[:,[\s]-?\d[\d.]*[eE]\+?\d{3}|[:,[\s]-?\d{200}/;
