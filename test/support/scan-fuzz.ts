// Random queries, each with lines made to nearly match it, scanned with and without the prefilter and line by line.
import fc from "fast-check";
import { readEntryLine } from "../../cli/logs/entry-line.ts";
import { LineBlocks } from "../../cli/logs/line-blocks.ts";
import { type LineScan, lineScan } from "../../cli/logs/line-scan.ts";
import {
  compilePredicate,
  type Expr,
  type Field,
  LEVEL_KEYS,
  LEVEL_SPELLINGS,
  LEVELS,
  MESSAGE_KEYS,
  planScan,
  printQuery,
  type Query,
  readTime,
  TIME_KEYS,
  target,
  type Value,
} from "../../grammar/query/index.ts";
import { queries } from "./query-arbitrary.ts";

export const NOW_MS = Date.parse("2024-05-01T12:00:00Z");
const LINES_PER_QUERY = 10;

export interface Compared {
  readonly pairs: number;
  /** Pairs in which the line was selected, and whose query has a prefilter. */
  readonly selected: number;
  readonly planned: number;
  /** Query and line of each difference. */
  readonly differ: readonly string[];
}

/** Compares about `count` pairs. */
export function comparePrefilter(count: number, seed: number): Compared {
  const random = generator(seed);
  const differ: string[] = [];
  let pairs = 0;
  let selected = 0;
  let planned = 0;
  const BATCH = 1000;
  for (let batch = 0; pairs < count; batch++) {
    for (const query of fc.sample(queries, { numRuns: Math.min(BATCH, Math.ceil(count / 10)), seed: seed + batch })) {
      const since = random() < 0.1 ? Date.parse("2024-05-01T11:00:00.000Z") : undefined;
      const until = random() < 0.1 ? Date.parse("2024-05-01T11:00:00.250Z") : undefined;
      const wanted = { query, nowMs: NOW_MS, sinceMs: since, untilMs: until };
      const lines = nearLines(query, random);
      const fast = scanLines(lineScan(wanted), lines);
      const slow = scanLines(lineScan(wanted, { prefilter: false }), lines);
      const predicate = compilePredicate(query, { nowMs: NOW_MS });
      lines.forEach((line, i) => {
        pairs++;
        const { entry } = readEntryLine(line);
        const timeMs = readTime(entry.timestamp) ?? Number.NaN;
        const isWithin =
          (since === undefined || timeMs >= since) &&
          (until === undefined || timeMs < until) &&
          /[^\u0000-\u0020]/.test(line);
        const expected = isWithin && predicate(entry);
        if (expected) selected++;
        if (fast.has(i) !== expected || slow.has(i) !== expected) {
          differ.push(
            `${printQuery(query)} | ${line} | expected ${expected}, scan ${fast.has(i)}, every line ${slow.has(i)}`,
          );
        }
      });
      const { needles, isOutside } = planScan(query, wanted);
      if (needles !== undefined || isOutside !== undefined) planned += lines.length;
    }
  }
  return { pairs, selected, planned, differ };
}

/** The lines that a scan finds, all in one block. */
function scanLines(scan: LineScan, lines: readonly string[]): Set<number> {
  const indexes = new Set<number>();
  const blocks = new LineBlocks();
  const text = Buffer.from(lines.join("\n"));
  const starts = new Map<number, number>();
  let at = 0;
  lines.forEach((line, i) => {
    starts.set(at, i);
    at += Buffer.byteLength(line) + 1;
  });
  let offset = 0;
  const take = (block: ReturnType<LineBlocks["end"]>) => {
    if (block === undefined) return;
    scan(block, (_bytes, start) => {
      indexes.add(starts.get(offset + start - block.start)!);
      return true;
    });
    offset += block.end + 1 - block.start;
  };
  for (const block of blocks.push(text)) take(block);
  take(blocks.end());
  return indexes;
}

type Random = () => number;

/** Lines of every kind around what the query asks for. */
export function nearLines(query: Query, random: Random): string[] {
  const parts: Parts = { fields: [], values: [] };
  if (query.expr !== undefined) collect(query.expr, parts);
  return Array.from({ length: LINES_PER_QUERY }, () => nearLine(parts, random));
}

interface Parts {
  readonly fields: Field[];
  readonly values: unknown[];
}

function collect(expr: Expr, parts: Parts): void {
  switch (expr.kind) {
    case "or":
    case "and":
      for (const term of expr.terms) collect(term, parts);
      return;
    case "not":
      collect(expr.term, parts);
      return;
    case "level":
    case "stage":
      parts.values.push(expr.word.toLowerCase());
      return;
    case "message":
      parts.values.push(expr.text.chunks.join("x"));
      return;
    case "comparison":
      parts.values.push(...valuesOf(expr.value));
      break;
    case "in":
      parts.values.push(...expr.values.flatMap(valuesOf));
      break;
    case "contains":
      parts.values.push(`x${expr.text.chunks.join("*")}y`);
  }
  parts.fields.push(expr.field);
}

