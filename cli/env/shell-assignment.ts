/**
 * A line that sets a variable in sh, bash, zsh and fish alike. In single quotes the first three take everything literally,
 * fish all but a backslash; so backslashes and single quotes are outside of them. The `export` of fish takes no value of
 * several lines: for these the line asks whether fish reads it.
 */
export function shellAssignment(name: string, value: string): string {
  const quoted = shellQuoted(value);
  if (!value.includes("\n")) return `export ${name}=${quoted}`;
  return `string length -q x 2>/dev/null && set -gx ${name} ${quoted} || export ${name}=${quoted}`;
}

function shellQuoted(value: string): string {
  if (value === "") return "''";
  return value
    .split(/([\\']+)/)
    .filter((part) => part !== "")
    .map((part) => (/^[\\']/.test(part) ? part.replace(/[\\']/g, "\\$&") : `'${part}'`))
    .join("");
}
