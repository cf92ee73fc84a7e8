// The order in which `sort` puts the values of a column: by the column's type, not by how a value happens to be written.
import { levelOf, severity } from "../levels.ts";
import { readPreciseTime } from "../timestamp.ts";
import type { RowColumnType } from "./columns.ts";
import { compareCells } from "./values.ts";

export interface SortOrder {
  /** The value as `compare` takes it, so that each is read once. */
  key(value: unknown): unknown;
  compare(a: unknown, b: unknown): number;
}

/**
 * Times by time, to the nanosecond and with their offsets; levels by severity; all else as values are ordered. In a column
 * of times, what is no time comes before all times, in the order of values, as what is no level does in one of levels.
 */
export function sortOrder(type: RowColumnType): SortOrder {
  switch (type) {
    case "time":
      return TIMES;
    case "level":
      return SEVERITIES;
    case "number":
    case "value":
      return VALUES;
    default:
      return type satisfies never;
  }
}

/** A time or a level; objects of JSON values are no instances of it. */
class Ranked {
  readonly rank: number;
  /** Decides between equal ranks. */
  readonly rest: number;

  constructor(rank: number, rest: number) {
    this.rank = rank;
    this.rest = rest;
  }
}

const compareKeys = (a: unknown, b: unknown): number => {
  if (!(a instanceof Ranked)) return b instanceof Ranked ? -1 : compareCells(a, b);
  if (!(b instanceof Ranked)) return 1;
  return a.rank - b.rank || a.rest - b.rest;
};

const VALUES: SortOrder = { key: (value) => value, compare: compareCells };

const TIMES: SortOrder = {
  key: (value) => {
    const time = typeof value === "string" ? readPreciseTime(value) : undefined;
    return time === undefined ? value : new Ranked(time.ms, time.ns);
  },
  compare: compareKeys,
};

const SEVERITIES: SortOrder = {
  key: (value) => {
    const level = typeof value === "string" ? levelOf(value) : undefined;
    return level === undefined ? value : new Ranked(severity(level), 0);
  },
  compare: compareKeys,
};
