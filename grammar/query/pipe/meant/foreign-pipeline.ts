import type { Parsed, Problem } from "../../../problem.ts";
import type { Pipeline } from "../../ast.ts";
import { levelOf } from "../../levels.ts";
import { jq, loki, MAX_FOREIGN_LENGTH, mend, sqlCondition, topLevel, word } from "../../meant/foreign-query.ts";
import { PIPE_WORDS } from "../../pipe-words.ts";
import { isMessageWord } from "../../place.ts";
import * as queryProblems from "../../problems.ts";
import type { Names } from "./foreign-functions.ts";
import { changesRows, computedBy, renamed, translatePipe } from "./foreign-pipes.ts";

type Parse = (source: string) => Parsed<Pipeline>;

export interface Translated {
  readonly problem: Problem;
  /** Whether the text can be nothing but the other language. */
  readonly isCertain: boolean;
}

/**
 * A text with stages of another language, and the same in ours. What cannot be translated is left out and named; each part
 * is one that `parse` accepts where it is. Undefined if nothing can be said.
 */
export function foreignPipeline(source: string, parse: Parse): Translated | undefined {
  // Other blanks than ours, as web pages have them, go with the rest.
  const text = source.replace(/^[ \t\r\n]+|[ \t\r\n]+$/g, "");
  if (text.length > MAX_FOREIGN_LENGTH) return undefined;
  const parts = partsOf(text.trim());
  if (parts === undefined) return undefined;
  const { write, dropped } = written(parts, parse);
  // The text may be ours, too: then only a whole translation is worth saying.
  if (write === undefined || (parts.language === IN_PIPES && dropped.length > 0)) return undefined;
  const start = source.indexOf(text);
  const left = dropped.length === 0 ? "" : `; left out: ${dropped.join(", ")}`;
  const problem = queryProblems.foreignQuery(
    { start, end: start + text.length },
    parts.language,
    write,
    `write ${write}${left}`,
  );
  return { problem, isCertain: parts.isCertain };
}

interface Parts {
  readonly language: string;
  /** The condition, in ours but for slips. */
  readonly first: string;
  /** Stages in any language's words. */
  readonly pipes: readonly string[];
  readonly dropped: readonly string[];
  readonly isCertain: boolean;
}

function written({ language, first, pipes, dropped }: Parts, parse: Parse) {
  const names: Names = { columns: new Map(), computed: new Set() };
  const left = [...dropped];
  const query = first.trim() === "" ? "" : mend(first, parse);
  if (query === undefined) return { write: undefined, dropped: left };
  let write: string = query;
  const isKusto = language === KUSTO;
  // Columns that are only shown are the last thing to choose, and nothing where others take their place.
  const fieldsPipe =
    language === INSIGHTS && /^fields\b/.test(pipes[0] ?? "") && pipes.length > 1 ? pipes[0]! : undefined;
  const isLastPipe = fieldsPipe !== undefined && !pipes.slice(1).some((pipe) => ROWS.test(pipe));
  const ordered = fieldsPipe === undefined ? pipes : [...pipes.slice(1), ...(isLastPipe ? [fieldsPipe] : [])];
  for (const [index, pipe] of ordered.entries()) {
    const added = translatePipe(pipe, names, isKusto);
    const begin: string | undefined = added === undefined ? renamed(write, pipe, names) : write;
    const next = begin === undefined ? undefined : joined(begin, added ?? [], parse);
    if (next !== undefined) write = next;
    else {
      left.push(word(pipe) || pipe.trim() || "|");
      for (const name of computedBy(pipe)) names.computed.add(name);
      if (!changesRows(pipe)) continue;
      left.push(...ordered.slice(index + 1).map(word));
      break;
    }
  }
  return { write: write === "" ? undefined : write, dropped: [...new Set(left)] };
}

/** Stages that give columns of their own. */
const ROWS = /^(?:stats|display|dedup|count|summarize|timechart|top|table|fields)\b/i;

/** The text with more stages, mended if need be; conditions right at the beginning are the query's. */
function joined(before: string, pipes: readonly string[], parse: Parse): string | undefined {
  let text = before;
  for (const pipe of pipes) {
    const condition = /^where ([\s\S]+)$/.exec(pipe)?.[1];
    if (condition !== undefined && !text.includes("|")) {
      const mended = mend(condition, parse);
      if (mended === undefined) return undefined;
      text = text === "" ? mended : `${grouped(text)} and ${grouped(mended)}`;
      continue;
    }
    const next = mend(`${text} | ${pipe}`.trim(), parse);
    if (next === undefined) return undefined;
    text = next;
  }
  return parse(text).ok ? text : undefined;
}

