import { topLevel } from "../../meant/foreign-query.ts";
import { FOREIGN_FUNCTIONS, functionOf } from "../functions.ts";

/** The names that stages of another language have introduced before the one that is translated. */
export interface Names {
  /** Columns under their names there, without blanks and in lower case, and ours. */
  readonly columns: Map<string, string>;
  /** Values that were computed there, which we have not. */
  readonly computed: Set<string>;
  /** The step of `bin _time span=5m`, which later stages group by. */
  step?: string;
}

const NAME = /^[A-Za-z_@$][\w@$.-]*$/;

const plain = (text: string) => text.replace(/[\s"'`]/g, "").toLowerCase();

/** A column as we name it; undefined for what is none: an expression, or a name that we cannot know. */
export function foreignColumn(text: string, names: Names): string | undefined {
  const name = text
    .trim()
    .replace(/^\((.*)\)$/, "$1")
    .replace(/^(["'`])(.*)\1$/, "$2")
    .trim();
  const column = names.columns.get(plain(name));
  if (column !== undefined) return column;
  const call = /^(\w+)\s*\(([^()]*)\)$/.exec(name);
  if (call !== null) return callsOf(call[1]!, call[2]!, names)?.[0];
  if (!NAME.test(name) || names.computed.has(name)) return undefined;
  return /^(?:@timestamp|_time|timegenerated)$/i.test(name) ? "timestamp" : (MESSAGES[name] ?? name);
}

const MESSAGES: Readonly<Record<string, string>> = { "@message": "message", _msg: "message", _raw: "message" };

/** A list of columns, with commas or blanks between them; undefined if one is none. */
export function foreignColumns(text: string, names: Names): string[] | undefined {
  const inner = text.trim().replace(/^\(([^()]*)\)$/, "$1");
  const parts = inner.includes(",") || inner.includes("(") ? topLevel(inner, ",") : inner.trim().split(/\s+/);
  const columns = parts.map((part) => foreignColumn(part, names));
  // Words between names, such as path as p, are none.
  const isList = inner.trim() !== "" && parts.every((part) => !/^\s*(?:as|by)\s*$/.test(part));
  return !isList || columns.includes(undefined) ? undefined : (columns as string[]);
}

/** The calls that say what a call of another language says: several for percentiles; undefined if none does. */
function callsOf(written: string, inside: string, names: Names): string[] | undefined {
  const name = written.toLowerCase();
  const args = topLevel(inside, ",").map((arg) => arg.trim());
  const distinct = /^distinct\s+(.*)$/i.exec(inside.trim());
  if (name === "count" && distinct !== null) return callsOf("distinct", distinct[1]!, names);
  if (name === "count" && /^(?:\*?|1)$/.test(inside.trim())) return ["count()"];
  if (/^(?:percentiles?|quantile|pct|percentile_cont|approx_percentile)$/.test(name)) {
    const field = args.find((arg) => !NUMBER.test(arg));
    const numbers = args.filter((arg) => NUMBER.test(arg));
    const column = foreignColumn(field ?? "", names);
    if (column === undefined || numbers.length !== args.length - 1) return undefined;
    return numbers.map((number) => `p${percent(Number(number))}(${column})`);
  }
  const percentile = /^(?:exact)?p(?:erc|ct)?(\d+(?:\.\d+)?)$/.exec(name);
  const own =
    percentile !== null
      ? `p${percentile[1]}`
      : Object.hasOwn(FOREIGN_FUNCTIONS, name)
        ? FOREIGN_FUNCTIONS[name]!
        : name;
  if (functionOf(own) === undefined) return undefined;
  if (own === "rate") return ["rate()"];
  const column = args.length === 1 ? foreignColumn(args[0]!, names) : undefined;
  return column === undefined ? undefined : [`${own}(${column})`];
}

const NUMBER = /^\d*\.?\d+$/;
const percent = (value: number) => (value <= 1 ? Number((value * 100).toFixed(6)) : value);

/** `5m`, `1 hour`, `1w` as a step of ours. */
export function stepOf(text: string): string | undefined {
  const [, count, unit] = /^\s*(\d+)\s*([smhdw])(?:ec|in|r|our|ay|eek|econd|inute)?s?\s*$/.exec(text) ?? [];
  if (unit === undefined) return undefined;
  return unit === "w" ? `${Number(count) * 7}d` : `${count}${unit}`;
}

const UNIT_STEPS: Readonly<Record<string, string>> = { second: "1s", minute: "1m", hour: "1h", day: "1d", week: "7d" };

export interface Groups {
  readonly by: readonly string[];
  readonly step?: string | undefined;
}

/** The list after `by`: columns, and a step of time in any of its spellings; undefined if an item is neither. */
function groupsOf(text: string, names: Names): Groups | undefined {
  let inner = text.trim();
  if (/^\(/.test(inner) && inner.indexOf(")") === inner.length - 1) inner = inner.slice(1, -1);
  // The blanks around = and in span=5m do not separate columns.
  const parts = topLevel(inner, ",").flatMap((part) => (/[(=:]/.test(part) ? [part] : part.trim().split(/\s+/)));
  const by: string[] = [];
  let step: string | undefined;
  for (const part of parts) {
    const value = part.trim().replace(/^[\w$]+\s*=\s*(?=[\w$])/, "");
    const [, , width] = /^(bin|floor|timeslice|time_bucket|tumble)\s*\((?:.*,)?\s*([^,()]+)\)$/i.exec(value) ?? [];
    const [, unit] = /^date_trunc\s*\(\s*'(\w+)'/i.exec(value) ?? [];
    const [, span] = /^@?_?time(?:stamp)?\s*(?::|\s+span\s*=\s*)(.+)$/.exec(value) ?? [];
    const time = width ?? span;
    if (time !== undefined) step = stepOf(time);
    else if (unit !== undefined) step = UNIT_STEPS[unit.toLowerCase()];
    else if (names.step !== undefined && foreignColumn(value, names) === "timestamp") step = names.step;
    else {
      const column = foreignColumn(value, names);
      if (column === undefined) return undefined;
      by.push(column);
      continue;
    }
    if (step === undefined) return undefined;
    const name = /^\s*([\w$]+)\s*=\s*[\w$]/.exec(part)?.[1] ?? value;
    for (const time of [name, value, "timestamp", "@timestamp", "_time"]) names.columns.set(plain(time), "time");
  }
  return { by, step };
}

/** Functions and their groups, as stages have them. */
export interface ForeignSummary extends Groups {
  /** With `as`, if they are named. */
  readonly calls: readonly string[];
}

/**
 * `count(*) as hits, pct(duration, 99) by path, bin(5m)`, `by (path) count() hits`, `hits = count() by path`,
 * `count avg(duration) by path`. The columns are known afterwards.
 */
export function foreignSummary(text: string, names: Names): ForeignSummary | undefined {
  const before = /^\s*(?:by\s*)?(\((?:[^()]|\([^()]*\))*\))(?=\s*\w)([\s\S]*)$/i.exec(text);
  let rest = before === null ? text : before[2]!;
  const aggregates: [key: string, call: string, as: string | undefined][] = [];
  AGGREGATE.lastIndex = 0;
  for (let match = AGGREGATE.exec(rest); match !== null; match = AGGREGATE.exec(rest)) {
    const [whole, first, name = "", inside = "", ...named] = match;
    const calls = callsOf(name, inside, names);
    if (calls === undefined) return undefined;
    const as = first ?? named.find((one) => one !== undefined);
    if (as !== undefined && (calls.length > 1 || !/^[A-Za-z_]\w*$/.test(as))) return undefined;
    for (const call of calls) aggregates.push([`${name}(${inside})`, call, as]);
    rest = rest.slice(whole.length);
    AGGREGATE.lastIndex = 0;
  }
  const after = /^\s*(?:group\s+)?by\b([\s\S]+)$/i.exec(rest);
  if (aggregates.length === 0 || (after === null && rest.trim() !== "")) return undefined;
  const groups = groupsOf(before?.[1] ?? after?.[1] ?? "()", names);
  const isEmpty = before === null && after === null;
  if (groups === undefined && !isEmpty) return undefined;
  // A single count needs no name: it is that of the stage.
  const isCount = aggregates.length === 1 && aggregates[0]![1] === "count()" && aggregates[0]![2] === undefined;
  for (const [key, call, as] of aggregates) know(names, key, as ?? (isCount ? "count" : call));
  const calls = isCount ? [] : aggregates.map(([, call, as]) => (as === undefined ? call : `${call} as ${as}`));
  return { ...(groups ?? { by: [] }), calls };
}

const AGGREGATE =
  /\s*,?\s*(?:([A-Za-z_]\w*)\s*=\s*)?(?!(?:group\s+)?by\b)([A-Za-z_]\w*)(?:\s*\(((?:[^()]|\([^()]*\))*)\))?(?:\s+as\s+(?:"([^"]+)"|([A-Za-z_]\w*))|(?<=\))\s+(?!(?:by|as|count|group)\b)([A-Za-z_]\w*)\b(?!\s*\())?/iy;

/** A call is named by itself, and in Kusto `avg_duration`. */
function know({ columns }: Names, call: string, own: string): void {
  columns.set(plain(call), own);
  const [name = "", ...args] = call.split(/[(),\s]+/);
  columns.set(plain(`${name}_${args.filter((arg) => arg !== "").join("_")}`), own);
  if (/^count\b/.test(call)) for (const all of ["count", "count()", "count(*)"]) columns.set(all, own);
}

/** A stage that gives a summary, in ours. */
export function summaryPipe({ calls, by, step }: ForeignSummary): string {
  const groups = by.length === 0 ? "" : ` by ${by.join(", ")}`;
  const values = calls.length === 0 ? "" : ` ${calls.join(", ")}`;
  if (step !== undefined) return `timeseries ${step}${values}${groups}`;
  return calls.length === 0 ? `count${groups}` : `stats${values}${groups}`;
}
