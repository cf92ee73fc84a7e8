import { grepped, outsideQuotes, topLevel, words } from "../../meant/foreign-query.ts";
import { PIPE_WORDS } from "../../pipe-words.ts";
import { givesRows } from "../pipe-facts.ts";
import { foreignColumn, foreignColumns, foreignSummary, type Names, stepOf, summaryPipe } from "./foreign-functions.ts";

/** A stage of another language by the text after its word: stages of ours that mean the same; undefined if there are none. */
type Translate = (rest: string, names: Names, isKusto: boolean) => readonly string[] | undefined;

/** The same in ours for a stage of any other language: `order by count_ desc`, `stats by (path) count() hits`. */
export function translatePipe(pipe: string, names: Names, isKusto: boolean): readonly string[] | undefined {
  const [, word = "", rest = ""] = /^\s*([\w-]*)([\s\S]*)$/.exec(pipe)!;
  const translate = Object.hasOwn(PIPES, word.toLowerCase()) ? PIPES[word.toLowerCase()]! : undefined;
  if (translate !== undefined) return translate(rest.trim(), names, isKusto);
  // Loki filters without a word, angle-grinder computes without one.
  // A text alone is anywhere in the line.
  const text = /^\s*"([^"*\\]+)"\s*$/.exec(pipe)?.[1];
  if (text !== undefined) return [`where "*${text}*"`];
  const summary = /^\s*\w+\s*\(/.test(pipe) ? foreignSummary(pipe, names) : undefined;
  if (summary !== undefined) return [summaryPipe(summary)];
  return /^\s*(?:[@\w.]+\s*(?:[=<>!~]|\b(?:in|contains|like)\b)|\(|not\b)/i.test(pipe) ? where(pipe, names) : undefined;
}

/** Whether what follows a stage that is left out means something else without it. */
export const changesRows = (pipe: string) =>
  !/^\s*(?:eval|extend|parse|rex|regexp?|extract|logfmt|unpack|label_format|line_format|pattern|render|fillnull|rename|project-rename|format|math|replace|let|fields|display|project|sort|order)\b/i.test(
    pipe,
  );

/** Names that a stage computes: `eval x = ...`, `parse "..." as a, b`, `(?<name>...)`. */
export function computedBy(pipe: string): string[] {
  const names = [...pipe.matchAll(/(\w+)\s*=(?![=~])|\(\?P?<(\w+)>|\bas\s+(\w+)/g)].map(
    (match) => match[1] ?? match[2] ?? match[3]!,
  );
  const last = /\bas\s+([\w\s,]+)$/.exec(pipe)?.[1] ?? "";
  return [...names, ...last.split(/[\s,]+/).filter((name) => name !== "")];
}

function where(text: string, names: Names): readonly string[] | undefined {
  const written = outsideQuotes(words(text.trim()), (part) =>
    part
      .replace(/\bago\((\d+\w+)\)/g, "$1")
      .replace(/([\w.]+)\s+between\s*\(([^().]+)\.\.([^().]+)\)/g, "$1 >= $2 and $1 <= $3")
      .replace(
        /[@\w]+(?:\([^()]*\)|(?=\s*(?:[=<>!~]|in\b|contains\b|like\b)))/g,
        (name) => foreignColumn(name, names) ?? name,
      ),
  );
  const computed = written.match(/\w+/g)?.some((name) => names.computed.has(name));
  return written === "" || computed ? undefined : [`where ${written}`];
}

function stats(rest: string, names: Names): readonly string[] | undefined {
  const summary = foreignSummary(rest, names);
  return summary && [summaryPipe(summary)];
}

/** `count by path`, `count as n by path`, of Kusto `count` alone; angle-grinder's `sum(x) by y` is read like it. */
function count(rest: string, names: Names): readonly string[] | undefined {
  return stats(`count ${rest}`, names);
}

function timechart(rest: string, names: Names): readonly string[] | undefined {
  const span = /\b(?:span|bins?)\s*=\s*(\w+)/.exec(rest)?.[1];
  const step = span === undefined ? "" : stepOf(span);
  const summary = foreignSummary(rest.replace(OPTIONS, "") || "count", names);
  if (summary === undefined || step === undefined) return undefined;
  const pipe = summaryPipe({ ...summary, step: "1s" });
  return [pipe.replace(" 1s", step === "" ? "" : ` ${step}`)];
}

const OPTIONS = /\b\w+\s*=\s*(?:\w+|"[^"]*")\s*/g;

/** `bin _time span=5m` names a step for what groups by the time later. */
function bin(rest: string, names: Names): readonly string[] | undefined {
  const step = stepOf(/(?:\bspan\s*=|\))\s*(\w+)/.exec(rest)?.[1] ?? "");
  if (step === undefined || !/_time\b|timestamp|^\(@t\)/.test(rest)) return undefined;
  names.columns.set("_timeslice", "timestamp");
  names.step = step;
  return [];
}

/** `sort - count`, `sort by (hits) desc`, `order by count_ desc, path`, `sort 10 -count`. Kusto begins with the greatest. */
function sort(rest: string, names: Names, isKusto: boolean): readonly string[] | undefined {
  const [, before, list = "", all, after] =
    /^(?:(\d+)\s+)?(?:by\b\s*)?(.*?)(?:(?<=\))\s*(asc|desc))?(?:\s+limit\s+(\d+))?$/is.exec(rest)!;
  const inner = list.trim().replace(/^\((.*)\)$/s, "$1");
  const keys = topLevel(inner, ",").map((part) => {
    const key = /^\s*([-+])?\s*(.+?)(?:\s+(a(?:sc(?:ending)?)?|d(?:esc(?:ending)?)?))?(?:\s+nulls\s+\w+)?\s*$/is.exec(
      part,
    );
    const column = key === null ? undefined : foreignColumn(key[2]!, names);
    const direction = key?.[3] ?? all;
    const isDown = direction === undefined ? isKusto || key?.[1] === "-" : /^d/i.test(direction);
    return column === undefined ? undefined : `${column}${isDown ? " desc" : ""}`;
  });
  if (keys.includes(undefined)) return undefined;
  const most = before ?? after;
  return [`sort ${keys.join(", ")}`, ...(most === undefined ? [] : [`limit ${most}`])];
}

