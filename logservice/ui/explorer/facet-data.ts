import { effect, type ReadonlySignal, type Signal, signal } from "@preact/signals";
import type { DiscoveredField } from "../../../schema/rpc.generated.ts";
import { rangeTexts } from "../../address/view.ts";
import { call, errorText, isAborted } from "../data/call.ts";

/** The statistics of the values of a field in the result of a query, or why there are none. */
export type FacetValues =
  | { readonly kind: "values"; readonly values: readonly FacetValue[]; readonly isCut: boolean }
  | { readonly kind: "numbers"; readonly min: number | null; readonly avg: number | null; readonly max: number | null }
  | { readonly kind: "failed"; readonly reason: string };

export interface FacetValue {
  readonly value: string | number | boolean;
  readonly count: number;
}

/** So many values are shown; there may be more. */
const MOST_VALUES = 10;
/** So many fields are asked for at once: the query itself goes before. */
const AT_ONCE = 2;

export interface FacetRange {
  readonly projectId: string;
  readonly query: string;
  readonly startMs: number;
  readonly stopMs: number;
}

/** The values of fields, asked for when they are wanted, a few at a time. One for each run of a query. */
export class Facets {
  readonly #range: FacetRange;
  readonly #over = new AbortController();
  readonly #facets = new Map<string, Signal<FacetValues | undefined>>();
  readonly #waiting: string[] = [];
  readonly #fields: ReadonlySignal<readonly DiscoveredField[] | undefined>;
  readonly #unfollow: () => void;
  readonly #before: ReadonlyMap<string, Signal<FacetValues | undefined>> | undefined;
  #running = 0;

  /**
   * `fields` are those of this run, once they are known: nothing is asked before, as the fields that are still shown count
   * the events of another query. The values of `before` are shown until those of this run are known.
   */
  constructor(range: FacetRange, fields: ReadonlySignal<readonly DiscoveredField[] | undefined>, before?: Facets) {
    this.#range = range;
    this.#fields = fields;
    this.#before = before === undefined ? undefined : before.#facets;
    this.#unfollow = effect(() => {
      if (fields.value !== undefined) this.#next();
    });
  }

  get query(): string {
    return this.#range.query;
  }

  /** Whether values are asked for that have not come yet. */
  get isReading(): boolean {
    return this.#running > 0 || this.#waiting.length > 0;
  }

  close(): void {
    this.#unfollow();
    this.#over.abort();
  }

  /** The statistics of a field, which are requested if they were not yet. */
  of(field: DiscoveredField): Signal<FacetValues | undefined> {
    const key = keyOf(field);
    let facet = this.#facets.get(key);
    if (facet === undefined) {
      facet = signal<FacetValues | undefined>(this.#before?.get(key)?.peek());
      this.#facets.set(key, facet);
      this.#waiting.push(key);
      // Not while a component is being drawn.
      queueMicrotask(() => this.#next());
    }
    return facet;
  }

  #next(): void {
    const fields = this.#fields.peek();
    while (fields !== undefined && this.#running < AT_ONCE) {
      const key = this.#waiting.shift();
      if (key === undefined || this.#over.signal.aborted) return;
      const field = fields.find((one) => keyOf(one) === key);
      if (field === undefined) continue;
      this.#running++;
      void this.#read(field).finally(() => {
        this.#running--;
        this.#next();
      });
    }
  }

  async #read(field: DiscoveredField): Promise<void> {
    const { projectId, query } = this.#range;
    const input = { project_id: projectId, query, ...rangeTexts(this.#range), field: field.name };
    const options = { signal: this.#over.signal };
    const facet = this.#facets.get(keyOf(field))!;
    try {
      if (field.type === "number") facet.value = await this.#readNumbers(field, input, options);
      else if (field.type === "boolean") {
        const { values } = await call("get_boolean_field_stats", input, options);
        facet.value = { kind: "values", values, isCut: false };
      } else {
        const { values } = await call("get_string_field_stats", { ...input, limit: MOST_VALUES }, options);
        facet.value = { kind: "values", values, isCut: values.length === MOST_VALUES };
      }
    } catch (error) {
      if (!isAborted(error)) facet.value = { kind: "failed", reason: errorText(error) };
    }
  }

  /** Few numbers, such as those of a status, are values like others; many are a range. */
  async #readNumbers(
    field: DiscoveredField,
    input: FacetInput,
    options: { readonly signal: AbortSignal },
  ): Promise<FacetValues> {
    const query = `${input.query} | top ${MOST_VALUES} ${field.name}`;
    const { rows } = await call("aggregate", { ...input, query, limit: MOST_VALUES }, options);
    const values = rows.flatMap(([value, count]) =>
      typeof value === "number" ? [{ value, count: Number(count) }] : [],
    );
    const covered = values.reduce((sum, { count }) => sum + count, 0);
    if (rows.length < MOST_VALUES || covered >= field.count * LEAST_COVERED)
      return { kind: "values", values, isCut: rows.length === MOST_VALUES };
    const { min, avg, max } = await call("get_numeric_field_stats", input, options);
    return { kind: "numbers", min, avg, max };
  }
}

const keyOf = ({ type, name }: DiscoveredField) => `${type} ${name}`;

/** Numbers are shown as values if those that are shown are at least this share of all. */
const LEAST_COVERED = 0.8;

interface FacetInput {
  readonly project_id: string;
  readonly query: string;
  readonly start: string;
  readonly stop: string;
  readonly field: string;
}
