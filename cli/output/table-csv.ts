import { type Cell, jsonText, type Table } from "../../grammar/query/index.ts";

/**
 * The rows as comma-separated values: RFC 4180, with a line of the columns' names and CRLF after each line. Null is empty, an
 * empty text is "", lists and objects are JSON texts.
 */
export function tableCsv({ columns, rows }: Table): string {
  const lines = [columns.map(({ name }) => quoted(name)), ...rows.map((row) => columns.map((_, at) => csvOf(row[at])))];
  // A line without anything would be taken for no row.
  return lines.map((values) => `${values.join(",") || '""'}\r\n`).join("");
}

function csvOf(cell: Cell): string {
  if (cell === null || cell === undefined) return "";
  if (typeof cell === "string") return quoted(cell);
  return typeof cell === "object" ? quoted(jsonText(cell)) : String(cell);
}

const quoted = (text: string) => (text === "" || /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text);
