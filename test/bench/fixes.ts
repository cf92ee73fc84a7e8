// Shares of faulty tool.json files that are flagged, and that come right by the fixes that are offered, by operator:
// `npm run measure:fixes -- 1 2 3` for three seeds, 500 files each.
import { root } from "../support/cli.ts";
import { configBases } from "../support/config-bases.ts";
import { measureFixes, type Share } from "../support/judge-fixes.ts";

const COUNT = 500;
const seeds = process.argv.slice(2).map(Number);
const bases = configBases(root);
const percent = (part: number, whole: number) => `${((100 * part) / whole).toFixed(1)} %`;
const totals = new Map<string, Share>();
for (const seed of seeds.length > 0 ? seeds : [1, 2, 3]) {
  const { all, byOperator } = measureFixes(bases, COUNT, seed);
  const parts = [`flagged ${percent(all.flagged, all.count)}`, `right ${percent(all.right, all.count)}`];
  console.log(`seed ${seed}: ${all.count}, ${parts.join(", ")}, as it was ${percent(all.restored, all.count)}`);
  for (const [name, share] of byOperator) {
    const sum = totals.get(name) ?? { count: 0, flagged: 0, right: 0, restored: 0 };
    for (const key of ["count", "flagged", "right", "restored"] as const) sum[key] += share[key];
    totals.set(name, sum);
  }
}
console.log("\noperator, faults, flagged, right, as it was");
for (const [name, { count, flagged, right, restored }] of totals) {
  console.log([name.padEnd(40), ...[count, flagged, right, restored].map((part) => String(part).padStart(4))].join(""));
}