const limit = (rest: string) => (/^\d+$/.test(rest) ? [`limit ${rest}`] : undefined);

const head = (rest: string) => limit(rest.replace(/^(?:limit\s*=\s*|-n\s*|-)/, "") || "10");

/** `top limit=5 path`, `top 5 by (path)`; of Kusto `top 5 by duration` are the rows with the greatest. */
function top(rest: string, names: Names, isKusto: boolean): readonly string[] | undefined {
  const most = /^(\d+)\s/.exec(rest)?.[1] ?? /\blimit\s*=\s*(\d+)/.exec(rest)?.[1] ?? "10";
  const list = rest
    .replace(/^\d+\s+/, "")
    .replace(OPTIONS, "")
    .replace(/(?<=\))\s*hits(?:\s+as\s+\w+)?$/, "");
  if (isKusto) {
    const sorted = sort(list, names, true);
    return sorted && [...sorted, `limit ${most}`];
  }
  const columns = foreignColumns(list.replace(/^by\b/, ""), names);
  if (columns === undefined || columns.includes("by")) return undefined;
  names.columns.set("hits", "count");
  if (columns.length === 1) return [`top ${most} ${columns[0]}`];
  return [`count by ${columns.join(", ")}`, "sort count desc", `limit ${most}`];
}

/** Those that come least often. */
function rare(rest: string, names: Names): readonly string[] | undefined {
  const most = /\blimit\s*=\s*(\d+)/.exec(rest)?.[1] ?? /^\d+(?=\s)/.exec(rest)?.[0] ?? "10";
  const columns = foreignColumns(rest.replace(/^\d+\s+/, "").replace(OPTIONS, ""), names);
  return columns && [`count by ${columns.join(", ")}`, "sort count", `limit ${most}`];
}

