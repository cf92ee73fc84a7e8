import { applyEdits, editsTogether, LineIndex, type Problem } from "../grammar/problem.ts";
import { type ConfigCheckOptions, checkConfig } from "./check.ts";
import { maskProblems } from "./masked.ts";
import { isAmong } from "./sound-fixes.ts";

// One fix may uncover a problem that another mends; each round takes problems away.
const MAX_ROUNDS = 20;

/**
 * The text after all fixes that are certain; suggestions are left to the user. `notes` says each change in a sentence, with
 * its place in the text as it was then, and quotes no value of a variable. A text without such fixes is given back
 * unchanged.
 */
export function fixAll(text: string, options: ConfigCheckOptions = {}): { text: string; notes: string[] } {
  const notes: string[] = [];
  let { problems } = checkConfig(text, options);
  let fixed = text;
  for (let round = 0; round < MAX_ROUNDS; round++) {
    const certain = problems.filter(({ fix }) => fix !== undefined && !fix.isSuggestion);
    const next = roundOf(fixed, problems, certain, options) ?? roundOf(fixed, problems, certain.slice(0, 1), options);
    if (next === undefined) break;
    const lines = new LineIndex(fixed);
    for (const { span, message, fix } of maskProblems(fixed, next.made)) {
      const { line, column } = lines.position(span.start);
      notes.push(`${line}:${column}: ${message}: ${fix!.title.replace(/^./, (first) => first.toLowerCase())}`);
    }
    fixed = next.text;
    problems = next.problems;
  }
  return { text: fixed, notes };
}

/** Undefined if nothing is left to do, or what is done at once leaves more to complain about. */
function roundOf(text: string, problems: readonly Problem[], certain: readonly Problem[], options: ConfigCheckOptions) {
  const edits = editsTogether(certain);
  if (edits.length === 0) return undefined;
  const fixed = applyEdits(text, edits);
  const after = checkConfig(fixed, options).problems;
  const made = certain.filter(({ fix }) => fix!.edits.every((edit) => edits.includes(edit)));
  return after.length < problems.length && isAmong(after, problems)
    ? { text: fixed, problems: after, made }
    : undefined;
}
