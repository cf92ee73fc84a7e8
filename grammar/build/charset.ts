// Sets of characters, as needed to turn single-character expressions into table look-ups and to decide by the next
// character which alternatives can match.

/** A set of code points: a flag for each ASCII character, and the rest as source of a test on a code point `cp`. */
export interface CharSet {
  readonly ascii: readonly boolean[];
  /** JavaScript source of a boolean expression over `cp` (>= 128): "true", "false" or a test. */
  readonly beyond: string;
}

export const none: CharSet = { ascii: new Array(128).fill(false), beyond: "false" };
export const all: CharSet = { ascii: new Array(128).fill(true), beyond: "true" };

/** Code points from `from` to `to`, both included. */
export function range(from: number, to: number): CharSet {
  return {
    ascii: none.ascii.map((_, code) => code >= from && code <= to),
    beyond: to < 128 ? "false" : from <= 128 && to === 0x10ffff ? "true" : `(cp >= ${from} && cp <= ${to})`,
  };
}

/** The characters that a Unicode regular expression of one character matches. */
export function matching(pattern: RegExp): CharSet {
  return {
    ascii: none.ascii.map((_, code) => pattern.test(String.fromCharCode(code))),
    beyond: `/^(?:${pattern.source})$/u.test(String.fromCodePoint(cp))`,
  };
}

export function union(a: CharSet, b: CharSet): CharSet {
  const beyond =
    a.beyond === "true" || b.beyond === "true"
      ? "true"
      : a.beyond === "false" || a.beyond === b.beyond
        ? b.beyond
        : b.beyond === "false"
          ? a.beyond
          : `(${a.beyond} || ${b.beyond})`;
  return { ascii: a.ascii.map((has, code) => has || b.ascii[code]!), beyond };
}

/** Those of `a` that are not in `b`. */
export function minus(a: CharSet, b: CharSet): CharSet {
  const beyond =
    a.beyond === "false" || b.beyond === "true"
      ? "false"
      : b.beyond === "false"
        ? a.beyond
        : a.beyond === "true"
          ? `!${b.beyond}`
          : `(${a.beyond} && !${b.beyond})`;
  return { ascii: a.ascii.map((has, code) => has && !b.ascii[code]!), beyond };
}

/** Whether the set surely holds every character. */
export const isAll = (set: CharSet): boolean => set.beyond === "true" && set.ascii.every(Boolean);
