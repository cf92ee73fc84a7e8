/**
 * Less than 0 if version `a` is older than `b`, more if it is newer: the order of SemVer 2.0.0, 11. An edition at the end, as
 * `tool version` prints it (`1.2.3-pro`), is no prerelease. Both are versions of `isVersion`.
 */
export function compareVersions(a: string, b: string): number {
  const [left, right] = [partsOf(a), partsOf(b)];
  for (let i = 0; i < 3; i++) {
    const difference = Number(left.numbers[i]) - Number(right.numbers[i]);
    if (difference !== 0) return difference;
  }
  // A prerelease is older than its release.
  if (left.prerelease.length === 0 || right.prerelease.length === 0)
    return right.prerelease.length - left.prerelease.length;
  for (let i = 0; i < Math.max(left.prerelease.length, right.prerelease.length); i++) {
    const difference = compareIdentifiers(left.prerelease[i], right.prerelease[i]);
    if (difference !== 0) return difference;
  }
  return 0;
}

/** A version as releases have it: without `v` before it and the edition after it. */
export const withoutEdition = (version: string) => version.replace(/^v/, "").replace(/-pro$/, "");

function partsOf(version: string) {
  const [, numbers = "", prerelease] = /^([^-]*)(?:-(.*))?$/.exec(withoutEdition(version)) ?? [];
  return { numbers: numbers.split("."), prerelease: prerelease === undefined ? [] : prerelease.split(".") };
}

/** Numbers come before words, and by their value; what is absent comes first. */
function compareIdentifiers(a: string | undefined, b: string | undefined): number {
  if (a === b) return 0;
  if (a === undefined) return -1;
  if (b === undefined) return 1;
  const [isNumber, isOtherNumber] = [/^\d+$/.test(a), /^\d+$/.test(b)];
  if (isNumber && isOtherNumber) return Number(a) - Number(b);
  if (isNumber !== isOtherNumber) return isNumber ? -1 : 1;
  return a < b ? -1 : 1;
}
