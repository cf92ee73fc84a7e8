import { applyEdits, editsTogether, type Parsed, type Problem } from "../../problem.ts";
import type { Query } from "../ast.ts";
import { levelOf } from "../levels.ts";
import { isMessageWord } from "../place.ts";
import * as problems from "../problems.ts";
import { tokenize } from "../tokens.ts";

/**
 * Recognizes a text that is a query of another language as a whole: one problem, with the same query in ours if what it
 * selects can be translated. Undefined for anything else. This removes the text around the condition; the condition is
 * then fixed like any other text (slips.ts), until `parse` accepts it.
 */
export function foreignQueryProblem(source: string, parse: (source: string) => Parsed<Query>): Problem | undefined {
  const text = source.trim();
  if (text.length > MAX_FOREIGN_LENGTH) return undefined;
  for (const { language, condition } of LANGUAGES) {
    const translation = condition(text);
    if (translation === undefined) continue;
    const start = source.indexOf(text);
    const span = { start, end: start + text.length };
    const write = translation.text.trim() === "" ? undefined : mend(translation.text, parse);
    const dropped = translation.dropped.length === 0 ? "" : `; left out: ${translation.dropped.join(", ")}`;
    const hint = write === undefined ? "write the condition alone, such as status >= 500" : `write ${write}${dropped}`;
    return problems.foreignQuery(span, language, write, hint);
  }
  return undefined;
}

// Longer than what anyone copies from elsewhere; bounds the time of the expressions below.
export const MAX_FOREIGN_LENGTH = 2000;

/** Applies fixes until the text is a query. Undefined if one is missing. */
export function mend(text: string, parse: (source: string) => Parsed<unknown>): string | undefined {
  let mended = text.trim();
  for (let round = 0; round < MAX_ROUNDS; round++) {
    const result = parse(mended);
    if (result.ok) return mended;
    const edits = editsTogether(result.problems);
    if (edits.length === 0) return undefined;
    mended = applyEdits(mended, edits).trim();
  }
  return undefined;
}

// Each round mends up to five slips.
const MAX_ROUNDS = 8;

export interface TranslatedCondition {
  readonly text: string;
  /** The parts that select nothing, such as a sort. */
  readonly dropped: readonly string[];
}

interface Language {
  readonly language: string;
  readonly condition: (text: string) => TranslatedCondition | undefined;
}

const LANGUAGES: readonly Language[] = [
  { language: "a JSON object", condition: json },
  { language: "SQL", condition: sqlCondition },
  { language: "a query of Loki", condition: loki },
  { language: "a filter pattern of CloudWatch", condition: filterPattern },
  { language: "a filter of jq", condition: jq },
  { language: "a query of CloudWatch Logs Insights", condition: insights },
  { language: "a query in stages, as Splunk and Kusto have it", condition: pipeline },
];

