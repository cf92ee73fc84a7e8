/**
 * A text that others chose, such as the name of a team, for one line of a page or mail. Control characters and halves of
 * surrogate pairs become U+FFFD. Characters without a shape of their own are removed: they turn the reading order round or
 * make two names look the same. Longer texts are cut to `maxLength` characters, the last one an ellipsis.
 */
export function shownText(text: string, maxLength: number = MAX_LENGTH): string {
  // Nothing after this is shown anyway, and a text may have megabytes.
  const start = text.slice(0, maxLength * REACH).normalize("NFC");
  const line = start
    .replace(/[\p{Cf}\p{Default_Ignorable_Code_Point}]/gu, "")
    .replace(/\s+/g, " ")
    .replace(/[\p{Cc}\p{Cs}\p{Co}]/gu, "\ufffd")
    .replace(/(\p{M}{4})\p{M}+/gu, "$1")
    .trim();
  const characters = [...line];
  return characters.length > maxLength ? `${characters.slice(0, maxLength - 1).join("")}…` : line;
}

/**
 * A text for a mail to somebody whom its author may not know: clients of mail make links of hosts, addresses and URLs, and a
 * stranger could lead people to a site of their choice. What links are made by becomes a space; versions keep their dots.
 */
export function unlinkedText(text: string): string {
  return shownText(shownText(text).replace(/[:/\\@\uff20]+|[.\u3002\uff0e\uff61](?=\p{L})/gu, " "));
}

/** Enough for the names that people choose, and one line of a mail. */
const MAX_LENGTH = 80;

/** A character that is shown may follow some that are removed. */
const REACH = 8;

/** Whether a client of mail may make a link of a part of the text: it has a host, an address or a URL in it. */
export function looksLikeLink(text: string): boolean {
  return /[\p{L}\p{N}_-][.\u3002\uff0e\uff61][\p{L}\p{N}]|:\/\/|[@\uff20]|\b(?:mailto|tel|https?|javascript|data):/iu.test(
    text,
  );
}
