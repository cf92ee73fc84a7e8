import { type Parsed, type Problem, quote } from "../grammar/problem.ts";

/** Whether a text is what the glob describes. */
export type Glob = (text: string) => boolean;

/**
 * Compiles a glob over plain names (there is no path in it): `*` any characters, `?` one, `[abc]`, `[a-c]` and `[!abc]`
 * one of a set, `{a,b}` alternatives, not nested; `\` takes the next character as it is. Problems: `config/glob`.
 */
export function parseGlob(source: string): Parsed<Glob> {
  const problems: Problem[] = [];
  const problem = (start: number, end: number, message: string, hint: string) =>
    problems.push({ code: "config/glob", severity: "error", message, hint, span: { start, end } });
  let pattern = "";
  let braceAt: number | undefined;
  for (let i = 0; i < source.length; i++) {
    const char = source[i]!;
    if (char === "*") {
      // Stars in a row say no more than one, and cost much more in a regular expression.
      if (source[i - 1] !== "*" || source[i - 2] === "\\") pattern += ".*";
    } else if (char === "?") pattern += ".";
    else if (char === "\\" && i + 1 < source.length) pattern += literal(source[++i]!);
    else if (char === "[") {
      const set = /^\[(!?)([^\]]+)\]/.exec(source.slice(i));
      if (set === null) {
        problem(i, i + 1, `"[" is never closed in ${quote(source)}`, "write a set such as [abc]");
        break;
      }
      pattern += `[${set[1] ? "^" : ""}${set[2]!.replace(/[\\^[\]]/g, "\\$&").replace(/^-|-$/g, "\\-")}]`;
      i += set[0].length - 1;
    } else if (char === "{" && braceAt === undefined) {
      braceAt = i;
      pattern += "(?:";
    } else if (char === "}" && braceAt !== undefined) {
      braceAt = undefined;
      pattern += ")";
    } else if (char === "," && braceAt !== undefined) pattern += "|";
    else pattern += literal(char);
  }
  if (braceAt !== undefined && problems.length === 0) {
    problem(braceAt, braceAt + 1, `"{" is never closed in ${quote(source)}`, "write alternatives such as {a,b}");
  }
  if (problems.length > 0) return { ok: false, problems };
  try {
    const regexp = new RegExp(`^${pattern}$`, "s");
    return { ok: true, value: (text) => regexp.test(text) };
  } catch {
    problem(
      0,
      source.length,
      `${quote(source)} is not a glob pattern`,
      "a range such as [a-c] goes from the lesser to the greater",
    );
    return { ok: false, problems };
  }
}

const literal = (char: string) => char.replace(/[\\^$.*+?()[\]{}|/]/, "\\$&");
