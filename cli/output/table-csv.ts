import { type Cell, jsonText, type Table } from "../../grammar/query/index.ts";
import { visible } from "../../grammar/visible-text.ts";

/**
 * The rows as comma-separated values: RFC 4180, with a line of the columns' names and CRLF after each line. Null is empty, an
 * empty text is "", lists and objects are JSON texts. Exact for programs; on a terminal, which control characters of a log
 * would steer, they are shown as in tables.
 */
export function tableCsv({ columns, rows }: Table, { isTerminal = false } = {}): string {
  const display = isTerminal ? visible : (text: string) => text;
  const textOf = (cell: Cell | undefined): string => {
    if (cell === null || cell === undefined) return "";
    if (typeof cell === "string") return quoted(display(cell));
    return typeof cell === "object" ? quoted(display(jsonText(cell))) : String(cell);
  };
  const names = columns.map(({ name }) => quoted(display(name)));
  const lines = [names, ...rows.map((row) => columns.map((_, at) => textOf(row[at])))];
  // A line without anything would be taken for no row.
  return lines.map((values) => `${values.join(",") || '""'}\r\n`).join("");
}

const quoted = (text: string) => (text === "" || /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text);
