/** "4 KB, for all environment variables associated with the function, in aggregate" (Lambda quotas). */
export const MAX_VARIABLES_BYTES = 4096;

/** Size of a set of variables as the function platform measures it: the JSON object of names and values, in UTF-8. */
export function variablesSize(variables: Readonly<Record<string, string>>): number {
  return utf8Length(JSON.stringify(variables));
}

/** `BIG (3,900 bytes), LIST (80 bytes)`: names only, as values may be secrets. */
export function largestVariables(variables: Readonly<Record<string, string>>): string {
  return Object.entries(variables)
    .map(([name, value]) => ({ name, bytes: utf8Length(value) }))
    .sort((a, b) => b.bytes - a.bytes)
    .slice(0, 3)
    .map(({ name, bytes }) => `${name} (${withCommas(bytes)} bytes)`)
    .join(", ");
}

export const withCommas = (count: number) => String(count).replace(/\B(?=(\d{3})+$)/g, ",");

const utf8Length = (text: string) => new TextEncoder().encode(text).length;
