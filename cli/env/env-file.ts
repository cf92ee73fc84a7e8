// A file of variables, as programs that load `.env` read it: NAME=VALUE lines, `export`, comments, single and double
// quotes over several lines. Where such programs disagree, or leave a line out without a word, this is an error. Pure.
import type { Problem } from "../../grammar/problem.ts";

export type EnvFile =
  | { readonly ok: true; readonly values: ReadonlyMap<string, string> }
  | { readonly ok: false; readonly problems: readonly Problem[] };

const LINE = /[^\S\n]*(?:export[^\S\n]+)?([^\s=#]*)[^\S\n]*(=?)[^\S\n]*/y;

/** Reads the text of a file. If a name comes twice, the last value counts, as in other programs. */
export function readEnvFile(text: string): EnvFile {
  const source = text.replace(/^\ufeff/, "").replace(/\r\n?/g, "\n");
  const values = new Map<string, string>();
  const problems: Problem[] = [];
  const fail = (code: string, [start, end]: readonly [number, number], message: string, hint: string) =>
    problems.push({ code: `env-file/${code}`, severity: "error", message, span: { start, end }, hint });
  let at = 0;
  while (at < source.length) {
    const endOfLine = lineEnd(source, at);
    const line = source.slice(at, endOfLine);
    if (/^\s*(#.*)?$/.test(line)) {
      at = endOfLine + 1;
      continue;
    }
    LINE.lastIndex = at;
    const [all = "", name = "", equals] = LINE.exec(source) ?? [];
    const begin = at + all.length;
    if (equals !== "=" || name === "") {
      fail(
        "no-assignment",
        [at, endOfLine],
        "this line is not NAME=VALUE",
        "write # before a comment, quote a value of several lines",
      );
      at = endOfLine + 1;
      continue;
    }
    const quote = source[begin];
    if (quote === '"' || quote === "'" || quote === "`") {
      const end = closing(source, begin, quote);
      if (end === -1) {
        fail(
          "unclosed-quote",
          [begin, begin + 1],
          `the value of ${name} has no closing ${quote}`,
          `write ${quote} at its end`,
        );
        break;
      }
      const after = lineEnd(source, end + 1);
      if (!/^\s*(#.*)?$/.test(source.slice(end + 1, after))) {
        fail("after-quote", [end + 1, after], `there is text after the value of ${name}`, "quote all of it");
      }
      const inside = source.slice(begin + 1, end);
      const twice = quote === '"' ? inside.indexOf("\\\\") : -1;
      if (twice >= 0) {
        const place = begin + 1 + twice;
        fail(
          "backslashes",
          [place, place + 2],
          `programs disagree on \\\\ in double quotes, in the value of ${name}`,
          "use single quotes",
        );
      }
      values.set(name, quote === '"' ? unescaped(inside) : inside);
      at = after + 1;
      continue;
    }
    const written = source.slice(begin, endOfLine);
    const comment = /(^|\s)#/.exec(written);
    const value = (comment === null ? written : written.slice(0, comment.index)).trim();
    const hash = value.indexOf("#");
    if (hash >= 0) {
      fail(
        "hash",
        [begin + hash, begin + hash + 1],
        `programs disagree whether # begins a comment in the value of ${name}`,
        "quote the value",
      );
    }
    values.set(name, value);
    at = endOfLine + 1;
  }
  return problems.length > 0 ? { ok: false, problems } : { ok: true, values };
}

function lineEnd(source: string, from: number): number {
  const end = source.indexOf("\n", from);
  return end === -1 ? source.length : end;
}

/** The place of the closing quote; in double quotes, \" is none. */
function closing(source: string, begin: number, quote: string): number {
  for (let i = begin + 1; i < source.length; i++) {
    if (source[i] === "\\" && quote === '"') i++;
    else if (source[i] === quote) return i;
  }
  return -1;
}

/** Double quotes: `\n` and `\r` are the characters, `\"` a quote; any other backslash stays. */
function unescaped(text: string): string {
  return text.replace(/\\([nr"])/g, (_, letter: string) => ({ n: "\n", r: "\r" })[letter] ?? letter);
}
