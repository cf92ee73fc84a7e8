import { isAbsolute, relative, sep } from "node:path";
import { pathToFileURL } from "node:url";
import { LineIndex, type Problem, type Span } from "../../grammar/problem.ts";

/** A file that was checked, and its problems. */
export interface CheckedFile {
  /** Absolute; undefined for stdin. */
  readonly path: string | undefined;
  readonly text: string;
  readonly problems: readonly Problem[];
}

/** Lines and columns from 1, columns in UTF-16 units; the end is past the last character. */
export interface Region {
  readonly startLine: number;
  readonly startColumn: number;
  readonly endLine: number;
  readonly endColumn: number;
}

/** Returns a function from spans to regions. A byte order mark takes no column: it is not part of the text. */
export function regionsOf(text: string): (span: Span) => Region {
  const lines = new LineIndex(text);
  const mark = text.startsWith("\ufeff") ? 1 : 0;
  const position = (offset: number) => {
    const { line, column } = lines.position(offset);
    return { line, column: line === 1 ? Math.max(1, column - mark) : column };
  };
  return ({ start, end }) => {
    const from = position(start);
    const to = position(end);
    return { startLine: from.line, startColumn: from.column, endLine: to.line, endColumn: to.column };
  };
}

/** The path from a folder down to a file, with `/` between names; undefined if the file is not below it. */
export function pathBelow(folder: string, path: string): string | undefined {
  const below = relative(folder, path);
  if (below === "" || isAbsolute(below) || below === ".." || below.startsWith(`..${sep}`)) return undefined;
  return below.split(sep).join("/");
}

/** A folder as the base URI of relative references: with a slash at the end. */
export function folderUri(folder: string): string {
  return pathToFileURL(folder.endsWith(sep) ? folder : folder + sep).href;
}
