import { createHash } from "node:crypto";

/**
 * A logical id of letters and digits: `Stage`, `pr-12` -> `StagePr12` and six hex digits that distinguish it from `pr12`.
 * The id of the same parts must never change: another id would be another resource.
 */
export function logicalId(kind: string, ...parts: readonly string[]): string {
  const words = parts.map((part) =>
    part.replace(/[^A-Za-z0-9]+(.)?/g, (_, next: string | undefined) => (next ?? "").toUpperCase()),
  );
  const name = words.map((word) => word.charAt(0).toUpperCase() + word.slice(1)).join("");
  // Parts of lower-case letters and digits can be read back from the id. Others could collide and get a hash.
  const isExact =
    parts.every((part, i) => (i === 0 ? /^[a-z][a-z0-9]*$/ : /^[a-z]+$/).test(part)) && name.length <= MAX_NAME;
  return `${kind}${name.slice(0, MAX_NAME)}${isExact ? "" : hash(parts)}`;
}

/** Names of functions and roles have at most 64 characters, and start with the stack's name and the logical id. */
const MAX_NAME = 40;

const hash = (parts: readonly string[]) => createHash("sha256").update(JSON.stringify(parts)).digest("hex").slice(0, 6);
