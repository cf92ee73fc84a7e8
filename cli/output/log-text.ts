import type { Entry } from "../../grammar/entry.ts";
import { printable } from "../../grammar/problem.ts";
import { type Level, levelOf } from "../../grammar/query/index.ts";
import { type EntrySummary, memberPath, summaryOf, type Tone } from "../../grammar/summary/index.ts";
import { humanBytes } from "../../grammar/units/bytes.ts";
import { humanDuration } from "../../grammar/units/duration.ts";
import { timeReader } from "../time/time-reader.ts";

export interface LogTextOptions {
  readonly color: boolean;
  /** One field per line below the entry, instead of `key=value` after it. */
  readonly expand: boolean;
  /** A column with the stage, if entries have one. Default true. */
  readonly stages?: boolean;
  /** Entries of another day than this get a line with their date. */
  readonly nowMs: number;
  /** Minutes that UTC is ahead of local time, as in Date. */
  readonly offsetMinutes?: (timeMs: number) => number;
}

/** The state that the lines so far leave for the next: formatting the next part of a log starts from it. */
export interface TextState {
  readonly day: number;
  readonly levelWidth: number;
  readonly stageWidth: number;
}

export interface LogText {
  (entry: Entry): string;
  state(): TextState;
  restore(from: TextState): void;
}

/**
 * Formats entries for people, one call per entry in the order shown: time, level, stage, message, fields. Returns whole
 * lines with their line ends. Intl is not used: it is fifteen times slower than all the rest.
 */
export function logText(options: LogTextOptions): LogText {
  const { expand } = options;
  const timeOf = timeReader();
  const clock = localClock(options.offsetMinutes ?? ((timeMs) => new Date(timeMs).getTimezoneOffset()));
  const paint = options.color ? colored : plain;
  // Columns grow as needed: most logs have four short levels and one stage.
  const state = { day: clock(options.nowMs).day, levelWidth: 5, stageWidth: 0 };
  // Levels and stages are few: each painted text is cached until its column grows.
  const levels = new Map<string, string>();
  const stages = new Map<string, string>();
  const names = new Map<string, string>();
  const labels = new Map<string, string>();
  const label = (path: string) => cached(labels, path, () => paint("dim", `${oneLine(path)}=`));
  let paintedLevelWidth = 0;
  let paintedStageWidth = 0;
  const format = (entry: Entry): string => {
    const { fields } = entry;
    let text = "";
    const timeMs = timeOf(entry.timestamp);
    let time = " ".repeat(12);
    if (!Number.isNaN(timeMs)) {
      const now = clock(timeMs);
      if (now.day !== state.day) {
        state.day = now.day;
        text += `${paint("dim", dateLine(now.day))}\n`;
      }
      time = now.time;
    } else if (entry.timestamp !== "") time = oneLine(entry.timestamp).padEnd(12);
    const stage = options.stages !== false && typeof fields.stage === "string" ? oneLine(fields.stage) : "";
    state.stageWidth = Math.max(state.stageWidth, Math.min(stage.length, 16));
    if (state.stageWidth !== paintedStageWidth) stages.clear();
    paintedStageWidth = state.stageWidth;
    const stageColumn =
      paintedStageWidth === 0 ? "" : cached(stages, stage, () => `${paint("dim", stage.padEnd(paintedStageWidth))} `);
    const levelName = oneLine(entry.level);
    state.levelWidth = Math.max(state.levelWidth, Math.min(levelName.length, 9));
    if (state.levelWidth !== paintedLevelWidth) levels.clear();
    paintedLevelWidth = state.levelWidth;
    const level = cached(levels, entry.level, () =>
      paint(levelStyle(entry.level), levelName.padEnd(paintedLevelWidth)),
    );
    text += `${paint("dim", time)} ${level} ${stageColumn}`;

    const summary = summaryOf(entry);
    if (expand) {
      if (summary.isOfFields) text += painted(summary, paint);
      else text += entry.message.split(/\r?\n/).map(printable).join("\n    ");
      return `${text.trimEnd()}\n${expanded(fields, paint)}`;
    }
    const { kind, used } = summary;
    text += painted(summary, paint);
    for (const key of Object.keys(fields)) {
      // "development" is not a version; every entry of the local server has it.
      if (key === "stage" || (key === "version" && fields[key] === "development")) continue;
      if (kind === "proxy" && (key === "version" || key === "commit")) continue;
      const path = cached(names, key, () => memberPath("", key));
      if (used.has(path)) continue;
      const value = fields[key];
      if (typeof value === "object" && value !== null && !Array.isArray(value)) {
        for (const [at, leaf] of flatten({ [key]: value }, { used })) text += `  ${label(at)}${valueText(at, leaf)}`;
      } else text += `  ${label(path)}${valueText(path, value)}`;
    }
    return `${text.trimEnd()}\n`;
  };
  return Object.assign(format, {
    state: (): TextState => ({ ...state }),
    restore: (from: TextState) => void Object.assign(state, from),
  });
}

