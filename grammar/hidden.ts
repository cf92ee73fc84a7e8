/**
 * Characters that nobody sees, or that turn the order of a text around, as the inside of a class of a regular expression
 * with `u`: controls, formatting characters, letters and marks that are blank. Joiners of emoji and scripts (U+200C, U+200D)
 * and the selectors of variants are none: a text looks otherwise without them.
 */
export const HIDDEN =
  "\\p{Cc}\\u00ad\\u034f\\u061c\\u115f\\u1160\\u17b4\\u17b5\\u180b-\\u180e\\u200b\\u200e\\u200f\\u2028-\\u202e\\u2060-\\u206f" +
  "\\u3164\\ufeff\\uffa0\\ufff9-\\ufffb\\u{e0001}\\u{e0020}-\\u{e007f}";
