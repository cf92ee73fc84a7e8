/**
 * A row of a CSV (RFC 4180), with its line end. Texts that a spreadsheet would run as a formula begin with an apostrophe,
 * which it does not show: logs hold what anybody sent. What is no text is no formula: numbers stay numbers. Null and what
 * is missing are empty, other values are JSON.
 */
export function csvRow(cells: readonly unknown[]): string {
  return `${cells.map(cell).join(",")}\r\n`;
}

function cell(value: unknown): string {
  if (value === undefined || value === null) return "";
  if (typeof value === "number" || typeof value === "boolean") return String(value);
  const text = typeof value === "string" ? harmless(value) : JSON.stringify(value);
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

/** Some programs skip blanks, line ends, byte order marks and NUL at the beginning (OWASP, CSV Injection). */
const harmless = (text: string) => (/^[\s\0]*[=+\-@]|^[\t\r\n]/.test(text) ? `'${text}` : text);
