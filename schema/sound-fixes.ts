import { applyEdits, type Fix, fixesOf, type Problem } from "../grammar/problem.ts";
import { SYNTAX_CODES } from "./json.ts";
import { withSlipFixes } from "./slip-search.ts";

// Trying a fix checks the whole text. Checking this many characters takes about a fifth of a second.
const MAX_TRIED_CHARACTERS = 600_000;

/**
 * The problems of a text, with only those fixes that remove their problem and add none: each fix is applied to a copy,
 * which is checked. A fix is written for one slip, without regard to others near it. In a long text only fixes that need
 * no trial are kept. `wanted` are the problems whose fixes are tried; the others keep theirs.
 */
export function withSoundFixes(
  text: string,
  problems: readonly Problem[],
  check: (text: string) => readonly Problem[],
  wanted: (problem: Problem) => boolean = () => true,
): Problem[] {
  const count = problems.reduce((sum, problem) => sum + (wanted(problem) ? fixesOf(problem).length : 0), 0);
  const isTooMuch = count * text.length > MAX_TRIED_CHARACTERS;
  const meant = problems.filter(({ code }) => !SYNTAX_CODES.has(code));
  let fewest = Number.POSITIVE_INFINITY;
  const isSoundFix = (problem: Problem, fix: Fix) => {
    if (!isApart(fix)) return false;
    if (isTooMuch) return !fix.isSuggestion;
    const after = check(applyEdits(text, fix.edits));
    if (isAmong(after, meant)) fewest = Math.min(fewest, after.length);
    return isSound(problem, problems, after);
  };
  const tried = problems.map((problem) => {
    const offered = wanted(problem) ? fixesOf(problem) : [];
    const sound = offered.filter((fix) => isSoundFix(problem, fix));
    return sound.length === offered.length ? problem : withFixes(problem, sound);
  });
  const first = tried.find((problem, i) => SYNTAX_CODES.has(problem.code) && wanted(problems[i]!));
  if (isTooMuch || fewest === 0 || first === undefined) return tried;
  return withSlipFixes(text, tried, {
    first,
    check,
    isBetter: (after) => isAmong(after, meant) && after.length < fewest,
  });
}

/** Whether nothing is wrong after a fix of `problem` that was not wrong before. */
function isSound(problem: Problem, before: readonly Problem[], after: readonly Problem[]): boolean {
  return isAmong(
    after,
    before.filter((other) => other !== problem),
  );
}

/** Whether each problem is one of others, by their codes. */
export function isAmong(problems: readonly Problem[], others: readonly Problem[]): boolean {
  const left = others.map(({ code }) => code);
  return problems.every(({ code }) => {
    const at = left.indexOf(code);
    if (at >= 0) left.splice(at, 1);
    return at >= 0;
  });
}

/** In a text full of slips two parts of a change may meet. */
function isApart({ edits }: Fix): boolean {
  const sorted = [...edits].sort((a, b) => a.span.start - b.span.start || a.span.end - b.span.end);
  return sorted.every(({ span }, i) => span.start <= span.end && (i === 0 || sorted[i - 1]!.span.end <= span.start));
}

function withFixes({ fix: _fix, alternatives: _alternatives, ...rest }: Problem, fixes: readonly Fix[]): Problem {
  const [first, ...others] = fixes;
  return { ...rest, ...(first && { fix: first }), ...(others.length > 0 && { alternatives: others }) };
}
