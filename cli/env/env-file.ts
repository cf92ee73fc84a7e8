// A file of variables, as programs that load `.env` read it: NAME=VALUE lines, `export`, comments, single and double
// quotes over several lines. Where such programs disagree, or leave a line out without a word, this is an error. Pure.
import type { Problem } from "../../grammar/problem.ts";
import { isVariableName, NAMES, namedProblem } from "./assignments.ts";

export type EnvFile =
  /** `leftOut` are names that the tool sets itself. */
  | { readonly ok: true; readonly values: ReadonlyMap<string, string>; readonly leftOut: readonly string[] }
  | { readonly ok: false; readonly problems: readonly Problem[] };

const LINE = /[^\S\n]*(?:export[^\S\n]+)?([^\s=#]*)[^\S\n]*(=?)[^\S\n]*/y;

/** Reads the text of a file; a JSON object of strings is one, too. */
export function readEnvFile(text: string): EnvFile {
  const source = text.replace(/^\ufeff/, "").replace(/\r\n?/g, "\n");
  if (/^\s*\{/.test(source)) return readJson(source);
  const values = new Map<string, string>();
  const problems: Problem[] = [];
  const set = (name: string, value: string, at: number) => {
    const problem = namedProblem(name);
    const span: [number, number] = [at, at + name.length];
    // A text with other characters than a name may be a part of a value.
    if (!isVariableName(name)) fail("name", span, "the name is not valid", NAMES);
    else if (values.has(name)) fail("duplicate", span, `${name} is set before, too`, "remove one of them");
    // A variable that is set for every app is in many files, and nothing is lost without it.
    else if (name === "PORT") leftOut.push(name);
    else if (problem !== undefined) fail("name", span, problem.message, problem.hint);
    values.set(name, value);
  };
  const leftOut: string[] = [];
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
        fail("unclosed-quote", [begin, begin + 1], `the value has no closing ${quote}`, `write ${quote} at its end`);
        break;
      }
      const after = lineEnd(source, end + 1);
      if (!/^\s*(#.*)?$/.test(source.slice(end + 1, after))) {
        fail("after-quote", [end + 1, after], "there is text after the closing quote", "quote all of it");
      }
      const inside = source.slice(begin + 1, end);
      const twice = quote === '"' ? inside.indexOf("\\\\") : -1;
      if (twice >= 0) {
        const place = begin + 1 + twice;
        fail("backslashes", [place, place + 2], "programs disagree on \\\\ in double quotes", "use single quotes");
      }
      set(name, quote === '"' ? unescaped(inside) : inside, at);
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
        "programs disagree whether # begins a comment here",
        "quote the value",
      );
    }
    set(name, value, at);
    at = endOfLine + 1;
  }
  for (const name of leftOut) values.delete(name);
  return problems.length > 0 ? { ok: false, problems } : { ok: true, values, leftOut };
}

/** Reads the document that `tool env export --format json` writes. */
function readJson(source: string): EnvFile {
  const fail = (message: string, hint: string): EnvFile => {
    const problem = { code: "env-file/json", severity: "error", message, span: { start: 0, end: 1 }, hint } as const;
    return { ok: false, problems: [problem] };
  };
  let document: unknown;
  try {
    document = JSON.parse(source);
  } catch {
    // The message of JSON.parse quotes the text.
    return fail("this is not JSON", 'write {"NAME": "value"}, or NAME=VALUE lines');
  }
  const entries = Object.entries(document as object);
  const other = entries.find(([, value]) => typeof value !== "string");
  if (other !== undefined) return fail("a value of the JSON object is not a string", "write all values as strings");
  const values = new Map((entries as [string, string][]).filter(([name]) => name !== "PORT"));
  const problem = [...values.keys()].map(namedProblem).find((one) => one !== undefined);
  if (problem !== undefined) return fail(problem.message, problem.hint);
  return { ok: true, values, leftOut: values.size < entries.length ? ["PORT"] : [] };
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
