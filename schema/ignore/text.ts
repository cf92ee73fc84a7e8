import type { Problem } from "../../grammar/problem.ts";
import { notUtf8 } from "../encoding.ts";

/**
 * The problem of a .toolignore that was not saved as UTF-8, such as by the `>` of PowerShell: none of its patterns would
 * match, and what it leaves out would be deployed. Its text has U+FFFD in the place of bytes that are not UTF-8; UTF-16 without
 * a byte order mark is valid UTF-8 with a NUL for every other byte. Every other text is a list of patterns.
 */
export function ignoreProblems(text: string): readonly Problem[] {
  const at = text.search(/[\0\ufffd]/);
  return at < 0 ? [] : [notUtf8(at)];
}