/** The names come from the log, so that the number of cached ones is bounded. */
const MAX_CACHED = 1000;

function cached(cache: Map<string, string>, key: string, make: () => string): string {
  let value = cache.get(key);
  if (value === undefined) {
    value = make();
    if (cache.size < MAX_CACHED) cache.set(key, value);
  }
  return value;
}

/** The parts of a summary in one line. Most have one. */
function painted({ parts }: EntrySummary, paint: Paint): string {
  let line = "";
  for (const { text, tone } of parts) line += `${line === "" ? "" : " "}${paint(STYLE_OF_TONE[tone], oneLine(text))}`;
  return line;
}

function expanded(fields: Entry["fields"], paint: Paint): string {
  const rows = flatten(fields, { opensArrays: true }).map(([path, value]) => [oneLine(path), value] as const);
  // A longer name would push every value off the screen.
  const width = Math.min(Math.max(0, ...rows.map(([path]) => path.length)), 28);
  let text = "";
  for (const [path, value] of rows) {
    const name = paint("dim", path.padEnd(width));
    if (typeof value === "string" && value.includes("\n")) {
      text += `  ${name.trimEnd()}\n`;
      for (const line of value.trimEnd().split(/\r?\n/)) text += `    ${printable(line)}\n`;
    } else text += `  ${name}  ${valueText(path, value)}\n`;
  }
  return text;
}

/** Deeper values are shown as {...}: anybody may have written the log. */
const MAX_DEPTH = 12;

/** Leaves with their paths, without those in `used`. Arrays are opened if each value has a line of its own. */
function flatten(
  fields: Entry["fields"],
  { opensArrays = false, used }: { readonly opensArrays?: boolean; readonly used?: ReadonlySet<string> },
): [path: string, value: unknown][] {
  const rows: [string, unknown][] = [];
  const walk = (path: string, value: unknown, depth: number) => {
    if (used?.has(path)) return;
    const isArray = Array.isArray(value);
    if (typeof value !== "object" || value === null || (isArray && !opensArrays)) {
      rows.push([path, value]);
      return;
    }
    const entries = Object.entries(value);
    if (entries.length === 0 || depth >= MAX_DEPTH) {
      rows.push([path, entries.length === 0 ? value : isArray ? OPAQUE_ARRAY : OPAQUE_OBJECT]);
      return;
    }
    for (const [key, item] of entries) walk(isArray ? `${path}[${key}]` : memberPath(path, key), item, depth + 1);
  };
  for (const [key, value] of Object.entries(fields)) walk(memberPath("", key), value, 1);
  return rows;
}

const OPAQUE_ARRAY = Symbol("[...]");
const OPAQUE_OBJECT = Symbol("{...}");

