import { discoveredType, eachElement, eachField, fieldName } from "../field-paths.ts";
import { compareText } from "../order.ts";
import { type DiscoveredField, type DiscoveredType, MAX_DISCOVERED_FIELDS } from "../store.ts";
import { aggregate } from "./aggregate.ts";
import type { Selection, Source } from "./source.ts";

export async function discovered(
  source: Source,
  selection: Selection,
  signal: AbortSignal,
): Promise<DiscoveredField[]> {
  const found = new Map<string, { path: readonly string[]; counts: Record<DiscoveredType, number> }>();
  let total = 0;
  const of = (path: readonly string[]) => {
    const key = JSON.stringify(path);
    let field = found.get(key);
    if (field === undefined) {
      field = { path: [...path], counts: { string: 0, number: 0, boolean: 0 } };
      found.set(key, field);
    }
    return field.counts;
  };
  await aggregate(
    source,
    selection,
    {
      summary: ({ events, fields, isCut }) => {
        if (isCut) return false;
        total += events;
        for (const { path, string, number, boolean } of fields.values()) {
          const counts = of(path);
          counts.string += string;
          counts.number += number;
          counts.boolean += boolean;
        }
        return true;
      },
      // Of a part of the events: each is read.
      sql: () => undefined,
      rows: () => {},
      event: ({ event }) => {
        total++;
        eachField(event.fields, (path, value) => {
          const type = discoveredType(value);
          if (type !== undefined) of(path)[type]++;
          else if (Array.isArray(value)) {
            const types = new Set<DiscoveredType>();
            eachElement(value, (element) => {
              const type = discoveredType(element);
              if (type !== undefined) types.add(type);
            });
            for (const type of types) of(path)[type]++;
          }
        });
      },
    },
    signal,
  );
  return [...found.values()]
    .flatMap(({ path, counts }) =>
      (["boolean", "number", "string"] as const)
        .filter((type) => counts[type] > 0)
        .map((type) => ({ name: fieldName(path), type, count: counts[type], percent: counts[type] / total })),
    )
    .sort((a, b) => b.count - a.count || compareText(a.name, b.name) || compareText(a.type, b.type))
    .slice(0, MAX_DISCOVERED_FIELDS);
}
