import type { Entry } from "../../grammar/entry.ts";
import { describe } from "../../grammar/problem.ts";
import {
  addValues,
  type CountedValues,
  compilePredicate,
  conditionsOf,
  type Expr,
  encodeString,
  fieldsNamed,
  isPossible,
  isSeen,
  meantField,
  type NearQuery,
  type NothingReason,
  nameInQuery,
  nearQueries,
  otherTypesIn,
  type Pipeline,
  type PlacedCondition,
  parseQuery,
  printField,
  type Query,
  type ReadField,
  readFields,
  reasonsFor,
  type SeenFields,
  type SoughtText,
  soughtTexts,
} from "../../grammar/query/index.ts";
import { byteSize } from "../output/byte-size.ts";
import { type EntryLine, readEntryLine } from "./entry-line.ts";
import type { Block } from "./line-blocks.ts";
import { type LineScan, lineScan, type Wanted } from "./line-scan.ts";

/** Enough to know what a log contains; reading them takes a tenth of a second. */
const MAX_ENTRIES = 20_000;
/** Depth of nested fields such as user.email. */
const MAX_DEPTH = 4;
/** How many values of an entry are searched for a text, and how many fields with it are remembered. */
const MAX_VALUES = 200;
const MAX_TEXT_FIELDS = 8;

/** A similar query, and how many entries it finds. */
interface Near extends NearQuery {
  readonly matches: (entry: Entry) => boolean;
  count: number;
}

/**
 * A summary of the entries of the period, while a query has matched none of them: how many there are, which fields they
 * have, and whether a query with another term would have matched.
 */
export class Survey {
  readonly #wanted: Wanted;
  readonly #scan: LineScan;
  readonly #absent: Set<ReadField>;
  readonly #near: readonly Near[];
  readonly #sought: readonly { readonly text: SoughtText; readonly fields: Map<string, Near | undefined> }[];
  readonly #pipeline: Pipeline;
  readonly #values = new Map<string, CountedValues>();
  /** The conditions that no type so far satisfies, although what was found need not satisfy them. */
  readonly #undecided: Set<PlacedCondition>;
  readonly #levels = new Set<string>();
  readonly #selects: (entry: Entry) => boolean;
  #isFound = false;
  #count = 0;
  #textCount = 0;
  #isPartial = false;

  /** `pipeline` is the query of `wanted` with the stages after it. */
  constructor(wanted: Wanted, pipeline: Pipeline = { source: wanted.query.source, query: wanted.query, pipes: [] }) {
    this.#wanted = wanted;
    this.#pipeline = pipeline;
    this.#undecided = new Set(conditionsOf(pipeline).filter(({ isNeeded }) => !isNeeded));
    this.#scan = lineScan({ ...wanted, query: { source: "", expr: undefined } });
    this.#absent = new Set(fieldsNamed(pipeline));
    this.#selects = compilePredicate(wanted.query, wanted);
    const meant = reasonsFor(wanted.query).flatMap((reason) => reason.meant ?? []);
    this.#near = [...nearQueries(wanted.query), ...meant].flatMap((near) => this.#compiled(near) ?? []);
    this.#sought = soughtTexts(wanted.query).map((text) => ({ text, fields: new Map() }));
  }

