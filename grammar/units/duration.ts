import { type Fix, type Parsed, type Problem, quote, type Span } from "../problem.ts";
import { scaleDecimal } from "./scale.ts";

/**
 * Milliseconds of a duration as people type it: `500ms`, `15m`, `1d12h`, `1.5h`, `1M` (30 days).
 * Units M d h m s ms, biggest first, each at most once. The result is a whole number of milliseconds, zero or more.
 *
 * Problems: `duration/empty`, `duration/malformed`, `duration/negative`, `duration/blank`, `duration/missing-unit`,
 * `duration/unknown-unit`, `duration/repeated-unit`, `duration/wrong-order`, `duration/fraction`, `duration/too-large`.
 */
export function parseDuration(text: string): Parsed<number> {
  const problems: Problem[] = [];
  const parts: Part[] = [];
  if (text.trim() === "") {
    const span = { start: 0, end: text.length };
    const empty = problem("empty", "the duration is empty", "write 15m or 1d12h", span);
    return { ok: false, problems: [{ ...empty, fix: suggest(span, "15m") }] };
  }

  if (text.length > MAX_LENGTH) {
    const span = { start: 0, end: text.length };
    return { ok: false, problems: [problem("malformed", `${quote(text)} is not a duration`, EXAMPLES, span)] };
  }

  let at = 0;
  while (at < text.length) {
    const blank = matchAt(/\s+/uy, text, at);
    if (blank !== "") {
      const span = { start: at, end: at + blank.length };
      problems.push({
        ...problem("blank", `${quote(text)} contains a space`, "write it as one word, 1d12h", span),
        fix: { title: "Remove the space", edits: [{ span, text: "" }] },
      });
      at = span.end;
      continue;
    }
    const sign = matchAt(/[+-]/y, text, at);
    const number = matchAt(/\d+(?:\.\d+)?|\.\d+/y, text, at + sign.length);
    if (number === "") {
      const span = { start: at, end: text.length };
      // After a number only the rest is none.
      const fix = suggest({ start: 0, end: text.length }, parts.length === 0 ? "15m" : inOrder(parts));
      problems.push({ ...problem("malformed", `${quote(text)} is not a duration`, EXAMPLES, span), fix });
      break;
    }
    if (sign !== "") {
      const span = { start: at, end: at + 1 };
      problems.push({
        ...problem("negative", `a duration has no sign, found ${quote(sign)}`, `write ${text.slice(at + 1)}`, span),
        fix: { title: `Remove ${sign}`, edits: [{ span, text: "" }] },
      });
    }
    const start = at + sign.length;
    at = start + number.length;
    const gap = matchAt(/\s+(?=[\p{L}\u00b5])/uy, text, at);
    if (gap !== "") {
      const span = { start: at, end: at + gap.length };
      problems.push({
        ...problem("blank", `${quote(text)} contains a space`, "write the unit directly after the number", span),
        fix: { title: "Remove the space", edits: [{ span, text: "" }] },
      });
      at = span.end;
    }
    const unit = matchAt(/[\p{L}\u00b5]+/uy, text, at);
    const unitSpan = { start: at, end: at + unit.length };
    at = unitSpan.end;
    if (unit === "") {
      const span = { start, end: at };
      const missing = problem("missing-unit", `${quote(number)} has no unit`, `${UNITS}; ${number}s is seconds`, span);
      const [fix, ...alternatives] = ["s", "m", "h"].map((name) => suggest(span, `${number}${name}`));
      problems.push({ ...missing, fix: fix!, alternatives });
    } else if (isDurationUnit(unit)) {
      parts.push({ number, unit, span: { start, end: at }, unitSpan });
    } else {
      problems.push(unknownUnit(number, unit, { start, end: at }, unitSpan));
    }
  }

  problems.push(...orderProblems(parts), ...fractionProblems(parts));
  const total = parts.reduce((sum, part) => sum + scaleDecimal(part.number, DURATION_UNITS[part.unit]), 0);
  if (problems.length === 0 && total > Number.MAX_SAFE_INTEGER) {
    const span = { start: 0, end: text.length };
    problems.push(problem("too-large", `${quote(text)} is too long`, "at most 9007199254740991ms", span));
  }
  if (problems.length > 0) return { ok: false, problems: problems.sort((a, b) => a.span.start - b.span.start) };
  return { ok: true, value: total };
}

