/**
 * A path in the form that patterns are compared with: one character per thing that counts. Percent-encoding is undone,
 * except where decoding would change the meaning: `%2F` and `%5C` are not separators, and bytes that are not UTF-8 have
 * no character. Each of these stays one character of its own, KEPT + byte. Percent signs without two hexadecimal digits
 * stand for themselves.
 */
export interface NormalPath {
  readonly text: string;
  /** For each character of `text`, and for its end, where it starts in the path as sent; undefined: at the same place. */
  readonly offsets: readonly number[] | undefined;
}

// A slice of the private use area. Characters of this slice in a path are kept as bytes themselves, so that no two
// different paths become one text.
const KEPT = 0xf700;
const SLASH = 0x2f;
const BACKSLASH = 0x5c;

/** Never throws, whatever the client sent. */
export function normalizePath(path: string): NormalPath {
  if (!/[%\uf700-\uf7ff]/.test(path)) return { text: path, offsets: undefined };
  const offsets: number[] = [];
  let text = "";
  const push = (character: string, at: number) => {
    for (let i = 0; i < character.length; i++) offsets.push(at);
    text += character;
  };
  for (let i = 0; i < path.length; ) {
    const code = path.charCodeAt(i);
    if (isKept(code)) {
      for (const byte of utf8(code)) push(String.fromCharCode(KEPT + byte), i);
      i++;
      continue;
    }
    const byte = byteAt(path, i);
    if (byte === undefined) {
      push(path[i]!, i);
      i++;
      continue;
    }
    const decoded = decodeAt(path, i, byte);
    if (decoded === undefined || decoded.code === SLASH || decoded.code === BACKSLASH || isKept(decoded.code)) {
      push(String.fromCharCode(KEPT + byte), i);
      i += 3;
    } else {
      push(String.fromCodePoint(decoded.code), i);
      i += 3 * decoded.length;
    }
  }
  offsets.push(path.length);
  return { text, offsets };
}

/** Normal text for messages and syntax trees: kept bytes as `%2F`, the percent sign as `%25`. */
export function encodeKept(text: string): string {
  return text.replace(/[%\uf700-\uf7ff]/g, (character) =>
    character === "%" ? "%25" : percentByte(character.charCodeAt(0) - KEPT),
  );
}

/** UTF-8 bytes of a code point. */
function utf8(code: number): readonly number[] {
  if (code < 0x80) return [code];
  if (code < 0x800) return [0xc0 | (code >> 6), 0x80 | (code & 63)];
  if (code < 0x10000) return [0xe0 | (code >> 12), 0x80 | ((code >> 6) & 63), 0x80 | (code & 63)];
  return [0xf0 | (code >> 18), 0x80 | ((code >> 12) & 63), 0x80 | ((code >> 6) & 63), 0x80 | (code & 63)];
}

/** `%2F` for 0x2f. */
function percentByte(byte: number): string {
  return `%${byte < 16 ? "0" : ""}${byte.toString(16).toUpperCase()}`;
}

/** A code point as a URL carries it. A lone surrogate has no bytes and becomes U+FFFD. */
export function percentEncode(character: string): string {
  const code = character.codePointAt(0)!;
  return utf8(code >= 0xd800 && code <= 0xdfff ? 0xfffd : code)
    .map(percentByte)
    .join("");
}

function isKept(code: number): boolean {
  return code >= KEPT && code <= KEPT + 0xff;
}

/** The byte that `%XX` at `at` stands for. */
function byteAt(path: string, at: number): number | undefined {
  if (path.charCodeAt(at) !== 0x25) return undefined;
  const high = hexValue(path.charCodeAt(at + 1));
  const low = hexValue(path.charCodeAt(at + 2));
  return high < 0 || low < 0 ? undefined : high * 16 + low;
}

// NaN, past the end of the text, is not a digit either.
function hexValue(code: number): number {
  if (code >= 0x30 && code <= 0x39) return code - 0x30;
  const lower = code | 0x20;
  return lower >= 0x61 && lower <= 0x66 ? lower - 0x57 : -1;
}

/** The character whose percent-encoded UTF-8 starts at `at` with `lead`, and of how many bytes it is made (RFC 3629). */
function decodeAt(path: string, at: number, lead: number): { code: number; length: number } | undefined {
  if (lead < 0x80) return { code: lead, length: 1 };
  const length =
    lead >= 0xc2 && lead < 0xe0 ? 2 : lead >= 0xe0 && lead < 0xf0 ? 3 : lead >= 0xf0 && lead < 0xf5 ? 4 : 0;
  if (length === 0) return undefined;
  let code = lead & (0xff >> (length + 1));
  for (let i = 1; i < length; i++) {
    const byte = byteAt(path, at + 3 * i);
    if (byte === undefined || (byte & 0xc0) !== 0x80) return undefined;
    code = (code << 6) | (byte & 63);
  }
  // Overlong forms, halves of surrogate pairs, past the end of Unicode.
  const shortest = length === 2 ? 0x80 : length === 3 ? 0x800 : 0x10000;
  if (code < shortest || (code >= 0xd800 && code <= 0xdfff) || code > 0x10ffff) return undefined;
  return { code, length };
}