  /** Undefined if the query with this term instead is not valid. */
  #compiled({ term, source }: NearQuery): Near | undefined {
    const parsed = parseQuery(source);
    return parsed.ok ? { term, source, count: 0, matches: compilePredicate(parsed.value, this.#wanted) } : undefined;
  }

  /**
   * Whether it may have something to report even if entries are found: a bare word that no entry so far has as a field, or a
   * condition of another type than all that its field holds.
   */
  get watches(): boolean {
    for (const condition of this.#undecided) {
      if (!isPossible(condition.expr, { values: this.#values })) return true;
      this.#undecided.delete(condition);
    }
    for (const { isAlone } of this.#absent) if (isAlone) return true;
    return false;
  }

  /** Adds the lines of a block. */
  add(block: Block): void {
    if (this.#isPartial) return;
    const goesOn = this.#scan(block, (bytes, start, end, line) => {
      if (this.#count === MAX_ENTRIES) return false;
      this.#take(line ?? readEntryLine(bytes.toString("utf8", start, end)));
      return true;
    });
    if (!goesOn) this.#isPartial = true;
  }

  /** Notes that there are more entries than were added. */
  leaveRest(): void {
    this.#isPartial = true;
  }

  /** Whether there are more entries than were looked at, so that no more are added. */
  get isPartial(): boolean {
    return this.#isPartial;
  }

  get isEmpty(): boolean {
    return this.#count === 0;
  }

  /** Whether a similar query finds one of the entries. */
  get hasNear(): boolean {
    return this.#near.some(({ count }) => count > 0);
  }

  #take({ entry, isEntry }: EntryLine): void {
    this.#count++;
    if (!isEntry) this.#textCount++;
    this.#isFound ||= this.#selects(entry);
    for (const field of this.#absent) if (field.isIn(entry)) this.#absent.delete(field);
    for (const near of this.#near) if (near.matches(entry)) near.count++;
    addValues(entry.fields, [], this.#values);
    this.#levels.add(entry.level);
    for (const sought of this.#sought) {
      const names = new Set<string>();
      addNamesWith({ text: sought.text.text, names, valuesLeft: MAX_VALUES }, entry.fields, []);
      for (const name of names) {
        if (!sought.fields.has(name)) {
          if (sought.fields.size === MAX_TEXT_FIELDS) break;
          sought.fields.set(name, this.#compiled(sought.text.in(name)));
        }
        const near = sought.fields.get(name);
        if (near?.matches(entry)) near.count++;
      }
    }
  }

  /**
   * One line that says what there is and what may have been meant. `totalBytes` is the size of everything that was searched,
   * `counted` a similar query that finds entries beyond those that were added.
   */
  explain(totalBytes: number | undefined, counted?: FoundNear): string {
    const count = this.#count.toLocaleString("en");
    const size = totalBytes === undefined ? "" : ` in ${byteSize(totalBytes)}`;
    const period = periodOf(this.#wanted);
    if (this.#count === 0) return `no entry found${this.#isPartial ? size : ": there are none"}${period}`;
    const [among, subject, of] = this.#isPartial
      ? [size, `none of the first ${count}`, ` of the first ${count}`]
      : [` among ${count}`, "no entry", ""];
    const match = this.#near.find(({ count }) => count > 0);
    const near =
      match !== undefined
        ? [`${findsText({ ...match, isLeast: false })}${of}`]
        : counted !== undefined
          ? [findsText(counted)]
          : [];
    const elsewhere = near.length === 0 ? this.#inFields() : [];
    const reasons = reasonsFor(this.#wanted.query, this.seen());
    const abouts = reasons.map(({ about }) => about);
    const unexplained = [...this.#absent].filter(({ name }) => !abouts.includes(name));
    const isText = this.#textCount === this.#count;
    const absent =
      isText && this.#absent.size > 0
        ? ['the lines are text without fields, which message contains "..." searches']
        : absentFields(unexplained, new Set(this.#values.keys()), subject, near.length + elsewhere.length > 0);
    const said = sentences(reasons, match?.term ?? counted?.term);
    const remarks = [...said, ...absent, ...near, ...elsewhere];
    // Nothing is known about those that were not read.
    if (this.#isPartial && remarks.length === 0) remarks.push(...wholeTexts(this.#wanted.query));
    return joined([`no entry found${among}${period}`, ...remarks]);
  }

  /** The fields that the entries have. */
  seen(): SeenFields {
    const among = (count: string) => `the first ${count} entries`;
    return {
      names: [...this.#values.keys()],
      values: this.#values,
      levels: this.#levels,
      ...(this.#isPartial && { among }),
    };
  }

  /**
   * Says which fields of stages no entry has, and which conditions can never hold; undefined if every entry that was read may
   * be one that was meant.
   */
  explainPipes(totalBytes: number | undefined): string | undefined {
    if (!this.#isFound && !this.#isPartial) return this.explain(totalBytes);
    if (this.#count === 0) return undefined;
    const subject = this.#isPartial ? `none of the first ${this.#count.toLocaleString("en")} entries` : "no entry";
    const absent = absentFields([...this.#absent], new Set(this.#values.keys()), subject, true);
    const said = [...absent, ...otherTypesIn(this.#pipeline, this.seen()).map(describe)];
    return said.length === 0 ? undefined : said.join("; ");
  }

  /**
   * Reports bare words that no entry has as a field, and conditions that can never hold, although entries were found;
   * undefined if there are none.
   */
  explainFound(): string | undefined {
    if (this.#count === 0) return undefined;
    const subject = this.#isPartial ? `none of the first ${this.#count.toLocaleString("en")} entries` : "no entry";
    const words = [...this.#absent].filter(({ isAlone }) => isAlone);
    const said = words
      .slice(0, 2)
      .map(({ name }) => `${subject} has the field ${name}; for the text write: message contains ${textOf(name)}`);
    if (this.#undecided.size > 0) said.push(...otherTypesIn(this.#pipeline, this.seen()).map(describe));
    return said.length === 0 ? undefined : said.join("\n");
  }

  /** The field that most often contains a text that was searched for in messages. */
  #inFields(): string[] {
    let most: { readonly near: Near; readonly said: string } | undefined;
    for (const { text, fields } of this.#sought) {
      for (const [name, near] of fields) {
        if (near === undefined || near.count <= (most?.near.count ?? 0)) continue;
        most = { near, said: `${text.quoted} is in ${name}: ${near.term}` };
      }
    }
    return most === undefined ? [] : [most.said];
  }
}

/** The sentences of the first reasons, without those that a similar query says which finds something. */
const sentences = (reasons: readonly NothingReason[], term: string | undefined) =>
  reasons
    .filter((reason) => !isShown(reason, term))
    .slice(0, MOST_REASONS)
    .map(({ said }) => said);

/** More of them would hide the first. */
const MOST_REASONS = 2;

/** Whether a similar query that finds something says the same: `level = error finds 3`. */
const isShown = ({ code, meant }: NothingReason, term: string | undefined) =>
  /\/(?:near-level|other-type|text-for-number)$/.test(code) &&
  term !== undefined &&
  meant?.term.includes(term) === true;

/** `since 2025-06-30T12:00:00Z until ...`; empty without a period. */
function periodOf({ sinceMs, untilMs }: Pick<Wanted, "sinceMs" | "untilMs">): string {
  const written = (timeMs: number) => new Date(timeMs).toISOString().replace(/\.\d+/, "");
  return `${sinceMs === undefined ? "" : ` since ${written(sinceMs)}`}${untilMs === undefined ? "" : ` until ${written(untilMs)}`}`;
}

/** A similar query that finds something, by its term. */
export interface FoundNear extends NearQuery {
  readonly count: number;
  /** Whether there may be more. */
  readonly isLeast: boolean;
}

/** The whole query, as the number is of it; the changed term of one that is too long for a remark. */
const findsText = ({ term, source, count, isLeast }: FoundNear) => {
  const text = source.trim().length > MOST_SHOWN ? `with ${term} it` : source.trim();
  return `${text} finds ${isLeast ? "at least " : ""}${count.toLocaleString("en")}`;
};

/** Characters of a part of the query that a remark repeats. */
const MOST_SHOWN = 120;

/** Sentences in one line. */
const joined = (sentences: readonly string[]) =>
  sentences.reduce((line, one) => `${line}${line.endsWith("?") ? "" : ";"} ${one}`);

interface Evidence {
  /** The fields that entries have; none if the source does not know them. */
  readonly seen: SeenFields;
  /** Undefined if nothing similar was found, or counted. */
  readonly near?: FoundNear | undefined;
  readonly isCounted?: boolean;
  /** Where a text that was searched for in messages is. */
  readonly elsewhere?: string | undefined;
}

/** The same line if the entries were not read here. */
export function nothingAmong(query: Query, evidence: Evidence, wanted: Wanted): string {
  const { seen, near, isCounted = false, elsewhere } = evidence;
  const { names } = seen;
  const doubts = reasonsFor(query, seen);
  const abouts = doubts.map(({ about }) => about);
  const absent = readFields(query).filter(({ name }) => !isSeen(name, names) && !abouts.includes(name));
  const reasons = sentences(doubts, near?.term);
  if (names.length > 0) reasons.push(...absentFields(absent, new Set(names), "no entry", near !== undefined));
  if (near !== undefined) reasons.push(findsText(near));
  else if (elsewhere !== undefined) reasons.push(elsewhere);
  else if (names.length === 0 && reasons.length === 0 && !isCounted) reasons.push(...wholeTexts(query));
  return joined([`no entry found${periodOf(wanted)}`, ...reasons]);
}

/** Says how a part of a message is searched for, if a text or a word alone is none. */
function wholeTexts({ expr }: Query): string[] {
  const [term] = expr?.kind === "and" ? expr.terms.filter(isAlone) : expr === undefined ? [] : [expr].filter(isAlone);
  if (term?.kind === "message" && term.text.chunks.length === 1) {
    const text = textOf(term.text.chunks[0]!);
    return [`${text} is a whole message; for a part of one write: message contains ${text}`];
  }
  if (term?.kind !== "truthy") return [];
  const name = printField(term.field);
  return [`${name} alone is a field; for the text write: message contains ${textOf(name)}`];
}

const isAlone = ({ kind }: Expr) => kind === "message" || kind === "truthy";

function absentFields(
  fields: readonly ReadField[],
  seen: ReadonlySet<string>,
  subject: string,
  isExplained: boolean,
): string[] {
  return fields.slice(0, 2).map(({ name: whole, isAlone }) => {
    const name = whole.length > MOST_SHOWN ? `${whole.slice(0, MOST_SHOWN)}...` : whole;
    const meant = meantField(name, seen);
    if (meant !== undefined) return `${subject} has ${name}; did you mean ${meant}?`;
    const isText = isAlone && !isExplained;
    if (isAlone && name.startsWith("@")) return `${subject} has ${name}; a saved query comes first: ${name} ...`;
    if (!isText) return `${subject} has ${name}`;
    return `${subject} has ${name}: a word alone is a field; for the text write: message contains ${textOf(name)}`;
  });
}

/** A name as a quoted text, of which one that is too long shows its beginning. */
function textOf(name: string): string {
  const shown = name.length > MOST_SHOWN ? `${name.slice(0, MOST_SHOWN)}...` : name;
  return `"${encodeString([shown], false)}"`;
}

/** A search of an entry's values for a text. */
interface ValueSearch {
  readonly text: string;
  /** The names of the fields whose value contains it. */
  readonly names: Set<string>;
  /** How many more values are looked at. */
  valuesLeft: number;
}

/** Adds the names of the fields below `path` whose value contains the text. */
function addNamesWith(search: ValueSearch, value: object, path: readonly string[]): void {
  const { text, names } = search;
  for (const [key, element] of Object.entries(value)) {
    if (search.valuesLeft-- <= 0) return;
    if (typeof element === "string") {
      if (element.includes(text)) names.add(nameInQuery([...path, key]));
    } else if (Array.isArray(element)) {
      const isIn = element.slice(0, search.valuesLeft).some((item) => typeof item === "string" && item.includes(text));
      if (isIn) names.add(nameInQuery([...path, key]));
    } else if (typeof element === "object" && element !== null && path.length + 1 < MAX_DEPTH) {
      addNamesWith(search, element, [...path, key]);
    }
  }
}