/** The canonical text of whole milliseconds, days the biggest unit: `1d12h`, `0s`. `parseDuration` reads it back. */
export function formatDuration(ms: number): string {
  if (!Number.isSafeInteger(ms) || ms < 0) throw new RangeError(`not a whole number of milliseconds: ${ms}`);
  if (ms === 0) return "0s";
  let rest = ms;
  let text = "";
  for (const unit of ["d", "h", "m", "s", "ms"] as const) {
    const count = Math.floor(rest / DURATION_UNITS[unit]);
    rest -= count * DURATION_UNITS[unit];
    if (count > 0) text += `${count}${unit}`;
  }
  return text;
}

/** For people, rounded to what is worth reading: `0.4ms`, `15ms`, `1.24s`, `2m 5s`, `3h 20m`, `1d 12h`, `1234.5d`. */
export function humanDuration(ms: number): string {
  if (ms < 0) return `-${humanDuration(-ms)}`;
  if (ms < 10 && round(ms, 2) < 10) return `${round(ms, 2)}ms`;
  if (Math.round(ms) < 1000) return `${Math.round(ms)}ms`;
  if (round(ms / 1000, 2) < 60) return `${round(ms / 1000, 2)}s`;
  // Rounded at the smaller unit before it is split, so that 59m 59.7s becomes 1h and never 59m 60s.
  const seconds = Math.round(ms / DURATION_UNITS.s);
  if (seconds < 3600) return pair(seconds, 60, "m", "s");
  const minutes = Math.round(ms / DURATION_UNITS.m);
  if (minutes < 1440) return pair(minutes, 60, "h", "m");
  const days = ms / DURATION_UNITS.d;
  if (days < 1000) return pair(Math.round(ms / DURATION_UNITS.h), 24, "d", "h");
  return `${sixDigits(days)}d`;
}

/** Milliseconds of each unit, biggest first, which is the order they are written in. */
export const DURATION_UNITS = {
  // The specification's month has no calendar: 30 days.
  M: 30 * 86_400_000,
  d: 86_400_000,
  h: 3_600_000,
  m: 60_000,
  s: 1000,
  ms: 1,
} as const;

export type DurationUnit = keyof typeof DURATION_UNITS;

/** The unit that people mean by a longer or differently written name of it. */
export function meantDurationUnit(unit: string): DurationUnit | undefined {
  const name = unit.toLowerCase();
  if (/^(ms|msecs?|millis|milliseconds?)$/.test(name)) return "ms";
  if (/^(s|secs?|seconds?)$/.test(name)) return "s";
  if (/^(m|mins?|minutes?)$/.test(name)) return "m";
  if (/^(h|hrs?|hours?)$/.test(name)) return "h";
  if (/^(d|days?)$/.test(name)) return "d";
  if (/^(mo|mons?|months?)$/.test(name)) return "M";
  return undefined;
}

interface Part {
  readonly number: string;
  readonly unit: DurationUnit;
  readonly span: Span;
  readonly unitSpan: Span;
}

// Several times what the longest duration needs; a bound on the work for any text.
const MAX_LENGTH = 128;
const EXAMPLES = "write a number with a unit, such as 15m or 1d12h";
const UNITS = "units are ms, s, m, h, d and M (30 days)";
const ORDER = Object.keys(DURATION_UNITS) as DurationUnit[];

const isDurationUnit = (unit: string): unit is DurationUnit => Object.hasOwn(DURATION_UNITS, unit);

function matchAt(sticky: RegExp, text: string, at: number): string {
  sticky.lastIndex = at;
  return sticky.exec(text)?.[0] ?? "";
}

