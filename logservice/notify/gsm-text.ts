/**
 * A text for one part of a text message, cut at the end: 160 characters of GSM 03.38. Signs outside of that become what they
 * look like, or "?". With a letter or a digit outside of it the message is UCS-2, of which a part has 70 units.
 */
export function cutToOnePart(text: string): string {
  const composed = [...text.normalize("NFC")];
  if (composed.some((character) => /[\p{L}\p{N}]/u.test(character) && gsmOf(character) === "?"))
    return cutToUcs2(composed);
  const characters = composed.flatMap((character) => [...gsmOf(character)]);
  if (lengthOf(characters) <= MAX_LENGTH) return characters.join("");
  let length = ENDING.length;
  const head = characters.filter((character) => {
    length += lengthOf([character]);
    return length <= MAX_LENGTH;
  });
  return `${head.join("").trimEnd()}${ENDING}`;
}

function cutToUcs2(characters: readonly string[]): string {
  const text = characters.join("");
  if (text.length <= MAX_UCS2) return text;
  let head = "";
  for (const character of characters) {
    if (head.length + character.length > MAX_UCS2 - 1) break;
    head += character;
  }
  return `${head.trimEnd()}…`;
}

const MAX_LENGTH = 160;
const MAX_UCS2 = 70;
/** GSM has no ellipsis. */
const ENDING = "...";

/** The alphabet without its control characters (3GPP TS 23.038, 6.2.1). */
const BASIC = new Set(
  " @£$¥èéùìòÇØøÅåΔ_ΦΓΛΩΠΨΣΘΞÆæßÉ!\"#¤%&'()*+,-./0123456789:;<=>?¡ABCDEFGHIJKLMNOPQRSTUVWXYZÄÖÑÜ§¿abcdefghijklmnopqrstuvwxyzäöñüà",
);
/** Each of these takes two places. */
const EXTENDED = new Set("^{}\\[~]|€");

const LOOKS: Readonly<Record<string, string>> = {
  "\u2018": "'",
  "\u2019": "'",
  "\u201c": '"',
  "\u201d": '"',
  "\u2013": "-",
  "\u2014": "-",
  "\u2026": "...",
  "\u00b5": "u",
  "\u03bc": "u",
  "`": "'",
};

function gsmOf(character: string): string {
  if (BASIC.has(character) || EXTENDED.has(character)) return character;
  const looks = LOOKS[character] ?? character.normalize("NFKD").replace(/\p{M}/gu, "");
  return looks !== "" && [...looks].every((one) => BASIC.has(one) || EXTENDED.has(one)) ? looks : "?";
}

function lengthOf(characters: readonly string[]): number {
  return characters.reduce((length, character) => length + (EXTENDED.has(character) ? 2 : 1), 0);
}
