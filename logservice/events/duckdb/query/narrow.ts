import type { Expr, Query, Value } from "../../../../grammar/query/index.ts";
import { target } from "../../../../grammar/query/index.ts";
import { sqlColumnOf } from "../../../../grammar/query/sql/columns.ts";
import { generatedId } from "../../journal/line.ts";
import { type BloomFilter, DamagedFilter, lookUp, OWN_IDS, readFilter } from "../bloom-filter.ts";
import type { StatementRunner } from "../connection-pool.ts";
import type { Segment } from "../segment.ts";
import { overlaps, type RangeSelection } from "./query-context.ts";

/** Leaves out the segments, and of others the rows, that cannot hold a text which each selected event holds. */
export class Narrowing {
  readonly #readers: StatementRunner;
  readonly #damaged: (path: string) => void;
  readonly #filters = new WeakMap<Segment, Promise<BloomFilter | undefined>>();
  #version: Promise<string> | undefined;

  /** `damaged` is told once of each file that is not used because it is not what was written. */
  constructor(readers: StatementRunner, damaged: (path: string) => void) {
    this.#readers = readers;
    this.#damaged = damaged;
  }

  async narrow(
    segments: readonly Segment[],
    selection: RangeSelection,
    signal: AbortSignal,
    readers = this.#readers,
  ): Promise<readonly Segment[]> {
    const demands = demandsOf(selection.range.query);
    if (demands.length === 0 || segments.length === 0) return segments;
    const hashes = await this.#hashes([...new Set(demands.flatMap(({ texts }) => texts))], signal, readers);
    const candidates = segments.filter((segment) => overlaps(segment, selection));
    const narrowed = await Promise.all(
      candidates.map(async (segment) => {
        const filter = await this.#filterOf(segment);
        if (filter === undefined) return [segment];
        try {
          return await narrowOne(segment, filter, demands, hashes);
        } catch (error) {
          this.#giveUp(segment, error);
          return [segment];
        }
      }),
    );
    return narrowed.flat();
  }

  #filterOf(segment: Segment): Promise<BloomFilter | undefined> {
    let filter = this.#filters.get(segment);
    if (filter === undefined) {
      filter = (async () => {
        const never = new AbortController().signal;
        this.#version ??= columnOf<string>(this.#readers, "select version()", [], never).then(([one]) => one!);
        const { path, bytes, integrity } = segment;
        return await readFilter(path, { bytes, sum: integrity.sum }, await this.#version);
      })().catch((error: unknown) => this.#giveUp(segment, error));
      this.#filters.set(segment, filter);
    }
    return filter;
  }

  #giveUp(segment: Segment, error: unknown): undefined {
    if (!(error instanceof DamagedFilter)) throw error;
    this.#filters.set(segment, Promise.resolve(undefined));
    this.#damaged(error.message);
  }

  async #hashes(
    texts: readonly string[],
    signal: AbortSignal,
    readers: StatementRunner,
  ): Promise<ReadonlyMap<string, bigint>> {
    const rows = texts.map(() => "(hash(?::varchar))").join(", ");
    const hashes = await columnOf<bigint>(readers, `select * from (values ${rows})`, texts, signal);
    return new Map(texts.map((text, i) => [text, hashes[i]!]));
  }
}

/** The values of a statement that gives one column. */
async function columnOf<Value>(
  readers: StatementRunner,
  text: string,
  values: readonly string[],
  signal: AbortSignal,
): Promise<Value[]> {
  const results: Value[] = [];
  await readers.run(text, values, signal, ([column]) => void results.push(...(column as Value[])));
  return results;
}

/** A value of which each selected event holds one of some texts. */
interface Demand {
  /** Undefined for the id of an event. */
  readonly path: readonly (string | number)[] | undefined;
  readonly texts: readonly string[];
}

/** Returns the demands of a query: those of its terms that are joined by "and" alone. */
export function demandsOf(query: Query | undefined): Demand[] {
  return query?.expr === undefined ? [] : ofExpr(query.expr);
}

function ofExpr(expr: Expr): Demand[] {
  if (expr.kind === "and") return expr.terms.flatMap(ofExpr);
  const values =
    expr.kind === "comparison" && expr.op === "=" ? [expr.value] : expr.kind === "in" ? expr.values : undefined;
  if (values === undefined || !("field" in expr)) return [];
  const place = target(expr.field);
  if (place.at === "entry" && place.name !== "id") return [];
  const texts = values.map(textOf);
  if (!texts.every((text) => text !== undefined)) return [];
  return [{ path: place.at === "fields" ? place.path : undefined, texts }];
}

/** The only text that equals a value, where there is only one and it can be bound. */
function textOf(value: Value): string | undefined {
  if ((value.kind !== "string" && value.kind !== "word") || value.chunks.length !== 1) return undefined;
  const text = value.chunks[0]!;
  return /[\p{Cs}\0]/u.test(text) ? undefined : text;
}

async function narrowOne(
  segment: Segment,
  filter: BloomFilter,
  demands: readonly Demand[],
  hashes: ReadonlyMap<string, bigint>,
): Promise<Segment[]> {
  const { rows, sequences } = filter.head;
  const runs = sequences.map(() => true);
  for (const { path, texts } of demands) {
    if (path !== undefined && segment.columns.get(JSON.stringify(path)) !== "string") continue;
    const name = path === undefined ? OWN_IDS : sqlColumnOf(path, "string").slice(1, -1);
    const matches = await lookUp(
      filter,
      name,
      texts.map((text) => hashes.get(text)!),
    );
    if (matches === undefined) continue;
    const ownSequences = path === undefined ? texts.map(sequenceOf).filter((one) => one !== undefined) : [];
    for (const [run, [first, last]] of sequences.entries()) {
      runs[run] &&= matches[run]! || ownSequences.some((sequence) => sequence >= first && sequence <= last);
    }
  }
  if (!runs.includes(false)) return [segment];
  if (!runs.includes(true)) return [];
  // The runs between are read, too: separate scans take as long as reading a column of several runs.
  return [{ ...segment, rows: [runs.indexOf(true) * rows, (runs.lastIndexOf(true) + 1) * rows - 1] }];
}

/** The sequence of which an id of our own making was made. */
function sequenceOf(id: string): number | undefined {
  const sequence = /^[0-9a-z]{12,}$/.test(id) ? Number.parseInt(id, 36) : Number.NaN;
  return Number.isSafeInteger(sequence) && generatedId(sequence) === id ? sequence : undefined;
}