/** A value after its name: bare if that is unambiguous, durations and sizes in their units. */
function valueText(path: string, value: unknown): string {
  if (typeof value === "number") {
    const name = path.slice(path.lastIndexOf(".") + 1);
    if (name === "duration" && value >= 0) return humanDuration(value);
    if (name === "size" && value >= 0) return humanBytes(value);
    return String(value);
  }
  if (typeof value === "symbol") return value.description!;
  if (typeof value === "string") {
    // Nearly all are ASCII; Unicode classes cost ten times as much.
    if (/^[!#-<>-~]+$/.test(value)) return value;
    return /^[^\s"=\p{C}]+$/u.test(value) ? value : oneLine(JSON.stringify(value));
  }
  try {
    return oneLine(JSON.stringify(value));
  } catch {
    // Thousands of nested arrays.
    return "[...]";
  }
}

/** A text as one line of a terminal: without escapes, line breaks and reversed reading order. */
function oneLine(text: string): string {
  return /[^ -~]/.test(text) ? printable(text).replaceAll("\n", "\u240a") : text;
}

/** Local wall clock time. The offset is read once per quarter of an hour: no zone changes it in between. */
function localClock(offsetMinutes: (timeMs: number) => number) {
  const QUARTER_MS = 15 * 60 * 1000;
  const DAY_MS = 24 * 60 * 60 * 1000;
  let quarter = Number.NaN;
  let offsetMs = 0;
  let minute = Number.NaN;
  let hoursAndMinutes = "";
  return (timeMs: number): { time: string; day: number } => {
    if (Math.floor(timeMs / QUARTER_MS) !== quarter) {
      quarter = Math.floor(timeMs / QUARTER_MS);
      offsetMs = offsetMinutes(timeMs) * 60 * 1000;
    }
    const local = timeMs - offsetMs;
    const day = Math.floor(local / DAY_MS);
    const ms = Math.floor(local - day * DAY_MS);
    const minuteOfDay = Math.floor(ms / 60_000);
    if (minuteOfDay !== minute) {
      minute = minuteOfDay;
      hoursAndMinutes = `${two(Math.floor(minute / 60))}:${two(minute % 60)}:`;
    }
    const inMinute = ms - minute * 60_000;
    const second = Math.floor(inMinute / 1000);
    const milli = inMinute - second * 1000;
    const time = `${hoursAndMinutes}${two(second)}.${milli < 100 ? `0${two(milli)}` : milli}`;
    return { time, day };
  };
}

const two = (value: number) => (value < 10 ? `0${value}` : String(value));

function dateLine(day: number): string {
  const names = ["Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"];
  // Day 0, the first of January 1970, was a Thursday.
  return `${new Date(day * 24 * 60 * 60 * 1000).toISOString().slice(0, 10)} ${names[(((day + 4) % 7) + 7) % 7]}`;
}

type Style = "dim" | "bold" | "blue" | "cyan" | "green" | "yellow" | "red" | "alarm" | "none";
type Paint = (style: Style, text: string) => string;

const SGR = { dim: "2", bold: "1", blue: "34", cyan: "36", green: "32", yellow: "33", red: "31", alarm: "1;31" };
const colored: Paint = (style, text) =>
  style === "none" || text === "" ? text : `\u001b[${SGR[style]}m${text}\u001b[0m`;
const plain: Paint = (_style, text) => text;

const LEVEL_STYLES: Readonly<Record<Level, Style>> = {
  debug: "dim",
  info: "blue",
  notice: "cyan",
  warn: "yellow",
  error: "red",
  critical: "alarm",
  alert: "alarm",
  emergency: "alarm",
};

function levelStyle(text: string): Style {
  const level = levelOf(text);
  return level === undefined ? "none" : LEVEL_STYLES[level];
}

const STYLE_OF_TONE: Readonly<Record<Tone, Style>> = {
  ...{ plain: "none", quiet: "dim", good: "green", moved: "cyan", refused: "yellow", failed: "red" },
};
