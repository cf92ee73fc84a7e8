/** Texts of Latin letters, which nearly all are: a column for each character, without the cost of Unicode classes. */
const isSimple = (text: string) => !/[^\u0000-\u02ff\u2026\u2400-\u2426\ufffd]/.test(text);

/** Columns of a terminal that a text takes, without control characters in it. */
export function displayWidth(text: string): number {
  if (isSimple(text)) return text.length;
  let width = 0;
  for (const segment of graphemes(text)) width += graphemeWidth(segment);
  return width;
}

/** Text of at most so many columns, cut between characters as people see them, with an ellipsis if anything is cut. */
export function shortened(text: string, width: number): string {
  if (isSimple(text)) return text.length <= width ? text : ellipsis(text.slice(0, Math.max(0, width - 1)), width);
  let used = 0;
  let kept = "";
  for (const segment of graphemes(text)) {
    used += graphemeWidth(segment);
    if (used > width) return ellipsis(kept, width);
    if (used < width) kept += segment;
  }
  return text;
}

const ellipsis = (kept: string, width: number) => (width < 1 ? "" : `${kept}\u2026`);

export const padEnd = (text: string, width: number) => text + blanks(text, width);
export const padStart = (text: string, width: number) => blanks(text, width) + text;
const blanks = (text: string, width: number) => " ".repeat(Math.max(0, width - displayWidth(text)));

export const widest = (texts: readonly string[]) => texts.reduce((most, text) => Math.max(most, displayWidth(text)), 0);

let segmenter: Intl.Segmenter | undefined;

/** Characters that join others into one. The segmenter, which takes microseconds for each, is only used for them. */
const JOINING = /[\p{M}\p{Cf}\p{Extended_Pictographic}\p{Regional_Indicator}\u1100-\u11ff\ua960-\ua97c\ud7b0-\ud7ff]/u;

function graphemes(text: string): readonly string[] {
  if (!JOINING.test(text)) return Array.from(text);
  segmenter ??= new Intl.Segmenter("en", { granularity: "grapheme" });
  return Array.from(segmenter.segment(text), ({ segment }) => segment);
}

const FLAG = /^\p{Regional_Indicator}{2}$/u;
const EMOJI =
  /^(?!\p{Regional_Indicator})(?:\p{Emoji_Presentation}|\p{Extended_Pictographic}\ufe0f|[#*\d]\ufe0f?\u20e3)/u;
/** Combining marks, and the vowels and final consonants that complete a Hangul syllable. */
const NO_WIDTH = /[\p{Mn}\p{Me}\p{Cf}\u1160-\u11ff\ud7b0-\ud7ff]/u;
/** East Asian Width W and F of Unicode 16, without the emoji. */
const WIDE =
  /[\u1100-\u115f\u2329\u232a\u2630-\u2637\u268a-\u268f\u2e80-\u303e\u3041-\u3247\u3250-\ua4cf\ua960-\ua97c\uac00-\ud7a3\uf900-\ufaff\ufe10-\ufe19\ufe30-\ufe6f\uff01-\uff60\uffe0-\uffe6\u{16fe0}-\u{18dff}\u{1aff0}-\u{1b2ff}\u{1d300}-\u{1d376}\u{1f200}-\u{1f265}\u{20000}-\u{3fffd}]/u;

function graphemeWidth(grapheme: string): number {
  if (grapheme.length === 1 && grapheme < "\u0300") return 1;
  if (FLAG.test(grapheme) || EMOJI.test(grapheme)) return 2;
  let width = 0;
  for (const char of grapheme) width += NO_WIDTH.test(char) ? 0 : WIDE.test(char) ? 2 : 1;
  return width;
}