function valuesOf(value: Value): unknown[] {
  switch (value.kind) {
    case "string":
    case "word":
      return [value.chunks.join("*"), value.chunks.join("")];
    case "number":
      return [value.value, value.text, value.value + 1, -value.value];
    case "boolean":
      return [value.value];
    case "null":
      return [null];
  }
}

function nearLine(parts: Parts, random: Random): string {
  const pick = <T>(values: readonly T[]): T => values[Math.floor(random() * values.length)]!;
  const some: readonly unknown[] = [
    ...parts.values,
    ...parts.values,
    ...["", "x", 0, 5, -1, 1e21, true, false, null, "error", "2024-05-01T11:00:00Z"],
  ];
  const value = (): unknown => {
    const roll = random();
    if (roll < 0.12) return [pick(some), pick(some)];
    if (roll < 0.15) return [[pick(some)], {}];
    if (roll < 0.18) return { a: pick(some) };
    return pick(some);
  };
  const fields: Record<string, unknown> = {};
  const own: Record<string, unknown> = {};
  for (const field of parts.fields) {
    if (random() < 0.15) continue;
    const place = target(field);
    if (place.at === "entry") (random() < 0.8 ? own : fields)[place.name] = value();
    // A message that is an object is a field, and so are other values that cannot be what their keys say.
    else assign(ENTRY_KEYS.has(place.path[0]) && random() < 0.7 ? own : fields, place.path, value());
  }
  if (random() < 0.8) own.level = random() < 0.7 ? inSomeCase(pick(LEVEL_SPELLINGS[pick(LEVELS)]), random) : pick(some);
  if (random() < 0.7) own.message = pick(some);
  if (random() < 0.5) fields.stage = pick(["production", "staging", "development", pick(some)]);
  if (random() < 0.8) own.timestamp = pick(TIMES);
  if (random() < 0.3) own[pick(["extra", "note"])] = { text: pick(some), list: [pick(some)] };
  const isLoggers = random() < 0.3;
  if (isLoggers) writeAsLogger(own, some, random);

  const roll = random();
  const isFlat = isLoggers ? roll < 0.9 : roll < 0.15;
  const whole: [string, unknown][] = isFlat
    ? [...Object.entries(own), ...Object.entries(fields)]
    : [...Object.entries(own), ["fields", roll < 0.18 ? [fields] : roll < 0.2 ? null : fields]];
  if (random() < 0.3) whole.reverse();
  // Keys twice: the last one counts.
  if (random() < 0.1 && whole.length > 0) whole.push([pick(whole)[0], pick(some)]);
  const style = random();
  const spelling = {
    escapes: style < 0.5 ? 0 : 0.3,
    // As PHP writes.
    slashes: style > 0.35 && style < 0.5,
    blanks: random() < 0.5 ? 0 : 0.3,
    random,
  };
  let line = spellObject(whole, spelling);
  const kind = random();
  if (kind < 0.03) line = line.slice(0, Math.floor(random() * line.length));
  else if (kind < 0.05) line = `\ufeff${line}`;
  else if (kind < 0.07) line = `${line} x`;
  else if (kind < 0.11) line = String(pick(some));
  else if (kind < 0.13) line = `text ${String(pick(some))}`;
  else if (kind < 0.14) line = "  ";
  else if (kind < 0.16) line = line.replace(/\d+/, "01");
  else if (kind < 0.18) line = `${line}\r`;
  // Lines are cut at line ends, and bytes are UTF-8.
  return Buffer.from(line.replaceAll("\n", " ")).toString();
}

/** As programs write levels: mostly lower or upper case, sometimes Capitalized or any mixture. */
function inSomeCase(level: string, random: Random): string {
  const roll = random();
  if (roll < 0.5) return level;
  if (roll < 0.75) return level.toUpperCase();
  if (roll < 0.9) return level[0]!.toUpperCase() + level.slice(1);
  return [...level].map((letter) => (random() < 0.5 ? letter.toUpperCase() : letter)).join("");
}

/** Puts the keys of loggers, with values of theirs and others, in the place of ours or beside them. */
function writeAsLogger(own: Record<string, unknown>, some: readonly unknown[], random: Random): void {
  const pick = <T>(values: readonly T[]): T => values[Math.floor(random() * values.length)]!;
  const inAnyCase = (text: string) => pick([text, text.toUpperCase(), text[0]!.toUpperCase() + text.slice(1)]);
  const level = () => {
    const word = inAnyCase(pick([...LEVEL_SPELLINGS[pick(LEVELS)], "panic", "dpanic", "http", "silly", "loud"]));
    return pick<unknown>([
      word,
      word,
      word + pick(["-4", "+2", "2", "5", "+"]),
      10 * Math.ceil(random() * 6),
      50,
      17,
      9.5,
      70,
    ]);
  };
  if (random() < 0.7) delete own.level;
  if (random() < 0.7) delete own.message;
  if (random() < 0.7) delete own.timestamp;
  for (let i = random() < 0.8 ? 1 : 2; i > 0; i--) own[pick(LEVEL_KEYS).key] = random() < 0.9 ? level() : pick(some);
  if (random() < 0.9) {
    const text = pick(some);
    own[pick(MESSAGE_KEYS)] = pick<unknown>([text, text, text, { stringValue: text }, { Type: "String", Value: text }]);
  }
  if (random() < 0.8) own[pick(TIME_KEYS)] = pick<unknown>([...TIMES, ...LOGGER_TIMES]);
}

