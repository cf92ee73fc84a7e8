/**
 * A value as ClickHouse's SQL writes it: the only way by which a value gets into a statement's text. Texts must have no halves
 * of surrogate pairs, for which UTF-8 has no bytes (`hasBytes`). Parameters of the HTTP interface would be part of the
 * address, which servers cut off at some length.
 */
export function sqlLiteral(value: string | number | bigint): string {
  if (typeof value === "string") return `'${value.replace(/['\\\0]/g, (one) => (one === "\0" ? "\\0" : `\\${one}`))}'`;
  if (typeof value === "bigint") return `toInt64(${value})`;
  // With an exponent it is a Float64; a whole number would be a UInt64, with digits that the float64 does not have.
  if (Number.isFinite(value)) return value.toExponential();
  return value > 0 ? "inf" : "(-inf)";
}

/** Whether a text can be a literal, and be looked for among texts that are stored as UTF-8. */
export const hasBytes = (text: string) => !/\p{Cs}/u.test(text);

/** An instant in nanoseconds since 1970, as the column `timestamp` has it. */
export const instantLiteral = (nanoseconds: bigint) => `fromUnixTimestamp64Nano(toInt64(${nanoseconds}), 'UTC')`;
