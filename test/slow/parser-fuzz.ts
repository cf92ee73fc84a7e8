// 10,000 texts a grammar through the generated parser and through Ohm; `npm run fuzz:parser` runs 1,000,000 of each.
import t from "tap";
import { compare, subjects } from "../support/parser-fuzz.ts";

const count = Number(process.env.FUZZ_COUNT ?? 10_000);
const seed = Number(process.env.FUZZ_SEED ?? 2);

for (const subject of subjects()) {
  t.test(`${subject.name}: ${count} texts`, (t) => {
    const begin = performance.now();
    const { accepted, differ } = compare(subject, count, seed);
    const seconds = ((performance.now() - begin) / 1000).toFixed(0);
    console.log(
      `measured: ${subject.name}: ${count} texts, ${accepted} accepted, ${differ.length} differ, ${seconds} s`,
    );
    t.same(differ.slice(0, 20), []);
    t.end();
  });
}