const LOGGER_TIMES = [
  1714561200.25,
  1714561200250000,
  "1714561200250000000",
  "2024-05-01T13:00:00.100+0200",
  { epochSecond: 1714561200, nanoOfSecond: 5 },
  "0001-01-01T00:00:00Z",
  "0001-01-01T00:00:00.000Z",
  { seconds: 1714561199, nanos: 999_999_999 },
  35,
];

const TIMES = [
  "2024-05-01T11:00:00Z",
  "2024-05-01T11:00:00.000Z",
  "2024-05-01T10:30:00.000Z",
  "2024-05-01T10:29:59.999Z",
  "2024-05-01T11:00:00.250Z",
  "2024-05-01T11:00:00.249Z",
  "2024-05-01T10:59:60.000Z",
  "2024-04-31T11:00:00.000Z",
  "2024-05-01T24:00:00.000Z",
  "2024-04-30T24:00:01.000Z",
  "2024-05-01T13:00:00.000+02:00",
  "2024-05-01 11:00:00.000Z",
  "2024-05-01T11:00:00",
  "2024-05-01 11:00:00,250",
  "2024-05-01T13:00:00.100+0200",
  "2024-04-30T23:59:60Z",
  "yesterday",
  "",
  1714561200000,
  1714561200,
  null,
];

const ENTRY_KEYS: ReadonlySet<unknown> = new Set(["id", "timestamp", "level", "message", "fields"]);

/** Puts a value at a path; what is in the way is replaced. */
function assign(root: Record<string, unknown>, path: readonly (string | number)[], value: unknown): void {
  let at: Record<string | number, unknown> = root;
  path.forEach((key, i) => {
    if (typeof key === "number" && key > 3) return;
    const isLast = i === path.length - 1;
    const next: unknown = isLast ? value : typeof path[i + 1] === "number" ? [] : {};
    Object.defineProperty(at, key, { value: next, enumerable: true, configurable: true, writable: true });
    if (!isLast) at = next as Record<string | number, unknown>;
  });
}

interface Spelling {
  /** How often a character is written as an escape, and a blank is where one may be. */
  readonly escapes: number;
  readonly blanks: number;
  readonly slashes: boolean;
  readonly random: Random;
}

function spellObject(entries: readonly [string, unknown][], spelling: Spelling): string {
  const blank = () => (spelling.random() < spelling.blanks ? (spelling.random() < 0.5 ? " " : "\t") : "");
  const members = entries.map(
    ([key, value]) => `${blank()}${spellString(key, spelling)}${blank()}:${blank()}${spell(value, spelling)}${blank()}`,
  );
  return `{${members.join(",")}}`;
}

function spell(value: unknown, spelling: Spelling): string {
  if (typeof value === "string") return spellString(value, spelling);
  if (typeof value === "number") return spellNumber(value, spelling);
  if (Array.isArray(value)) return `[${Array.from(value, (item) => spell(item ?? null, spelling)).join(",")}]`;
  if (typeof value === "object" && value !== null) return spellObject(Object.entries(value), spelling);
  return JSON.stringify(value);
}

/** The same number by other characters: each is checked to read as it. */
function spellNumber(value: number, { random, escapes }: Spelling): string {
  const plain = JSON.stringify(value);
  if (random() >= escapes || plain === "null") return plain;
  const others = [`${plain}.0`, `${plain}e0`, `${plain}E+00`, value.toExponential(), `${plain}.00000000000000000000`];
  const other = others[Math.floor(random() * others.length)]!;
  try {
    return Object.is(JSON.parse(other), value) ? other : plain;
  } catch {
    return plain;
  }
}

function spellString(text: string, { random, escapes, slashes }: Spelling): string {
  let spelled = "";
  for (let i = 0; i < text.length; i++) {
    const unit = text[i]!;
    const code = unit.charCodeAt(0);
    const hex = code.toString(16).padStart(4, "0");
    const isHalf = code >= 0xd800 && code <= 0xdfff;
    const isAlone =
      isHalf && !/^[\ud800-\udbff][\udc00-\udfff]$/.test(text.slice(i - (code >= 0xdc00 ? 1 : 0)).slice(0, 2));
    if (slashes && unit === "/") spelled += "\\/";
    else if (isAlone || (random() < escapes && !isHalf)) {
      spelled += unit === "/" && random() < 0.5 ? "\\/" : `\\u${random() < 0.5 ? hex : hex.toUpperCase()}`;
    } else spelled += isHalf ? unit : JSON.stringify(unit).slice(1, -1);
  }
  return `"${spelled}"`;
}

/** Mulberry32: the same lines in every run. */
export function generator(seed: number): Random {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296;
  };
}
