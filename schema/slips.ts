import type { Span } from "../grammar/problem.ts";

/**
 * Where the closing quote was meant to be in a string token that has swallowed what follows: `"name: "` of
 * `"name: "app"`, or `"app, "` of `"app, "type": "server"`, or all of a line (`endsLine`). Undefined if the token is right.
 */
export function lostAfter(
  source: string,
  { start, end }: Span,
  { isKey, endsLine }: { readonly isKey: boolean; readonly endsLine: boolean },
): number | undefined {
  // Such a token is followed by the text that the next quote was meant to open.
  const next = isKey ? /^[^\s:,{}[\]]/ : /^[\w$/]/;
  if (!endsLine && (end - start > MAX_LINE || !next.test(source.slice(end, end + 1)))) return undefined;
  const raw = source.slice(start, end);
  const swallowed = isKey ? /^"[^"\\\s,{}[\]]+?(?=\s*:\s*[{[]?\s*"?\s*$)/ : /^"[^"\\]+?(?=\s*[}\]]*\s*,\s*[{[]?\s*"$)/;
  const meant = raw.length > MAX_LINE ? null : swallowed.exec(raw);
  if (meant !== null) return start + meant[0].length;
  // Closing brackets and the comma at the end of a line are none of it.
  return endsLine ? start + Math.max(1, raw.replace(/[\s,}\]]+$/, "").length) : undefined;
}

/**
 * End of a text whose opening quote is missing, as in `app",`: the offset of its closing quote. Undefined unless the line
 * has an odd number of quotes and the text is followed by what may follow a key or a value.
 */
export function lostBefore(source: string, start: number, what: "key" | "value"): number | undefined {
  const line = /^[^\r\n]*/.exec(source.slice(start, start + MAX_LINE))![0];
  if ((line.replace(/\\./g, "").match(/"/g)?.length ?? 0) % 2 === 0) return undefined;
  const text = (
    what === "key" ? /^[^"\\\s:,{}[\]]+(?="\s*:)/ : /^[\p{L}\p{N}_/#*.@$-](?:[^"\\{}[\]]|\\.)*(?="\s*(?:[,}\]]|$))/u
  ).exec(line);
  // Text that has been read as a comment is no part of it; https:// is.
  return text === null || /^[^\s:]*\s*\/[/*]/.test(text[0]) ? undefined : start + text[0].length;
}

// Lines written by hand are shorter; for longer ones nothing is guessed.
const MAX_LINE = 500;

/**
 * Words without quotes between a value and the comma, bracket or line end after it, such as `MB` in
 * `512 MB,`. A semicolon without a comma after it stands for one.
 */
export function strayAfter(
  source: string,
  offset: number,
): { readonly start: number; readonly end: number; readonly isComma: boolean } | undefined {
  STRAY.lastIndex = offset;
  const match = STRAY.exec(source);
  if (match === null) return undefined;
  const end = STRAY.lastIndex;
  const start = end - match[1]!.length;
  return { start, end, isComma: match[1] === ";" && /^\s*["']/.test(source.slice(end, end + MAX_LINE)) };
}

const STRAY = /[ \t]*(;(?=\s*["'}])|[^\s,:{}[\]"'/]+(?:[ \t]+[^\s,:{}[\]"'/]+)*(?=[ \t]*(?:[,}\]\r\n]|$)))/y;

/** How far a token is indented, if it is the first of its line; undefined if something precedes it. */
export function indentOf(source: string, offset: number): number | undefined {
  let start = offset;
  while (start > 0 && (source[start - 1] === " " || source[start - 1] === "\t")) start--;
  return start === 0 || source[start - 1] === "\n" || source[start - 1] === "\r" ? offset - start : undefined;
}

/** How far the line is indented that an offset is in. */
export function lineIndentOf(source: string, offset: number): number {
  let start = offset;
  while (start > 0 && source[start - 1] !== "\n" && source[start - 1] !== "\r") start--;
  return /^[ \t]*/.exec(source.slice(start, offset))![0].length;
}

/** Whether the token that ends at an offset is a name: a colon and a value follow, and no other name. */
export const isKeyName = (source: string, end: number) =>
  isBeforeColon(source.charCodeAt(end)) &&
  /^[ \t]*:\s*(?!"[^"\\\r\n]*"[ \t]*:)["\w{[-]/.test(source.slice(end, end + MAX_NAMED));

// Nobody aligns colons further, and names of settings are shorter.
const MAX_NAMED = 60;

/** A comma, colon, closing bracket, blank or line end, or the end of the text. */
export const isSeparator = (code: number) =>
  code === 44 || code === 58 || code === 93 || code === 125 || code <= 32 || Number.isNaN(code);

const isBeforeColon = (code: number) => code === 58 || code === 32 || code === 9;
