/**
 * A decimal number times a whole factor, rounded once: `1.005` seconds are 1005 ms, where the product of floating-point
 * numbers is 1004.9999999999999. `decimal` has the shape `-1.5e3`, each part but the digits optional.
 */
export function scaleDecimal(decimal: string, factor: number): number {
  const match = /^(-?)(\d*)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/.exec(decimal);
  if (match === null) throw new Error(`no decimal number: ${decimal}`);
  const [, sign, whole = "", fraction = "", exponent = "0"] = match;
  const digits = BigInt(whole + fraction) * BigInt(factor);
  // Beyond a million every exponent is 0 or infinite; a longer one would not print as plain digits below.
  const power = Math.max(-1e6, Math.min(Number(exponent), 1e6)) - fraction.length;
  return Number(`${sign}${digits}e${power}`);
}
