// The words of `tool env add`: NAME VALUE, NAME=VALUE, or NAME - for a value from stdin. Pure.

import { variableNameProblem, variableValueProblem, withCommas } from "../../schema/index.ts";
import type { Misuse } from "../argv.ts";
import { type FailedResult, refused } from "../refused.ts";

export interface Assignment {
  readonly name: string;
  /** `stdin` and `asked` for a value that is not among the words. */
  readonly value: string | { readonly from: "stdin" | "asked" };
}

export type Assignments = { readonly ok: true; readonly value: readonly Assignment[] } | FailedResult;

/** The largest value: well below what a process can be started with, and about what a snapshot can hold. */
export const MAX_VALUE_BYTES = 65_536;

const USAGE = "write NAME VALUE, NAME=VALUE, or NAME - for a value from stdin";

/** No message quotes a word that may be a value. */
export function readAssignments(words: readonly string[]): Assignments {
  const assignments: Assignment[] = [];
  for (let i = 0; i < words.length; i++) {
    const word = words[i]!;
    const at = word.indexOf("=");
    if (at > 0) {
      assignments.push({ name: word.slice(0, at), value: word.slice(at + 1) });
      continue;
    }
    const next = words[i + 1];
    if (at === 0) {
      const where = words.length === 1 ? "" : `word ${i + 1}: `;
      return refused(
        `${where}there is no name before =`,
        "write NAME=VALUE as one word; a variable of the shell may be empty",
      );
    }
    if (next?.startsWith("=")) {
      return refused("there is a space before or after =", "write NAME=VALUE as one word");
    }
    // The words of a value that is not quoted would make names of its words.
    if (words.length > 2 && !/^[A-Z][A-Z0-9_]*$/.test(word)) {
      return refused(`word ${i + 1} is not the name of a variable`, `quote a value with spaces; ${USAGE}`);
    }
    if (next === undefined) {
      if (i > 0) return refused("the last word has no value", `quote a value with spaces; ${USAGE}`);
      assignments.push({ name: word, value: { from: "asked" } });
    } else assignments.push({ name: word, value: next === "-" ? { from: "stdin" } : next });
    i++;
  }
  for (const [i, { name }] of assignments.entries()) {
    const problem = namedProblem(name);
    if (problem === undefined) continue;
    // A word that no variable can be called may be a value; reserved names are known.
    return problem.isKnown
      ? refused(problem.message, problem.hint)
      : refused(
          assignments.length === 1
            ? "the name is not valid"
            : `the name of variable ${i + 1}${placeOf(assignments, i)} is not valid: none was set`,
          namesHint(name),
        );
  }
  const twice = assignments.find(({ name }, i) => assignments.findIndex((one) => one.name === name) < i);
  if (twice !== undefined) return refused(`${twice.name} is given twice`, "remove one of them");
  if (assignments.filter(({ value }) => typeof value === "object").length > 1) {
    return refused("only one value can come from stdin", "use --file for several");
  }
  return { ok: true, value: assignments };
}

/** Where a name is that must not be quoted: beside the names of its neighbours that are valid. */
function placeOf(assignments: readonly Assignment[], at: number): string {
  const before = assignments[at - 1]?.name;
  if (before !== undefined) return `, after ${before},`;
  const after = assignments[at + 1]?.name;
  return after === undefined || variableNameProblem(after) !== undefined ? "" : `, before ${after},`;
}

/** A letter alone is a name elsewhere. */
const namesHint = (name: string) =>
  /^[A-Za-z]$/.test(name) ? "a name has at least two characters: a letter, then letters, digits or _" : NAMES;

export const NAMES = "a name is a letter, then at least one more letter, digit or _";

/** Why an app cannot have a variable of this name; `isKnown` if it is one that everybody knows, and so no secret. */
export function namedProblem(
  name: string,
): (Misuse & { readonly hint: string; readonly isKnown: boolean }) | undefined {
  const problem = variableNameProblem(name);
  if (problem === undefined) return undefined;
  const { code, message, hint } = problem;
  return { message, hint, isKnown: code !== "config/variable-name" };
}

/** Whether a variable of this name may be looked up: the path of a parameter has no other characters. */
export function isVariableName(word: string): boolean {
  return /^[\w.-]{1,200}$/.test(word);
}

/** Why a value cannot be kept; undefined if it can. */
export function valueProblem(name: string, value: string): Misuse | undefined {
  const bytes = Buffer.byteLength(value);
  if (bytes > MAX_VALUE_BYTES) {
    return {
      message: `the value of ${name} has ${withCommas(bytes)} bytes, and ${withCommas(MAX_VALUE_BYTES)} is the most`,
      hint: "put it into a file of the project, or into a store that the app reads itself",
    };
  }
  if (/\p{Surrogate}/u.test(value)) {
    return { message: `the value of ${name} is not text`, hint: "write it as base64, and let the app decode it" };
  }
  const problem = variableValueProblem(name, value);
  return problem && { message: problem.message, hint: problem.hint };
}
