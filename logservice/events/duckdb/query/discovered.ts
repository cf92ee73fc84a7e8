import { eitherSql, SQL_FALSE } from "../../../../grammar/query/sql/condition.ts";
import { discoveredType, eachElement, eachField, fieldName } from "../../field-paths.ts";
import { compareText } from "../../order.ts";
import { type DiscoveredField, type DiscoveredType, MAX_DISCOVERED_FIELDS } from "../../store.ts";
import { allFields, eventsOfLevels, fieldsOfLevels } from "../../summary/summary.ts";
import type { Segment } from "../segment.ts";
import { aggregate, type StatementTemplate } from "./aggregate.ts";
import { ofField } from "./field-values.ts";
import type { QueryContext } from "./query-context.ts";

export async function discovered(context: QueryContext): Promise<DiscoveredField[]> {
  const byPath = new Map<string, { path: readonly string[]; counts: Record<DiscoveredType, number> }>();
  let total = 0;
  const of = (path: readonly string[]) => {
    const key = JSON.stringify(path);
    let field = byPath.get(key);
    if (field === undefined) {
      field = { path: [...path], counts: { string: 0, number: 0, boolean: 0 } };
      byPath.set(key, field);
    }
    return field.counts;
  };
  await aggregate(context, {
    summary: (summary, levels) => {
      const levelFields = fieldsOfLevels(summary, levels);
      if (levelFields === undefined) return false;
      total += eventsOfLevels(summary, levels);
      for (const fields of levelFields) {
        for (const { path, string, number, boolean } of fields.values()) {
          const counts = of(path);
          counts.string += string;
          counts.number += number;
          counts.boolean += boolean;
        }
      }
      return true;
    },
    sql: countedFields,
    rows: ([names, totals]) => {
      for (let i = 0; i < names!.length; i++) {
        const events = totals![i] as number;
        if (names![i] === ALL) total += events;
        else if (events > 0) {
          const [path, type] = JSON.parse(names![i] as string) as [string[], DiscoveredType];
          of(path)[type] += events;
        }
      }
    },
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
  });
  return [...byPath.values()]
    .flatMap(({ path, counts }) =>
      TYPES.filter((type) => counts[type] > 0).map((type) => ({
        name: fieldName(path),
        type,
        count: counts[type],
        percent: counts[type] / total,
      })),
    )
    .sort((a, b) => b.count - a.count || compareText(a.name, b.name) || compareText(a.type, b.type))
    .slice(0, MAX_DISCOVERED_FIELDS);
}

/**
 * A statement of each path and type, as JSON, with the events that hold it: what has a column is counted without reading
 * the JSON. Undefined where too much has none: then it is faster to parse the events.
 */
function countedFields(segment: Segment): StatementTemplate | undefined {
  const { summary, columns } = segment;
  if (summary.isCut) return undefined;
  const names: string[] = [ALL];
  const counts: StatementTemplate[] = [EACH];
  let read = 0;
  // In the same order for all segments, so that those with the same paths are asked at once.
  const fields = allFields(summary);
  for (const key of [...fields.keys()].sort()) {
    const field = fields.get(key)!;
    for (const type of TYPES) {
      if (field[type] === 0) continue;
      if (!columns.has(key) && ++read > MOST_READ) return undefined;
      const statement =
        columns.has(key) && field.present === summary.events
          ? EACH
          : ofField({ at: "fields", path: field.path }, segment, type, ({ text, values }, except) => ({
              text,
              before: values,
              except,
            }));
      if (statement === undefined) return undefined;
      names.push(JSON.stringify([field.path, type]));
      counts.push(statement);
    }
  }
  return {
    text: `unnest(from_json(?, '["VARCHAR"]')), unnest([${counts.map(({ text }) => `count(${text})`).join(", ")}])::double %`,
    before: [JSON.stringify(names), ...counts.flatMap(({ before }) => before)],
    except: eitherSql(counts.map(({ except }) => except)),
  };
}

/** Counts each event: a column that no event lacks need not be read. */
const EACH: StatementTemplate = { text: "*", before: [], except: SQL_FALSE };

/** The name under which all events are counted. */
const ALL = "all";
const TYPES = ["boolean", "number", "string"] as const;

// The engine reads an event's JSON for each of them again.
const MOST_READ = 4;
