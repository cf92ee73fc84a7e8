import { readEntryLine } from "../../../cli/logs/entry-line.ts";
import { levelOf } from "../../../grammar/query/index.ts";
import { isStorableTimestamp } from "../../../logservice/events/instant.ts";
import type { NewEvent } from "../../../logservice/events/store.ts";

/** An entry as the log service takes it: known levels, storable times, UTF-8. */
export function storable(line: string, isTidy: boolean): NewEvent {
  const { entry } = readEntryLine(line);
  const { id, timestamp, level, message, fields } = entry;
  return {
    ...(id && { id }),
    timestamp: isStorableTimestamp(timestamp) ? timestamp : "2024-05-01T11:00:00.000Z",
    level: levelOf(level) === undefined ? "info" : level,
    message,
    fields: Array.isArray(fields) ? {} : isTidy ? (tidied(fields) as typeof fields) : fields,
  };
}

/** Scalars as they are if their key's length says so; everything else of the key becomes a text, number or boolean. */
function tidied(value: unknown, key = ""): unknown {
  if (typeof value === "object" && value !== null && !Array.isArray(value)) {
    return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, tidied(one, key)]));
  }
  if (key.length % 3 === 0) return typeof value === "number" ? value : String(value).length;
  return key.length % 3 === 1 ? String(value) : value === true || String(value).length % 2 === 0;
}