function unknownUnit(number: string, unit: string, span: Span, unitSpan: Span): Problem {
  const message = `unknown unit ${quote(unit)}`;
  const meant = meantDurationUnit(unit);
  if (meant !== undefined) {
    return {
      ...problem("unknown-unit", message, `write ${number}${meant}`, unitSpan),
      fix: { title: `Write ${number}${meant}`, edits: [{ span: unitSpan, text: meant }] },
    };
  }
  if (/^(w|wks?|weeks?)$/i.test(unit)) {
    const days = `${scaleDecimal(number, 7)}d`;
    return {
      ...problem("unknown-unit", message, `a week is 7d: write ${days}`, unitSpan),
      fix: { title: `Write ${days}`, edits: [{ span, text: days }] },
    };
  }
  const [fix, ...alternatives] = ["s", "m", "h"].map((name) => suggest(span, `${number}${name}`));
  return { ...problem("unknown-unit", message, UNITS, unitSpan), fix: fix!, alternatives };
}

function orderProblems(parts: readonly Part[]): Problem[] {
  const problems: Problem[] = [];
  const seen = new Set<DurationUnit>();
  let smallest = -1;
  for (const { unit, span } of parts) {
    const rank = ORDER.indexOf(unit);
    if (seen.has(unit)) {
      problems.push(problem("repeated-unit", `the unit ${quote(unit)} is repeated`, "write each unit once", span));
    } else if (rank < smallest) {
      const bigger = `${quote(unit)} comes after the smaller ${quote(ORDER[smallest]!)}`;
      const hint = `write the largest unit first: ${inOrder(parts)}`;
      // All of it is written again, once.
      const whole = { start: parts[0]!.span.start, end: parts.at(-1)!.span.end };
      const isFirst = problems.every(({ code }) => code !== "duration/wrong-order");
      const isPlain = new Set(parts.map((part) => part.unit)).size === parts.length;
      const fix = { title: `Write ${inOrder(parts)}`, edits: [{ span: whole, text: inOrder(parts) }] };
      problems.push({ ...problem("wrong-order", bigger, hint, span), ...(isFirst && isPlain && { fix }) });
    }
    seen.add(unit);
    smallest = Math.max(smallest, rank);
  }
  return problems;
}

const inOrder = (parts: readonly Part[]) =>
  [...parts]
    .sort((a, b) => ORDER.indexOf(a.unit) - ORDER.indexOf(b.unit))
    .map((part) => part.number + part.unit)
    .join("");

function fractionProblems(parts: readonly Part[]): Problem[] {
  const problems: Problem[] = [];
  for (const [index, { number, unit, span }] of parts.entries()) {
    if (!number.includes(".")) continue;
    if (index < parts.length - 1) {
      const message = `a fraction before another unit: ${quote(number + unit)}`;
      problems.push(problem("fraction", message, "only the last number may have a fraction", span));
    } else if (!Number.isInteger(scaleDecimal(number, DURATION_UNITS[unit]))) {
      const message = `${quote(number + unit)} is not a whole number of milliseconds`;
      problems.push(problem("fraction", message, "a millisecond is the smallest step", span));
    }
  }
  return problems;
}

const suggest = (span: Span, text: string): Fix => ({
  title: `Write ${text}`,
  edits: [{ span, text }],
  isSuggestion: true,
});

function problem(name: string, message: string, hint: string, span: Span): Problem {
  return { code: `duration/${name}`, severity: "error", message, hint, span };
}

/** `1234.5`, `1.15741e+292`. */
const sixDigits = (value: number) => {
  const short = Number(value.toPrecision(6));
  return short < 1e6 ? String(short) : short.toExponential();
};

const round = (value: number, places: number) => Number(value.toFixed(places));

function pair(smalls: number, factor: number, big: string, small: string): string {
  const rest = smalls % factor;
  return `${Math.floor(smalls / factor)}${big}${rest === 0 ? "" : ` ${rest}${small}`}`;
}
