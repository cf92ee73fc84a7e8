import { discoveredType, eachElement, eachField, fieldName } from "./field-paths.ts";
import { compareText } from "./order.ts";
import { type DiscoveredField, type DiscoveredType, type Event, MAX_DISCOVERED_FIELDS } from "./store.ts";

export const DISCOVERED_TYPES = ["boolean", "number", "string"] as const;

/** Counts which fields events have, and of which types. */
export class FieldTally {
  readonly #byPath = new Map<string, { path: readonly string[]; counts: Record<DiscoveredType, number> }>();
  events = 0;

  /** The counts of a path, to be added to. */
  of(path: readonly string[]): Record<DiscoveredType, number> {
    const key = JSON.stringify(path);
    let field = this.#byPath.get(key);
    if (field === undefined) {
      field = { path: [...path], counts: { string: 0, number: 0, boolean: 0 } };
      this.#byPath.set(key, field);
    }
    return field.counts;
  }

  /** Adds `count` events with these fields. */
  add(fields: Event["fields"], count = 1): void {
    this.events += count;
    eachField(fields, (path, value) => {
      const type = discoveredType(value);
      if (type !== undefined) this.of(path)[type] += count;
      else if (Array.isArray(value)) {
        const types = new Set<DiscoveredType>();
        eachElement(value, (element) => {
          const type = discoveredType(element);
          if (type !== undefined) types.add(type);
        });
        for (const type of types) this.of(path)[type] += count;
      }
    });
  }

  /** The fields that most events have first. */
  result(): DiscoveredField[] {
    return [...this.#byPath.values()]
      .flatMap(({ path, counts }) =>
        DISCOVERED_TYPES.filter((type) => counts[type] > 0).map((type) => ({
          name: fieldName(path),
          type,
          count: counts[type],
          percent: counts[type] / this.events,
        })),
      )
      .sort((a, b) => b.count - a.count || compareText(a.name, b.name) || compareText(a.type, b.type))
      .slice(0, MAX_DISCOVERED_FIELDS);
  }
}
