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

const harmless = (text: string) => (IS_FORMULA.test(text) ? `'${text}` : text);

/**
 * Some programs skip blanks, control characters and what is not seen at the beginning, and take the wide and small forms of the
 * signs for the signs (OWASP, CSV Injection).
 */
const IS_FORMULA =
  /^[\s\p{Cc}\p{Default_Ignorable_Code_Point}]*[=+\-@\uFF1D\uFF0B\uFF0D\uFF20\uFE66\uFE62\uFE63\uFE6B]|^[\t\r\n]/u;
