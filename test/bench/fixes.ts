// Shares of faulty tool.json files that are flagged, and that come right by the fixes that are offered, by operator:
// `npm run measure:fixes -- 1 2 3` for three seeds, 500 files each of slips and of what people write out of habit.
// `--show` prints what is not right by the first fix.
import { fixesOf } from "../../grammar/problem.ts";
import { root } from "../support/cli.ts";
import { configBases } from "../support/config-bases.ts";
import { HABIT_NAMES, OPERATOR_NAMES } from "../support/config-mutants.ts";
import { type Judged, measureFixes, type Share } from "../support/judge-fixes.ts";

const COUNT = 500;
const words = process.argv.slice(2);
const isShowing = words.includes("--show");
const seeds = words.filter((word) => word !== "--show").map(Number);
const bases = configBases(root);
const percent = (part: number, whole: number) => `${((100 * part) / whole).toFixed(1)} %`;
const KEYS = ["count", "flagged", "right", "first", "restored"] as const;

for (const [name, operators] of Object.entries({ slips: OPERATOR_NAMES, habits: HABIT_NAMES })) {
  const totals = new Map<string, Share>();
  for (const seed of seeds.length > 0 ? seeds : [1, 2, 3]) {
    const { judged, all, byOperator } = measureFixes(bases, COUNT, seed, operators);
    const { count, flagged, first, right, restored } = all;
    const parts = Object.entries({
      flagged,
      "right by the first fix": first,
      "right by any": right,
      "as it was": restored,
    });
    console.log(
      `${name}, seed ${seed}: ${count}, ${parts.map(([what, n]) => `${what} ${percent(n, count)}`).join(", ")}`,
    );
    if (isShowing) for (const one of judged) if (!one.isRightFirst) show(one);
    for (const [operator, share] of byOperator) {
      const sum = totals.get(operator) ?? { count: 0, flagged: 0, right: 0, first: 0, restored: 0 };
      for (const key of KEYS) sum[key] += share[key];
      totals.set(operator, sum);
    }
  }
  console.log("\noperator, faults, flagged, right, right by the first fix, as it was");
  for (const [operator, share] of totals) {
    console.log([operator.padEnd(40), ...KEYS.map((key) => String(share[key]).padStart(4))].join(""));
  }
}

/** The place of a fault in its file, and what is said of it. */
function show({ mutant, problems }: Judged) {
  const { base, text, operator } = mutant;
  let at = 0;
  while (at < text.length && text[at] === base.text[at]) at++;
  const near = text.slice(Math.max(0, at - 30), at + 60).replace(/\s+/g, " ");
  console.log(`${operator}: ...${near}...`);
  for (const problem of problems) {
    const fixes = fixesOf(problem).map(({ title }) => title);
    console.log(`    ${problem.code}: ${problem.message}: ${problem.hint ?? ""} [${fixes.join("; ")}]`);
  }
}