const grouped = (text: string) => (/\bor\b|\|\|/i.test(text) ? `(${text})` : text);

const JQ = "a filter of jq";
const VICTORIA = "a query of VictoriaLogs";
const INSIGHTS = "a query of CloudWatch Logs Insights";
const KUSTO = "a query of Kusto";
const IN_PIPES = "a query in stages, as Splunk and Kusto have it";

function partsOf(text: string): Parts | undefined {
  return sqlParts(text) ?? metricParts(text) ?? lokiParts(text) ?? jqParts(text) ?? pipedParts(text);
}

/** `select path, count(*) from logs where status >= 500 group by path order by count(*) desc limit 10` */
function sqlParts(text: string): Parts | undefined {
  const clauses = clausesOf(text.replace(/\s*;$/, ""));
  if (clauses === undefined) return undefined;
  const { where, "group by": group, having, "order by": order, limit: most } = clauses;
  const [, distinct, list = ""] = /^(distinct\s+)?([\s\S]*)$/i.exec(clauses.select!)!;
  const columns = topLevel(list, ",").map((column) => column.trim());
  const calls = columns.filter((column) => /^(?!bin|date_trunc|time_bucket)\w+\s*\(/i.test(column));
  const steps = columns.map((column) => /^(\w+\(.*\))\s+(?:as\s+)?(\w+)$/is.exec(column) ?? []);
  const by =
    group &&
    byNumber(group, columns).replace(/\b\w+$|\b\w+(?=\s*,)/g, (name) => {
      const step = steps.find(([, , alias]) => alias === name)?.[1];
      return step === undefined ? name : `${name} = ${step}`;
    });
  const pipes: string[] = [];
  if (calls.length > 0) pipes.push(`stats ${calls.join(", ")}${by === undefined ? "" : ` by ${by}`}`);
  else if (by !== undefined || distinct !== undefined) pipes.push(`unique ${by ?? list}`);
  if (having !== undefined) pipes.push(`having ${having}`);
  if (order !== undefined) pipes.push(`order by ${byNumber(order, columns)}`);
  if (most !== undefined) pipes.push(`limit ${most}`);
  if (pipes.every((pipe) => /^(?:order|limit)/.test(pipe)) && list !== "*") pipes.push(`select ${list}`);
  const first = where === undefined ? "" : sqlCondition(`where ${where}`)?.text;
  return first === undefined ? undefined : { language: "SQL", first, pipes, dropped: [], isCertain: true };
}

/** The clauses of a select by their words; undefined if they are none, or not in their order. */
function clausesOf(text: string): Readonly<Record<string, string>> | undefined {
  const plain = text.replace(/'[^']*'|"[^"]*"/g, (quoted) => "_".repeat(quoted.length));
  const matches = [...plain.matchAll(/(?:^|\s)(select|from|where|group\s+by|having|order\s+by|limit)\s+/gi)];
  const clauses: Record<string, string> = {};
  let last = -1;
  for (const [index, { 0: whole, 1: word = "", index: at }] of matches.entries()) {
    const name = word.toLowerCase().replace(/\s+/, " ");
    const rank = CLAUSES.indexOf(name);
    if (rank <= last) return undefined;
    last = rank;
    clauses[name] = text.slice(at + whole.length, matches[index + 1]?.index ?? text.length).trim();
  }
  return clauses.select === undefined || clauses.from === undefined || matches[0]!.index > 0 ? undefined : clauses;
}

const CLAUSES = ["select", "from", "where", "group by", "having", "order by", "limit"];

/** `group by 1`, `order by 2 desc`: the columns that the numbers stand for. */
const byNumber = (list: string, columns: readonly string[]) =>
  list.replace(/(?<![\w.(])\d+(?![\w.)])/g, (number) => {
    const column = columns[Number(number) - 1] ?? number;
    return /[)\w]\s+(?:as\s+)?(\w+)$/i.exec(column)?.[1] ?? column;
  });

