import { createHash } from "node:crypto";

/**
 * A logical id, letters and digits only: `Stage`, `pr-12` -> `StagePr12` and six digits that tell it from `pr12`.
 * The same parts have the same id for ever: another one would be another resource.
 */
export function logicalId(kind: string, ...parts: readonly string[]): string {
  const words = parts.map((part) =>
    part.replace(/[^A-Za-z0-9]+(.)?/g, (_, next: string | undefined) => (next ?? "").toUpperCase()),
  );
  const shown = words.map((word) => word.charAt(0).toUpperCase() + word.slice(1)).join("");
  // A part of lower-case letters and digits can be read back from the id; others may share what is left of them.
  const isExact =
    parts.every((part, i) => (i === 0 ? /^[a-z][a-z0-9]*$/ : /^[a-z]+$/).test(part)) && shown.length <= MAX_SHOWN;
  return `${kind}${shown.slice(0, MAX_SHOWN)}${isExact ? "" : hash(parts)}`;
}

/** Names of functions and roles begin with the stack's name and the logical id, and have 64 characters. */
const MAX_SHOWN = 40;

const hash = (parts: readonly string[]) => createHash("sha256").update(JSON.stringify(parts)).digest("hex").slice(0, 6);
