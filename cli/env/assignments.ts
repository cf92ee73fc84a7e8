// The words of `tool env add`: NAME VALUE, NAME=VALUE, or NAME - for a value from stdin. Pure.
import { variableNameProblem, variableValueProblem, withCommas } from "../../schema/index.ts";
import type { Misuse } from "../argv.ts";

export interface Assignment {
  readonly name: string;
  /** `stdin` and `asked` for a value that is not among the words. */
  readonly value: string | { readonly from: "stdin" | "asked" };
}

export type Assignments =
  | { readonly ok: true; readonly assignments: readonly Assignment[] }
  | ({ readonly ok: false } & Misuse);

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
    if (at === 0 || next === "=" || (next?.startsWith("=") && words.length > 2)) {
      return { ok: false, message: "there is a blank before or after =", hint: "write NAME=VALUE as one word" };
    }
    if (next === undefined) {
      // The only word is a name; the last one of several may be the rest of a value that is not quoted.
      if (i > 0)
        return { ok: false, message: "the last word has no value", hint: `${USAGE}; quote a value with blanks` };
      assignments.push({ name: word, value: { from: "asked" } });
    } else assignments.push({ name: word, value: next === "-" ? { from: "stdin" } : next });
    i++;
  }
  const problem = namesProblem(assignments.map(({ name }) => name));
  if (problem !== undefined) return { ok: false, ...problem };
  if (assignments.filter(({ value }) => typeof value === "object").length > 1) {
    return {
      ok: false,
      message: "stdin has the value of one variable only",
      hint: "write several into a file: --file",
    };
  }
  return { ok: true, assignments };
}

/** Names that cannot be, and names that come twice. */
export function namesProblem(names: readonly string[]): Misuse | undefined {
  for (const [i, name] of names.entries()) {
    // What has other characters than a name may be a value.
    if (!/^[\w.-]{1,64}$/.test(name)) {
      const which = names.length === 1 ? "the name" : `the name of variable ${i + 1}`;
      return {
        message: `${which} is not valid`,
        hint: `a name is a letter, then at least one more letter, digit or _; ${USAGE}`,
      };
    }
    const problem = variableNameProblem(name);
    if (problem !== undefined) return { message: problem.message, hint: problem.hint };
    if (names.indexOf(name) !== i) {
      return { message: `${name} is given twice`, hint: "leave one of the values out" };
    }
  }
  return undefined;
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