/** `sum by (path) (count_over_time({app="x"} |= "error" [5m]))`, `rate({app="x"} [1m])`: a series in time. */
function metricParts(text: string): Parts | undefined {
  const match =
    /^(?:topk\s*\(\s*(\d+)\s*,\s*)?(?:(sum|avg|max|min)\s*(?:by\s*\(([^()]*)\)\s*)?\(\s*)?(\w+)\s*\(\s*(?:([\d.]+)\s*,\s*)?(\{.*?)\s*\[(\w+)\]\s*\)(?:\s*by\s*\(([^()]*)\))?[\s)]*(?:by\s*\(([^()]*)\))?[\s)]*$/s.exec(
      text,
    );
  if (match === null) return undefined;
  const [, most, outer, before, name = "", number, inner = "", step = "", within, after] = match;
  const [, field] = /\|\s*unwrap\s+(?:\w+\()?([\w.]+)\)?\s*(?:\|\s*__error__\s*=\s*""\s*)?$/.exec(inner) ?? [];
  const condition = loki(inner.replace(/\|\s*unwrap\s.*$/s, ""));
  const by = before ?? within ?? after;
  const groups = by === undefined || by.trim() === "" ? "" : ` by ${by}`;
  const call = metricCall(name, field, number);
  if (condition === undefined || condition.text === "" || call === undefined) return undefined;
  const isPlain = outer === undefined || outer === "sum" || call.includes(field ?? "(");
  const pipes =
    most !== undefined && name === "count_over_time" && by !== undefined && !by.includes(",")
      ? [`top ${most} ${by}`]
      : [`stats ${call} by ${by ? `${by}, ` : ""}bin(${step})`];
  const dropped = [
    ...condition.dropped.filter((pipe) => pipe !== name && pipe !== "json"),
    ...(isPlain ? [] : [outer!]),
  ];
  if (pipes[0]!.startsWith("stats") && most !== undefined) dropped.push("topk");
  return {
    language: "a query of Loki",
    first: condition.text,
    pipes: groups === "" && !pipes[0]!.includes("by") ? [] : pipes,
    dropped,
    isCertain: true,
  };
}

function metricCall(name: string, field: string | undefined, number: string | undefined): string | undefined {
  if (name === "count_over_time") return "count()";
  if (name === "rate" && field === undefined) return "rate()";
  const own = /^(sum|avg|min|max|first|last)_over_time$/.exec(name)?.[1];
  if (field === undefined) return undefined;
  if (own !== undefined) return `${own}(${field})`;
  return name === "quantile_over_time" ? `quantile(${number}, ${field})` : undefined;
}

const PIPE_BEGIN = new RegExp(`^\\s*(?:${PIPE_WORDS.join("|")})\\b(?!\\s*[=<>!~])`);

/** `{app="x"} | json | status >= 500`: what is no stage of ours selects. */
function lokiParts(whole: string): Parts | undefined {
  const text = whole.replace(/^_stream:(?=\{)/, "");
  const parts = topLevel(text, "|");
  // VictoriaLogs has words after the labels.
  const [, labels, words] = /^(\{[^{}]*\})\s*(?![!|])(\S.*)$/s.exec(parts[0]!.trim()) ?? [];
  const selected = labels === undefined ? undefined : loki(labels);
  if (selected !== undefined && selected.text !== "") {
    const { first } = firstOf(words!, VICTORIA);
    return {
      language: VICTORIA,
      first: `${selected.text} and ${grouped(first)}`,
      pipes: parts.slice(1),
      dropped: [],
      isCertain: true,
    };
  }
  const own = parts.findIndex((part, at) => at > 0 && PIPE_BEGIN.test(part));
  const pipes = own < 0 ? [] : parts.slice(own);
  const condition = loki(own < 0 ? text : parts.slice(0, own).join("|").trim());
  if (condition === undefined || condition.text === "") return undefined;
  const dropped = condition.dropped.filter((pipe) => pipe !== "json");
  return { language: "a query of Loki", first: condition.text, pipes, dropped, isCertain: true };
}

/** `select(.status >= 500) | [.path, .status] | @tsv` */
function jqParts(whole: string): Parts | undefined {
  const [, before, group] =
    /^(?:(.*?)\s*\|\s*)?group_by\(\.([\w.]+)\)\s*\|\s*map\(.*\blength\b.*\)(?:\s*\|\s*add)?$/s.exec(whole) ?? [];
  if (group !== undefined) {
    const first = before === undefined || /^(?:\.|\[inputs\])$/.test(before) ? "" : jq(before)?.text;
    return first === undefined
      ? undefined
      : { language: JQ, first, pipes: [`count by ${group}`], dropped: [], isCertain: true };
  }
  // [.[] | select(...)] | length
  const text = whole.replace(/^\[(.*)\](?=\s*\|\s*length$)/s, "$1");
  const condition = jq(text);
  if (condition === undefined) return undefined;
  const tail = /\)\s*((?:\|[^()]*)?)$/.exec(text)?.[1] ?? "";
  const rest = topLevel(tail.slice(1), "|")
    .map((pipe) => pipe.trim())
    .filter((pipe) => pipe !== "" && !/^@\w+$/.test(pipe));
  const pipes = rest.map((pipe) => {
    if (pipe === "length") return "count";
    const list = /^[[{](.*)[\]}]$/s.exec(pipe)?.[1] ?? pipe;
    const columns = topLevel(list, ",").map((part) => /^(?:\w+\s*:\s*)?\.?([A-Za-z_][\w.]*)$/.exec(part.trim())?.[1]);
    return columns.includes(undefined) ? pipe : `fields ${columns.join(", ")}`;
  });
  return { language: JQ, first: condition.text, pipes, dropped: [], isCertain: true };
}

/** Languages whose stages follow bars; the first part selects. */
function pipedParts(text: string): Parts | undefined {
  const [begin = "", ...written] = topLevel(text, "|").map((pipe) => pipe.trim());
  // count by path having count > 5 order by count desc
  const pipes = written.flatMap((pipe) => (GROUPS.test(pipe) ? pipe.split(CLAUSE) : [pipe]));
  const language = languageOf(text, begin);
  if (INSIGHTS_BEGIN.test(begin) && !/^\w+\s*(?:[=<>~!.[:]|in\b|contains\b|and\b|or\b)/i.test(begin)) {
    if (pipes.length === 0 && !/^(?:stats|filter)\s|[@,]/i.test(begin)) return undefined;
    // Ours have these two, and may lack the first bar only.
    const isCertain = !/^(?:stats|fields)\b/.test(begin) || text.includes("@");
    const all = [begin, ...pipes];
    return {
      language: language ?? INSIGHTS,
      first: "",
      pipes: all,
      dropped: [],
      isCertain,
    };
  }
  if (pipes.length === 0) return undefined;
  const { first, dropped, isMarked } = firstOf(begin, language);
  return { language: language ?? IN_PIPES, first, pipes, dropped, isCertain: isMarked };
}

const GROUPS = /^(?:count|stats|summarize)\b/i;
const CLAUSE = /\s+(?=(?:having|order\s+by|sort\s+by)\s)/i;
const INSIGHTS_BEGIN = /^(?:fields|filter|stats|display|parse|source)\s/i;

/** Undefined if it may be any. */
function languageOf(text: string, begin: string): string | undefined {
  if (/_time:|_msg:|\bby\s*\(/.test(text)) return VICTORIA;
  if (/^(?:search\s+)?(?:index|sourcetype)\s*=|\|\s*(?:timechart|table|dedup|eval|rex)\b|\|\s*sort\s+[-+]/.test(text))
    return "a search of Splunk";
  if (/\|\s*(?:summarize|project|extend|take|distinct|top\s+\d+\s+by)\b|\b(?:ago|between)\s*\(/.test(text))
    return KUSTO;
  if (/@timestamp|@message|^(?:fields|filter|stats)\s|\bpct\(/.test(text)) return INSIGHTS;
  return begin === "*" ? "a query of angle-grinder or VictoriaLogs" : undefined;
}

/** The condition before the first bar. */
function firstOf(begin: string, language: string | undefined): { first: string; dropped: string[]; isMarked: boolean } {
  const dropped: string[] = [];
  let first = begin.replace(/^search\s+/i, "");
  const isTable = language === KUSTO && /^[A-Za-z_]\w*$/.test(first) && levelOf(first) === undefined;
  if (first === "*" || isTable || /^cat\s+\S+$/.test(first)) return { first: "", dropped, isMarked: true };
  first = first.replace(/(?:^|\s)(index|sourcetype|source)\s*=\s*("[^"]*"|\S+)/gi, (_, name: string) => {
    dropped.push(name);
    return " ";
  });
  const isMarked = dropped.length > 0 || /_time:|_msg:/.test(first);
  first = first
    .replace(/_time:(\d+[smhdw])\b/g, "timestamp > $1")
    .replace(/_msg:("[^"]*"|\w+)/g, "message contains $1");
  // A text alone is anywhere in the line.
  first = first.replace(/(^|[\s(])"([^"*\\]+)"(?=$|[\s)])/g, '$1"*$2*"').replace(/(?:^|\s)\*(?=\s|$)/g, " ");
  if (language !== undefined && isMessageWord(first.trim())) first = `message contains "${first.trim()}"`;
  return { first, dropped, isMarked };
}
