/**
 * A text for one part of a text message: 160 characters of GSM 03.38, cut at the end. Other characters would make the whole
 * message UCS-2, of which a part has 70: they become what they look like, or "?".
 */
export function cutToGsm(text: string): string {
  const characters = [...text.normalize("NFC")].flatMap((character) => [...gsmOf(character)]);
  if (lengthOf(characters) <= MAX_LENGTH) return characters.join("");
  let length = ENDING.length;
  const kept = characters.filter((character) => {
    length += lengthOf([character]);
    return length <= MAX_LENGTH;
  });
  return `${kept.join("").trimEnd()}${ENDING}`;
}

const MAX_LENGTH = 160;
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
