/** Long enough for a sentence, too short to fill a page. */
const MAX_CHARACTERS = 200;

/** Beside control characters: the ends of lines that are none, and what turns the direction of the text around it. */
const UNSAFE = /[\p{Cc}\p{Cs}\u2028\u2029\u200e\u200f\u202a-\u202e\u2066-\u2069]+/gu;

/** A provider's text as a message quotes it: short, on one line, without the secrets of the sign-in. */
export function quotedText(text: string, secrets: readonly string[]): string {
  const withoutSecrets = secrets.reduce(
    (rest, secret) => (secret === "" ? rest : rest.replaceAll(secret, "****")),
    text,
  );
  return `"${shortLine(withoutSecrets).replaceAll('"', "'")}"`;
}

/** A provider's text on one line, cut after 200 characters. */
export function shortLine(text: string): string {
  // Cut roughly first: the text may be a megabyte. A character has at most two code units.
  const line = text
    .slice(0, 4 * MAX_CHARACTERS)
    .replaceAll(UNSAFE, " ")
    .trim();
  const characters = [...line];
  return characters.length > MAX_CHARACTERS ? `${characters.slice(0, MAX_CHARACTERS - 1).join("")}…` : line;
}
