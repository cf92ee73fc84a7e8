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
  readonly text: string;
  readonly isNegated: boolean;
}

/** The pattern of a line of .toolignore, without its exclamation mark; undefined for comments and empty lines. */
export function readPattern({ text, start }: Line): IgnorePattern | undefined {
  if (text.startsWith("#") || text.trim() === "") return undefined;
  const isNegated = text.startsWith("!");
  const pattern = text.slice(isNegated ? 1 : 0).trimEnd();
  const from = start + (isNegated ? 1 : 0);
  return { text: pattern, isNegated, start: from, end: from + pattern.length };
}

/** What a pattern does, in words. */
export function explainPattern({ text, isNegated }: IgnorePattern): string {
  const what =
    text === "*"
      ? "everything"
      : text.startsWith("./")
        ? `\`${text.slice(2)}\` of the project's own folder`
        : `every path that contains \`${text}\``;
  if (isNegated) return `Keeps ${what} in the deployment, whatever the lines before say.`;
  const more = text === "*" ? " Lines behind it that begin with `!` say what goes along." : "";
  return `Leaves ${what} out of the deployment.${more}`;
}
