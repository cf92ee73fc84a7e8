// The results of taking the fixes that are offered for faulty files.
import { applyEdits, fixesOf, type Problem } from "../../grammar/problem.ts";
import { checkConfig } from "../../schema/index.ts";
import { type Base, type ConfigMutant, drawMutants, OPERATOR_NAMES, saysTheSame } from "./config-mutants.ts";
import { randomOf } from "./random.ts";

export interface Judged {
  readonly mutant: ConfigMutant;
  readonly problems: readonly Problem[];
  /** Something is reported. */
  readonly isFlagged: boolean;
  /** `one`: a single fix leaves a right file; `all`: taking the first one offered until none is left does. */
  readonly right: "one" | "all" | undefined;
  /** The first fix of the first problem leaves a right file. */
  readonly isRightFirst: boolean;
  /** The right file says what the original said. */
  readonly isRestored: boolean;
  /** The faults of the fixes themselves: each has to take its problem away and to add none. */
  readonly faults: readonly string[];
}

// Nobody applies more than that one by one.
const MAX_ROUNDS = 10;

/** A file is right if nothing is wrong about it and it says what the original said, but for what the fault left open. */
export function judge(mutant: ConfigMutant): Judged {
  const { directory } = mutant;
  const check = (text: string) => checkConfig(text, directory && { directory });
  /** Whatever fixes there are. */
  const problemsOf = (text: string) =>
    checkConfig(text, { triesFixes: false, ...(directory && { directory }) }).problems;
  const { problems } = check(mutant.text);
  const faults: string[] = [];
  const results: string[] = [];
  for (const problem of problems) {
    for (const fix of fixesOf(problem)) {
      const text = applyEdits(mutant.text, fix.edits);
      results.push(text);
      faults.push(...faultsOf(problem, problems, fix.title, problemsOf(text)));
    }
  }
  const isRight = (text: string) => problemsOf(text).length === 0 && saysTheSame(mutant, text);
  const one = results.filter(isRight);
  let last = mutant.text;
  for (let round = 0; one.length === 0 && round < MAX_ROUNDS; round++) {
    const fix = check(last).problems.flatMap(fixesOf)[0];
    if (fix === undefined) break;
    last = applyEdits(last, fix.edits);
  }
  const right = one.length > 0 ? "one" : last !== mutant.text && isRight(last) ? "all" : undefined;
  const rightTexts = one.length > 0 ? one : right ? [last] : [];
  const isRestored = rightTexts.some((text) =>
    saysTheSame({ ...mutant, open: [], openName: undefined, openOrGone: undefined }, text),
  );
  const [first] = problems.flatMap(fixesOf);
  const isRightFirst = first !== undefined && isRight(applyEdits(mutant.text, first.edits));
  return { mutant, problems, isFlagged: problems.length > 0, right, isRightFirst, isRestored, faults };
}

function faultsOf(problem: Problem, before: readonly Problem[], title: string, after: readonly Problem[]): string[] {
  const left = before.filter((other) => other !== problem).map(({ code }) => code);
  return after.flatMap(({ code, message }) => {
    const at = left.indexOf(code);
    if (at >= 0) left.splice(at, 1);
    return at >= 0 ? [] : [`${problem.code} "${problem.message}": "${title}" leads to ${code} "${message}"`];
  });
}

export interface Share {
  count: number;
  flagged: number;
  right: number;
  /** By the first fix that is offered. */
  first: number;
  restored: number;
}

/** The shares of `count` faults drawn by a seed, by operator and in all. */
export function measureFixes(bases: readonly Base[], count: number, seed: number, operators = OPERATOR_NAMES) {
  const judged = drawMutants(bases, count, randomOf(seed), operators).map(judge);
  const all: Share = { count: 0, flagged: 0, right: 0, first: 0, restored: 0 };
  const byOperator = new Map<string, Share>(operators.map((name) => [name, { ...all }]));
  for (const { mutant, isFlagged, right, isRightFirst, isRestored } of judged) {
    for (const share of [all, byOperator.get(mutant.operator)!]) {
      share.count++;
      share.flagged += Number(isFlagged);
      share.right += Number(right !== undefined);
      share.first += Number(isRightFirst);
      share.restored += Number(isRestored);
    }
  }
  return { judged, all, byOperator };
}
