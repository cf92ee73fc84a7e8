import { readOfField } from "../../grammar/query/index.ts";
import type { AggregateColumn, Event } from "../../schema/rpc.generated.ts";
import type { ExportOrder } from "../rpc/export-tickets.ts";
import { readField } from "../rpc/read-range.ts";
import { csvRow } from "./csv.ts";

/** How the lines of a file are written. */
export interface LineFormat<Row> {
  /** The text before the lines; empty if there is none. */
  readonly head: string;
  line(row: Row): string;
}

/** The lines of a file of events. */
export function eventLines({ format, fields }: Pick<ExportOrder, "format" | "fields">): LineFormat<Event> {
  if (format === "ndjson") return { head: "", line: (event) => `${JSON.stringify(event)}\n` };
  const reads = fields.map((name) => readOfField(readField(name)));
  return {
    head: csvRow(["time", "level", "message", ...fields]),
    line: (event) => csvRow([event.timestamp, event.level, event.message, ...reads.map((read) => read(event))]),
  };
}

/** The lines of a file of the rows that stages give. */
export function rowLines(
  { format }: Pick<ExportOrder, "format">,
  columns: readonly AggregateColumn[],
): LineFormat<readonly unknown[]> {
  const names = columns.map(({ name }) => name);
  if (format === "csv") return { head: csvRow(names), line: csvRow };
  const entries = (row: readonly unknown[]) => row.map((value, at) => [names[at]!, value] as const);
  return { head: "", line: (row) => `${JSON.stringify(Object.fromEntries(entries(row)))}\n` };
}
