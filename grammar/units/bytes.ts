import { type Parsed, type Problem, quote, type Span } from "../problem.ts";
import { scaleDecimal } from "./scale.ts";

/**
 * Bytes of a size as people type it: `512`, `512b`, `1.5mb`. Units b kb mb gb tb, each 1024 of the one before;
 * a bare number is bytes. The result is a whole number of bytes, zero or more.
 *
 * Problems: `bytes/empty`, `bytes/malformed`, `bytes/negative`, `bytes/blank`, `bytes/unknown-unit`, `bytes/fraction`,
 * `bytes/too-large`.
 */
export function parseBytes(text: string): Parsed<number> {
  const all: Span = { start: 0, end: text.length };
  const fail = (...problems: Problem[]): Parsed<number> => ({ ok: false, problems });
  if (text.trim() === "") return fail(problem("empty", "the size is empty", EXAMPLES, all));

  const match = text.length > MAX_LENGTH ? null : /^(\s*)([+-]?)(\d+(?:\.\d+)?|\.\d+)(\s*)(\p{L}*)(\s*)$/u.exec(text);
  if (match === null) return fail(problem("malformed", `${quote(text)} is not a size`, EXAMPLES, all));
  const [, before = "", sign = "", number = "", gap = "", unit = "", after = ""] = match;

  const problems: Problem[] = [];
  let at = 0;
  const next = (part: string): Span => {
    at += part.length;
    return { start: at - part.length, end: at };
  };
  const remove = (blank: string) => {
    const span = next(blank);
    if (blank === "") return;
    const fix = { title: "Remove the space", edits: [{ span, text: "" }] };
    const message = `${quote(text)} contains a space`;
    problems.push({ ...problem("blank", message, "write it as one word, such as 5kb", span), fix });
  };

  remove(before);
  const signSpan = next(sign);
  if (sign !== "") {
    const fix = { title: `Remove ${sign}`, edits: [{ span: signSpan, text: "" }] };
    const message = `a size has no sign, found ${quote(sign)}`;
    problems.push({ ...problem("negative", message, `write ${number}${unit}`, signSpan), fix });
  }
  const numberSpan = next(number);
  remove(gap);
  const unitSpan = next(unit);
  remove(after);

  const factor = unit === "" ? 1 : isByteUnit(unit) ? BYTE_UNITS[unit] : undefined;
  if (factor === undefined) {
    problems.push(unknownUnit(number, unit, unitSpan));
  } else {
    const value = scaleDecimal(number, factor);
    const span = { start: numberSpan.start, end: unitSpan.end };
    if (value > Number.MAX_SAFE_INTEGER) {
      problems.push(problem("too-large", `${quote(text.trim())} is too large`, "at most 9007199254740991b", span));
    } else if (!Number.isInteger(value)) {
      const whole = formatBytes(Math.round(value));
      const fix = { title: `Write ${whole}`, edits: [{ span, text: whole }] };
      const message = `${quote(number + unit)} is not a whole number of bytes`;
      problems.push({ ...problem("fraction", message, `write ${whole}`, span), fix });
    } else if (problems.length === 0) {
      return { ok: true, value };
    }
  }
  return { ok: false, problems: problems.sort((a, b) => a.span.start - b.span.start) };
}

/** The canonical text of whole bytes, in the biggest unit that leaves no fraction: `1536kb`. `parseBytes` reads it back. */
export function formatBytes(bytes: number): string {
  if (!Number.isSafeInteger(bytes) || bytes < 0) throw new RangeError(`not a whole number of bytes: ${bytes}`);
  for (const unit of ["tb", "gb", "mb", "kb"] as const) {
    if (bytes > 0 && bytes % BYTE_UNITS[unit] === 0) return `${bytes / BYTE_UNITS[unit]}${unit}`;
  }
  return `${bytes}b`;
}

/** For people, with two decimals at most: `512 B`, `1.5 KB`, `20 MB`. */
export function humanBytes(bytes: number): string {
  if (bytes < 0) return `-${humanBytes(-bytes)}`;
  for (const unit of ["b", "kb", "mb", "gb"] as const) {
    const value = Number((bytes / BYTE_UNITS[unit]).toFixed(unit === "b" ? 0 : 2));
    // Compared after rounding, so that no size reads as 1024 KB.
    if (value < 1024) return `${value} ${unit.toUpperCase()}`;
  }
  const value = Number((bytes / BYTE_UNITS.tb).toFixed(2));
  return `${value < 1e6 ? value : Number(value.toPrecision(6)).toExponential()} TB`;
}

/** Bytes of each unit. */
export const BYTE_UNITS = { b: 1, kb: 1024, mb: 1024 ** 2, gb: 1024 ** 3, tb: 1024 ** 4 } as const;

export type ByteUnit = keyof typeof BYTE_UNITS;

/** The unit that people mean by a longer or differently written name of it. */
export function meantByteUnit(unit: string): ByteUnit | undefined {
  const name = unit.toLowerCase();
  if (/^(b|bytes?)$/.test(name)) return "b";
  const scale = /^([kmgt])(b|ib|ilobytes?|egabytes?|igabytes?|erabytes?|ibibytes?)?$/.exec(name)?.[1];
  return scale === undefined ? undefined : (`${scale}b` as ByteUnit);
}

// Several times what the longest size needs; a bound on the work for any text.
const MAX_LENGTH = 128;
const EXAMPLES = "write a number with a unit, such as 512kb or 1.5mb";

const isByteUnit = (unit: string): unit is ByteUnit => Object.hasOwn(BYTE_UNITS, unit);

function unknownUnit(number: string, unit: string, span: Span): Problem {
  const message = `unknown unit ${quote(unit)}`;
  const meant = meantByteUnit(unit);
  if (meant === undefined) return problem("unknown-unit", message, "units are b, kb, mb, gb and tb", span);
  const fix = { title: `Write ${number}${meant}`, edits: [{ span, text: meant }] };
  return { ...problem("unknown-unit", message, `write ${number}${meant}`, span), fix };
}

function problem(name: string, message: string, hint: string, span: Span): Problem {
  return { code: `bytes/${name}`, severity: "error", message, hint, span };
}
