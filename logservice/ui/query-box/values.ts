import type { KnownField, KnownValue } from "../../../grammar/query/index.ts";
import type { DiscoveredField } from "../../../schema/rpc.generated.ts";
import { rangeTexts } from "../../address/view.ts";
import { call } from "../data/call.ts";

/** So many values of a field are offered. */
const MOST_VALUES = 50;
/** A range without events has the fields of this long before it. */
const EARLIER_MS = 7 * 86_400_000;

/** The known fields of a range: their names, and their values once they are requested. */
export class FieldValues {
  readonly #projectId: string;
  readonly #times: { readonly startMs: number; readonly stopMs: number };
  #fields: readonly DiscoveredField[];
  #all: Promise<void> | undefined;
  #ofAll: Promise<readonly DiscoveredField[]> | undefined;
  readonly #requests = new Map<string, Promise<void>>();
  readonly values: Record<string, readonly KnownValue[]> = {};

  constructor(
    projectId: string,
    times: { readonly startMs: number; readonly stopMs: number },
    fields: readonly DiscoveredField[],
  ) {
    this.#projectId = projectId;
    this.#times = times;
    this.#fields = fields;
  }

  /** The discovered fields for the completion, the most usual ones first. */
  get fields(): readonly KnownField[] {
    return this.#fields.map(({ name, type, count }) => ({ name, type, count }));
  }

  /** The discovered fields, once for each type: those of the events that the query has found. */
  get discovered(): readonly DiscoveredField[] {
    return this.#fields;
  }

  /** The fields of all events of the range; those that are known if they cannot be read. */
  allFields(): Promise<readonly DiscoveredField[]> {
    const input = { project_id: this.#projectId, ...rangeTexts(this.#times) };
    this.#ofAll ??= call("get_discovered_fields", input).then(
      ({ fields }) => fields,
      () => this.#fields,
    );
    return this.#ofAll;
  }

  /** Makes sure that fields are known: if the query has found none, those of all events of the range or of the last days. */
  loadFields(): Promise<void> {
    this.#all ??= this.#fields.length > 0 ? Promise.resolve() : this.#readFields();
    return this.#all;
  }

  async #readFields(): Promise<void> {
    const { startMs, stopMs } = this.#times;
    for (const from of [startMs, stopMs - EARLIER_MS]) {
      try {
        const input = { project_id: this.#projectId, ...rangeTexts({ startMs: Math.min(from, startMs), stopMs }) };
        this.#fields = (await call("get_discovered_fields", input)).fields;
      } catch {
        // The next question may be answered.
        this.#all = undefined;
        return;
      }
      if (this.#fields.length > 0) return;
    }
  }

  /** In how many events a field is, for the list of completion; undefined for what is no discovered field. */
  countOf(name: string): number | undefined {
    return this.#fields.find((field) => field.name === name)?.count;
  }

  /** Asks for the values of a field, once. A field without values, or one that fails, has none. */
  read(field: string): Promise<void> {
    const request = this.#requests.get(field) ?? this.#read(field);
    this.#requests.set(field, request);
    return request;
  }

  async #read(field: string): Promise<void> {
    try {
      const input = { project_id: this.#projectId, ...rangeTexts(this.#times), field, limit: MOST_VALUES };
      const { values } = await call("get_string_field_stats", input);
      this.values[field] = values.map(({ value, count }) => ({ value, count }));
    } catch {
      this.values[field] = [];
    }
  }
}
