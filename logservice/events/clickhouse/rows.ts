import { levelOf, severity } from "../../../grammar/query/index.ts";
import { canonicalTimestamp, cutTimestamp, readInstant } from "../instant.ts";
import { wellFormedEvent } from "../journal/line.ts";
import { bytesOf } from "../page.ts";
import type { Event, NewEvent } from "../store.ts";
import type { Row } from "./connection.ts";

/** The columns that `eventOfRow` reads, in their order. */
export const EVENT_COLUMNS =
  "toString(toUnixTimestamp64Nano(timestamp)), id, level, message, fields, written, truncated";

export function eventOfColumns(row: Row): Event {
  const [nanoseconds, id, level, message, fields, written, truncated] = row as [
    string,
    string,
    string,
    string,
    string,
    string,
    boolean,
  ];
  return {
    id,
    timestamp: written === "" ? canonicalTimestamp(BigInt(nanoseconds)) : written,
    level,
    message,
    fields: JSON.parse(fields),
    ...(truncated && { truncated }),
  };
}

/** A new event as it is stored. */
export interface NewRow {
  readonly event: Event;
  /** Since 1970 in UTC. */
  readonly day: number;
  /** A line of JSON: the values of INSERTED. */
  readonly line: string;
}

const DAY_MS = 86_400_000;

export function newRow(project: string, id: string, one: NewEvent): NewRow {
  const row = encodeRow(project, id, one);
  // ClickHouse refuses the statement with such an escape.
  return row.line.includes("\\ud") ? encodeRow(project, id, wellFormedEvent(one)) : row;
}

function encodeRow(project: string, id: string, one: NewEvent): NewRow {
  const { level, message, fields, truncated, fieldsJson = JSON.stringify(fields) } = one;
  const timestamp = cutTimestamp(one.timestamp);
  const event: Event = { id, timestamp, level, message, fields, ...(truncated === true && { truncated }) };
  // The caller has checked that it can be stored.
  const { ms, nanoseconds, isCanonical } = readInstant(timestamp)!;
  const written = isCanonical ? "" : timestamp;
  const texts = JSON.stringify([level, severity(levelOf(level)!), message, fieldsJson, written, truncated === true]);
  return {
    event,
    day: Math.floor(ms / DAY_MS),
    // More digits than a float64 holds: JSON.stringify cannot write them.
    line: `[${JSON.stringify(project)},${nanoseconds},${JSON.stringify(id)},${texts.slice(1, -1)},${bytesOf(event, fieldsJson)}]\n`,
  };
}
