import { createHash, randomBytes } from "node:crypto";
import { crc32 } from "node:zlib";

/** Tells people and scanners for leaked secrets what it is. */
const TOKEN_PREFIX = "lgs_";
const LETTERS = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
/** 62^32 is 2^190. */
const RANDOM_LENGTH = 32;
/** 62^6 is more than 2^32. */
const CHECKSUM_LENGTH = 6;

/** A new token: `lgs_`, 32 random letters and digits, and a checksum of 6. `random` gives the bytes that it is made of. */
export function newToken(random: () => Buffer = () => randomBytes(RANDOM_LENGTH)): string {
  let text = TOKEN_PREFIX;
  while (text.length < TOKEN_PREFIX.length + RANDOM_LENGTH) {
    // Bytes past the last multiple of 62 would make the first letters more frequent.
    for (const byte of random()) {
      if (byte < 248 && text.length < TOKEN_PREFIX.length + RANDOM_LENGTH) text += LETTERS[byte % LETTERS.length];
    }
  }
  return text + checksum(text);
}

/** Whether a text has the form and the checksum of a token: detects typos and truncation without a lookup. */
export function isTokenText(text: string): boolean {
  if (!/^lgs_[0-9A-Za-z]{38}$/.test(text)) return false;
  const body = text.slice(0, -CHECKSUM_LENGTH);
  return checksum(body) === text.slice(-CHECKSUM_LENGTH);
}

/** Returns the hash that is stored of a token. A token has enough entropy for a plain hash. */
export function tokenHash(token: string): string {
  return createHash("sha256").update(token).digest("hex");
}

function checksum(text: string): string {
  let rest = crc32(text);
  let digits = "";
  for (let i = 0; i < CHECKSUM_LENGTH; i++) {
    digits = LETTERS[rest % LETTERS.length] + digits;
    rest = Math.floor(rest / LETTERS.length);
  }
  return digits;
}
