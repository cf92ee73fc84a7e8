import type { Entry } from "../../grammar/entry.ts";
import {
  compilePredicate,
  meantField,
  nearQueries,
  parseQuery,
  printField,
  type Query,
  type ReadField,
  readFields,
} from "../../grammar/query/index.ts";
import { byteSize } from "../output/byte-size.ts";
import { readEntryLine } from "./entry-line.ts";
import type { Block } from "./line-blocks.ts";
import { type LineScan, lineScan, type Wanted } from "./line-scan.ts";

/** Enough to know what a log holds; reading them takes a tenth of a second. */
const MAX_ENTRIES = 20_000;
const MAX_NAMES = 1_000;
/** Fields of objects of objects: user.email. */
const MAX_DEPTH = 4;

/**
 * What the entries of the asked period hold, while a query has found none of them: how many there are, which fields they
 * have, and whether one with another term would have been found.
 */
export class Survey {
  readonly #wanted: Wanted;
  readonly #scan: LineScan;
  readonly #absent: Set<ReadField>;
  readonly #near: { term: string; count: number; readonly matches: (entry: Entry) => boolean }[];
  readonly #names = new Set<string>();
  #count = 0;
  #isPartial = false;

  constructor(wanted: Wanted) {
    this.#wanted = wanted;
    this.#scan = lineScan({ ...wanted, query: { source: "", expr: undefined } });
    this.#absent = new Set(readFields(wanted.query));
    this.#near = nearQueries(wanted.query).flatMap(({ term, source }) => {
      const parsed = parseQuery(source);
      return parsed.ok ? [{ term, count: 0, matches: compilePredicate(parsed.value, wanted) }] : [];
    });
  }

  /** Takes the lines of a block that nothing was found in. */
  add(block: Block): void {
    if (this.#isPartial) return;
    const goesOn = this.#scan(block, (bytes, start, end, line) => {
      if (this.#count === MAX_ENTRIES) return false;
      this.#take((line ?? readEntryLine(bytes.toString("utf8", start, end))).entry);
      return true;
    });
    if (!goesOn) this.#isPartial = true;
  }

  /** There are entries that are not looked at here. */
  leaveRest(): void {
    this.#isPartial = true;
  }

  #take(entry: Entry): void {
    this.#count++;
    for (const field of this.#absent) if (field.isIn(entry)) this.#absent.delete(field);
    for (const near of this.#near) if (near.matches(entry)) near.count++;
    addNames(entry.fields, [], this.#names);
  }

  /** One line that tells what there was, and what may have been meant. `totalBytes`: of all that was searched. */
  explain(totalBytes: number | undefined): string {
    const count = this.#count.toLocaleString("en");
    const size = totalBytes === undefined ? "" : ` in ${byteSize(totalBytes)}`;
    const period = periodOf(this.#wanted);
    if (this.#count === 0) return `no entry found${this.#isPartial ? size : ": there are none"}${period}`;
    const [among, subject, of] = this.#isPartial
      ? [size, `none of the first ${count}`, ` of the first ${count}`]
      : [` among ${count}`, "no entry", ""];
    const near = this.#near
      .filter(({ count }) => count > 0)
      .map(({ term, count }) => `${term} finds ${count.toLocaleString("en")}${of}`);
    const absent = absentFields([...this.#absent], this.#names, subject, near.length > 0);
    return [`no entry found${among}${period}`, ...absent, ...near.slice(0, 1)].join("; ");
  }
}

/** `since 2025-06-30T12:00:00Z until ...`; blank where no period was asked for. */
export function periodOf({ sinceMs, untilMs }: Pick<Wanted, "sinceMs" | "untilMs">): string {
  const written = (timeMs: number) => new Date(timeMs).toISOString().replace(/\.\d+/, "");
  return `${sinceMs === undefined ? "" : ` since ${written(sinceMs)}`}${untilMs === undefined ? "" : ` until ${written(untilMs)}`}`;
}

/** What is said where all fields are known by name only. */
export function nothingAmong(query: Query, names: readonly string[], wanted: Wanted): string {
  const seen = new Set(names);
  const absent = readFields(query).filter(({ name }) => !names.some((other) => other === name || isBelow(other, name)));
  const told = names.length === 0 ? [] : absentFields(absent, seen, "no entry", false);
  return [`no entry found${periodOf(wanted)}`, ...told].join("; ");
}

const isBelow = (name: string, above: string) => name.startsWith(`${above}.`) || name.startsWith(`${above}[`);

function absentFields(
  fields: readonly ReadField[],
  seen: ReadonlySet<string>,
  subject: string,
  isExplained: boolean,
): string[] {
  return fields.slice(0, 2).map(({ name, isAlone }) => {
    const meant = meantField(name, seen);
    if (meant !== undefined) return `${subject} has ${name}; did you mean ${meant}?`;
    const isText = isAlone && !isExplained;
    return `${subject} has ${name}${isText ? `: a word alone is a field, "*${name}*" searches the messages` : ""}`;
  });
}

function addNames(value: object, path: readonly string[], names: Set<string>): void {
  for (const [key, element] of Object.entries(value)) {
    if (names.size >= MAX_NAMES) return;
    const at = [...path, key];
    if (typeof element === "object" && element !== null && !Array.isArray(element) && at.length < MAX_DEPTH) {
      addNames(element, at, names);
    } else names.add(nameOf(at));
  }
}

function nameOf(path: readonly string[]): string {
  const span = { start: 0, end: 0 };
  return printField({ path: path.map((key) => ({ kind: "key", key, span })), span });
}