/** `uniq by (path) with hits`, `dedup path, user`, `distinct path` */
function unique(rest: string, names: Names): readonly string[] | undefined {
  const [, list = "", hits, most] = /^(.*?)(\s+with\s+hits)?(?:\s+limit\s+(\d+))?$/s.exec(rest)!;
  const columns = foreignColumns(list.replace(/^by\b/, ""), names);
  if (columns === undefined || /^\d/.test(rest) || columns.includes("sortby")) return undefined;
  names.columns.set("hits", "count");
  const pipe = `${hits === undefined ? "unique" : "count by"} ${columns.join(", ")}`;
  return most === undefined ? [pipe] : [pipe, `limit ${most}`];
}

/** `table a b`, `project a, b`, `fields @timestamp, @message` */
function fields(rest: string, names: Names): readonly string[] | undefined {
  if (/^\*?$/.test(rest)) return [];
  const columns = foreignColumns(rest.replace(/^\+\s*/, "").replace(/\.\.\./, ""), names);
  return columns && [`fields ${[...new Set(columns)].join(", ")}`];
}

/** `first 5 by (duration desc)` */
function first(rest: string, names: Names, isKusto: boolean): readonly string[] | undefined {
  const [, most, keys = ""] = /^(\d+)\s+(by\b.*)$/s.exec(rest) ?? [];
  const sorted = most === undefined ? undefined : sort(keys, names, isKusto);
  return sorted && [...sorted, `limit ${most}`];
}

/** The newest entries. */
function tail(rest: string): readonly string[] | undefined {
  return head(rest)?.flatMap((most) => ["sort timestamp desc", most]);
}

function grep(rest: string): readonly string[] | undefined {
  const term = grepped(`grep ${rest}`);
  return term === undefined ? undefined : [`where ${term}`];
}

const nothing = () => [];

const PIPES: Readonly<Record<string, Translate>> = {
  ...each("where filter search having", where),
  ...each("stats summarize aggregate chart", stats),
  count,
  wc: () => ["count"],
  timechart,
  ...each("bin bucket timeslice", bin),
  ...each("sort order", sort),
  limit,
  ...each("head take", head),
  first,
  tail,
  ...each("grep egrep rg", grep),
  top,
  rare,
  ...each("uniq dedup distinct unique", unique),
  ...each("table project fields display keep select", fields),
  // Lines of JSON are read without it.
  ...each("json spath unpack_json", nothing),
};

function each(names: string, translate: Translate): Record<string, Translate> {
  return Object.fromEntries(names.split(" ").map((name) => [name, translate]));
}

const ROWS = new RegExp(`\\|\\s*(?:${PIPE_WORDS.filter((kind) => givesRows({ kind })).join("|")})\\b`);

/** `rename hits as n`, `project-rename n = hits`: the text with another name for what its last stage computes. */
export function renamed(text: string, pipe: string, { columns }: Names): string | undefined {
  const pairs = /^\s*(?:project-)?rename\s+([\s\S]+)$/i.exec(pipe)?.[1] ?? "";
  const isOfEvents = !ROWS.test(text);
  const at = text.lastIndexOf("|") + 1;
  let last = text.slice(at);
  for (const pair of pairs.split(",")) {
    const [, from, to] = /^\s*(\S+)\s+as\s+"?(\w+)"?\s*$/i.exec(pair) ?? [];
    const [, into, of] = /^\s*(\w+)\s*=\s*(\S+)\s*$/.exec(pair) ?? [];
    const [old, name] = [from ?? of, to ?? into];
    if (old === undefined || name === undefined) return undefined;
    if (isOfEvents) {
      columns.set(name.toLowerCase(), old);
      continue;
    }
    const before = last;
    // A count by itself has no place for a name.
    if (/^count(?:\(\))?$/.test(old))
      last = last.replace(/^ count\b|^ timeseries \w+(?= by|$)/, (begin) =>
        begin === " count" ? " stats count()" : `${begin} count()`,
      );
    const call = old === "count" ? "count()" : old;
    const isNamed = last.includes(` as ${old}`);
    last = isNamed ? last.replace(` as ${old}`, ` as ${name}`) : last.replace(call, () => `${call} as ${name}`);
    if (last === before || (!isNamed && !call.endsWith(")"))) return undefined;
  }
  return pairs === "" ? undefined : text.slice(0, at) + last;
}
