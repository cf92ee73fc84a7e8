// The steps of a text on which the preferred fix is taken again and again, as an editor does on one key.
import { applyEdits, type Problem } from "../../grammar/problem.ts";

// More than the problems of any text of the tests, and more fixes than a user would apply in a row.
const MAX_STEPS = 60;

/** The titles of the fixes that lead from a text back to one that was left, or on without end; undefined if they end. */
export function endlessFixes(source: string, problemsOf: (text: string) => readonly Problem[]): string[] | undefined {
  const seen = new Set<string>();
  const titles: string[] = [];
  for (let text = source; ; ) {
    if (seen.has(text) || seen.size > MAX_STEPS) return titles;
    seen.add(text);
    const fix = problemsOf(text).find(({ fix }) => fix !== undefined)?.fix;
    if (fix === undefined) return undefined;
    titles.push(fix.title);
    text = applyEdits(text, fix.edits);
  }
}
