import type { Span } from "../../grammar/problem.ts";

export interface Line extends Span {
  readonly text: string;
}

/** The line around an offset, without its end. */
export function lineAt(text: string, offset: number): Line {
  const start = Math.max(text.lastIndexOf("\n", offset - 1), text.lastIndexOf("\r", offset - 1)) + 1;
  const [line = ""] = /^[^\r\n]*/.exec(text.slice(start))!;
  return { text: line, start, end: start + line.length };
}

export interface IgnorePattern extends Span {
  /** Without the exclamation mark and what the line ends with. */
  readonly text: string;
  readonly isNegated: boolean;
}

/**
 * The pattern of a line of .toolignore; undefined for comments and empty lines. Blanks at the end count if a backslash
 * precedes them, and `\#` and `\!` begin a name, as in a .gitignore.
 */
export function readPattern({ text, start }: Line): IgnorePattern | undefined {
  if (text.startsWith("#") || /^ *$/.test(text)) return undefined;
  const isNegated = text.startsWith("!");
  const pattern = withoutBlanks(text.slice(isNegated ? 1 : 0));
  const from = start + (isNegated ? 1 : 0);
  return { text: pattern, isNegated, start: from, end: from + pattern.length };
}

/** The effect of a pattern, in words. */
export function explainPattern({ text, isNegated }: IgnorePattern): string {
  const inProject = /^\.?\//.exec(text);
  const path = text.slice(inProject?.[0].length ?? 0);
  if (isNegated) {
    const where = inProject === null ? ", at any depth," : " of the project's own folder";
    const below = "unless a folder around it is left out";
    if (!path.endsWith("/")) return `Keeps \`${path}\`${where} in the deployment, ${below}.`;
    return `Keeps the folder \`${path}\`${where} in the deployment, ${below}. What is in it is up to the other lines: \`!${text}**\` keeps all of it.`;
  }
  const what =
    text === "*"
      ? "everything"
      : inProject !== null
        ? `\`${path}\` of the project's own folder`
        : `every path that contains \`${text}\``;
  const more = text === "*" ? " Lines after it that begin with `!` say what goes along." : "";
  return `Leaves ${what} out of the deployment.${more}`;
}

function withoutBlanks(text: string): string {
  const trimmed = text.replace(/ +$/, "");
  const backslashes = /\\*$/.exec(trimmed)![0].length;
  return backslashes % 2 === 1 ? text.slice(0, trimmed.length + 1) : trimmed;
}
