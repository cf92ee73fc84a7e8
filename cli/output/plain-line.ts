import { stripVTControlCharacters } from "node:util";

/** A line that a program wrote, without colours and all else that a terminal would obey. */
export const plainLine = (text: string): string =>
  stripVTControlCharacters(text).replace(/[\p{Cc}\u2028\u2029]+/gu, " ");