/** `{"status": 500}` */
function json(text: string): TranslatedCondition | undefined {
  if (!/^\{\s*"/.test(text)) return undefined;
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return undefined;
  }
  const terms: string[] = [];
  for (const [key, element] of Object.entries(value as object)) {
    if (typeof element === "object" && element !== null) return { text: "", dropped: [] };
    const field = /^[A-Za-z_]\w*$/.test(key) ? key : `fields[${JSON.stringify(key)}]`;
    terms.push(`${field} = ${JSON.stringify(element)}`);
  }
  return { text: terms.join(" and "), dropped: [] };
}

export function sqlCondition(text: string): TranslatedCondition | undefined {
  if (/^select\s[\s\S]*\sfrom\s/i.test(text) && !/\swhere\s/i.test(text)) return { text: "", dropped: [] };
  const match =
    /^(?:select\s[\s\S]*?\s)?where\s+([\s\S]+?)((?:\s+(?:group|order)\s+by\s[\s\S]*|\s+limit\s+\d+)?)\s*;?$/i.exec(
      text,
    );
  if (match === null || /^where\s*(?:[=<>~!.[:]|in\b|contains\b|and\b|or\b)/i.test(text)) return undefined;
  if (topLevel(text, "|").length > 1) return undefined;
  const tail = match[2]!.trim().split(/\s/)[0]!.toLowerCase();
  return { text: outsideQuotes(match[1]!, words), dropped: tail === "" ? [] : [tail] };
}

/** `{app="web", env!="dev"} |= "timeout" != "retry" |~ "5.." | json | status >= 500` */
export function loki(whole: string): TranslatedCondition | undefined {
  // sum by (path) (rate({app="web"} |= "x" [5m])): the streams that are counted
  const metric = /^(?:\w+\s*(?:(?:by|without)\s*\([^()]*\)\s*)?\(\s*)+(\{[\s\S]*?)\s*\[\d+\w*\]\s*\)[\s\S]*$/.exec(
    whole,
  );
  const text = metric?.[1] ?? whole;
  const match = /^\{\s*([\w.]+\s*(?:=~|!~|!=|=)\s*["`][^{}]*)\}([\s\S]*)$/.exec(text);
  if (match === null) return undefined;
  const labels = topLevel(match[1]!, ",").map((label) => label.trim());
  const terms = labels.filter((label) => label !== "").map((label) => label.replaceAll("`", '"'));
  const dropped: string[] = metric === null ? [] : [/\w+(?=\s*\(\s*\{)/.exec(whole)![0]];
  let rest = match[2]!.trim();
  while (rest !== "") {
    const line = /^(\|=|!=|\|~|!~)\s*("(?:[^"\\]|\\.)*"|`[^`]*`)\s*/.exec(rest);
    if (line !== null) {
      const inner = line[2]!.slice(1, -1);
      const operator = line[1]!;
      const not = operator.startsWith("!") ? "not " : "";
      // Double quotes escape the backslashes of an expression, backticks do not.
      const regex = line[2]!.startsWith("`") ? inner : inner.replaceAll("\\\\", "\\");
      terms.push(operator.endsWith("~") ? `${not}message ~ /${slashed(regex)}/` : `${not}message contains "${inner}"`);
      rest = rest.slice(line[0].length);
      continue;
    }
    if (!rest.startsWith("|")) return { text: "", dropped };
    const [pipe = ""] = topLevel(rest.slice(1), "|");
    rest = rest.slice(1 + pipe.length).trim();
    if (/^\s*(?:json|logfmt|unpack|pattern|regexp|line_format|label_format)\b/.test(pipe)) dropped.push(word(pipe));
    else terms.push(pipe.trim());
  }
  return { text: terms.join(" and "), dropped };
}

/** `{ $.status = 500 && $.path = "/x*" }` */
function filterPattern(text: string): TranslatedCondition | undefined {
  const match = /^\{\s*([!(\s]*\$\.[\s\S]*)\}$/.exec(text);
  if (match === null) return undefined;
  const condition = outsideQuotes(match[1]!, (part) =>
    part
      .replace(/\$\.([^\s=!<>()&|]+)\s+NOT\s+EXISTS\b/gi, "not exists $1")
      .replace(/\$\.([^\s=!<>()&|]+)\s+EXISTS\b/gi, "exists $1")
      .replace(
        /\$\.([^\s=!<>()&|]+)\s+IS\s+(NULL|TRUE|FALSE)\b/gi,
        (_, name, value) => `${name} = ${value.toLowerCase()}`,
      )
      .replace(/!=\s*%([^%]*)%/g, (_, regex) => `!~ /${slashed(regex)}/`)
      .replace(/=\s*%([^%]*)%/g, (_, regex) => `~ /${slashed(regex)}/`)
      .replace(/\$\./g, ""),
  );
  return { text: condition, dropped: [] };
}

/** `.[] | select(.status >= 500 and (.path | test("x")))` */
export function jq(text: string): TranslatedCondition | undefined {
  const match = /^(?:\.(?:\[\])?\s*\|\s*)?(?:map\(\s*)?select\(([\s\S]*)\)\s*((?:\|[\s\S]*)?)$/.exec(text);
  if (match === null) return undefined;
  let inner = match[1]!;
  if (/^(?:\.\[?\]?\s*\|\s*)?map\(/.test(text)) inner = inner.replace(/\)\s*$/, "");
  const condition = inner
    .replace(
      /\(?(\.[\w.]+)\s*\|\s*(test|contains|startswith|endswith)\(\s*("(?:[^"\\]|\\.)*")\s*(?:;\s*"(\w+)"\s*)?\)\)?/g,
      (all, ...[path, name, value, flags = ""]: [path: string, name: string, value: string, flags?: string]) => {
        const field = path.slice(1);
        const literal = value.slice(1, -1);
        const close = all.startsWith("(") || !all.endsWith("))") ? "" : ")";
        if (name === "test") return `${field} ~ /${slashed(literal.replaceAll("\\\\", "\\"))}/${flags}${close}`;
        if (name === "contains") return `${field} contains ${value}${close}`;
        return `${field} = "${name === "startswith" ? `${literal}*` : `*${literal}`}"${close}`;
      },
    )
    .replace(/\|\s*not\b/g, "");
  if (/\|\s*not\b/.test(inner)) return { text: `not (${outsideQuotes(condition, plainPaths)})`, dropped: [] };
  return { text: outsideQuotes(condition, plainPaths), dropped: match[2] === "" ? [] : [word(match[2]!.slice(1))] };
}

const plainPaths = (part: string) => part.replace(/(^|[\s(!])\.(?=[A-Za-z_@$])/g, "$1");

/** `fields @timestamp, @message | filter status = 500 and @message like /x/ | sort @timestamp desc` */
function insights(text: string): TranslatedCondition | undefined {
  const pipes = topLevel(text, "|").map((pipe) => pipe.trim());
  if (!/^(?:fields|filter|stats|display|parse|source)\s/i.test(pipes[0]!)) return undefined;
  if (/^\w+\s*(?:[=<>~!.[:]|in\b|contains\b|and\b|or\b)/i.test(pipes[0]!)) return undefined;
  // Two names side by side are a query of ours too; commas, @ and stages are not.
  if (pipes.length === 1 && /^fields\s/i.test(text) && !/[,@]/.test(text)) return undefined;
  return pipesOf(pipes);
}

/** KQL and Splunk: `logs | where status >= 500 | take 10`, `index=main status=500 | stats count` */
function pipeline(text: string): TranslatedCondition | undefined {
  const pipes = topLevel(text, "|").map((pipe) => pipe.trim());
  const verb =
    /^(?:where|search|filter|take|top|limit|head|tail|sort|order|project|extend|summarize|stats|table|fields|count|dedup|eval|timechart|e?grep|rg|jq|wc|less|more|uniq|cut|awk)\b/i;
  if (pipes.length === 1) {
    const grep = grepped(pipes[0]!);
    if (grep !== undefined) return { text: grep, dropped: [] };
    const search = /^search\s+(?![=<>~!.[:]|in\b|contains\b|and\b|or\b)([\s\S]+)$/i.exec(text);
    if (search === null) return undefined;
    const word = search[1]!.trim();
    // A word of the text there, the name of a field here.
    if (isMessageWord(word)) return { text: `message contains "${word}"`, dropped: [] };
    return { text: outsideQuotes(search[1]!, words), dropped: [] };
  }
  if (!pipes.slice(1).some((pipe) => verb.test(pipe))) return undefined;
  // The bars may be in the text that is never closed.
  if (tokenize(text).some(({ kind }) => kind.startsWith("unclosed"))) return undefined;
  // The first is a table's name, or Splunk's search.
  const isTable = /^[\w.]*$/.test(pipes[0]!) && levelOf(pipes[0]!) === undefined;
  const first = isTable ? [] : [`where ${pipes[0]!.replace(/^search\s+/i, "")}`];
  return pipesOf([...first, ...pipes.slice(1)]);
}

function pipesOf(pipes: readonly string[]): TranslatedCondition {
  const conditions: string[] = [];
  const dropped: string[] = [];
  for (const pipe of pipes) {
    const grep = grepped(pipe);
    const match = /^(?:filter|where|search)\s+([\s\S]+)$/i.exec(pipe);
    if (grep !== undefined) conditions.push(grep);
    else if (match === null) dropped.push(word(pipe));
    else conditions.push(outsideQuotes(match[1]!, words));
  }
  const several = conditions.length > 1;
  const text = conditions.map((one) => (several && /\bor\b|\|\|/i.test(one) ? `(${one})` : one)).join(" and ");
  return { text, dropped: dropped.filter((pipe) => pipe !== "") };
}

/** `grep -i "timed out"` as a term; undefined for anything else. */
export function grepped(pipe: string): string | undefined {
  const match = /^(?:e?grep|rg)\s+((?:-[a-zA-Z]+\s+)*)(?:"([^"\\]+)"|'([^'"\\]+)'|([^\s"'\\|]+))\s*$/.exec(pipe);
  if (match === null) return undefined;
  const [, flags = "", double, single, bare] = match;
  const text = double ?? single ?? bare!;
  const not = /-\w*v/.test(flags) ? "not " : "";
  if (!/-\w*i/.test(flags)) return `${not}message contains "${text}"`;
  return `${not}message ~ /${text.replace(/[.*+?^${}()|[\]/]/g, "\\$&")}/i`;
}

/** Spellings that other languages share. */
export const words = (part: string) =>
  part
    .replace(/@(timestamp|message)\b/g, "$1")
    .replace(/\b(and|or|not|in|contains)\b/gi, (keyword) => keyword.toLowerCase())
    .replace(/\bin~/g, "in")
    .replace(/\btrue\b|\bfalse\b|\bnull\b/gi, (value) => value.toLowerCase());

/** Rewrites the text outside quotes and regular expressions. */
export function outsideQuotes(text: string, rewrite: (part: string) => string): string {
  let result = "";
  let at = 0;
  for (const quoted of text.matchAll(QUOTED)) {
    result += rewrite(text.slice(at, quoted.index)) + quoted[0];
    at = quoted.index + quoted[0].length;
  }
  return result + rewrite(text.slice(at));
}

/** Splits at a character outside quotes, parentheses and regular expressions; `||` is no `|`. */
export function topLevel(text: string, separator: string): string[] {
  const plain = text.replace(QUOTED, (quoted) => "_".repeat(quoted.length)).replace(/\|\||\|[=~]/g, "__");
  const parts: string[] = [];
  let depth = 0;
  let start = 0;
  for (let at = 0; at < plain.length; at++) {
    const char = plain[at]!;
    if (char === "(") depth++;
    else if (char === ")") depth--;
    else if (char === separator && depth <= 0) {
      parts.push(text.slice(start, at));
      start = at + 1;
    }
  }
  parts.push(text.slice(start));
  return parts;
}

const QUOTED = /"(?:[^"\\]|\\.)*"|'[^']*'|`[^`]*`|(?<=(?:~|like|regex)\s*)\/(?:[^/\\\n]|\\.)+\//gi;

export const word = (pipe: string) => /^\s*(\w*)/.exec(pipe)![1]!;
const slashed = (regex: string) => regex.replace(/(^|[^\\])\//g, "$1\\/");
