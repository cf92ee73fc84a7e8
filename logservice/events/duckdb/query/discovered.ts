import { eitherSql, SQL_FALSE } from "../../../../grammar/query/sql/condition.ts";
import { DISCOVERED_TYPES, FieldTally } from "../../field-tally.ts";
import type { DiscoveredField, DiscoveredType } from "../../store.ts";
import { allFields, eventsOfLevels, fieldsOfLevels } from "../../summary/summary.ts";
import type { Segment } from "../segment.ts";
import { aggregate, type StatementTemplate } from "./aggregate.ts";
import { ofField } from "./field-values.ts";
import type { QueryContext } from "./query-context.ts";

export async function discovered(context: QueryContext): Promise<DiscoveredField[]> {
  const tally = new FieldTally();
  await aggregate(context, {
    summary: (summary, levels) => {
      const levelFields = fieldsOfLevels(summary, levels);
      if (levelFields === undefined) return false;
      tally.events += eventsOfLevels(summary, levels);
      for (const fields of levelFields) {
        for (const { path, string, number, boolean } of fields.values()) {
          const counts = tally.of(path);
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
        if (names![i] === ALL) tally.events += events;
        else if (events > 0) {
          const [path, type] = JSON.parse(names![i] as string) as [string[], DiscoveredType];
          tally.of(path)[type] += events;
        }
      }
    },
    event: ({ event }) => tally.add(event.fields),
  });
  return tally.result();
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
    for (const type of DISCOVERED_TYPES) {
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

// The engine reads an event's JSON for each of them again.
const MOST_READ = 4;
