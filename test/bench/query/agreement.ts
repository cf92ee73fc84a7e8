// Counts without times: the generated parser against Ohm on random texts, and the golden file of bad queries.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { parseQuery } from "../../../grammar/query/index.ts";
import { root } from "../../support/cli.ts";
import { compare, subjects } from "../../support/parser-fuzz.ts";

const COUNT = 1_000_000;

/** Queries only, for about a minute; `npm run fuzz:parser` runs as many texts of every grammar. */
export function benchAgreement(): void {
  const query = subjects().find(({ name }) => name === "query")!;
  const { accepted, differ } = compare(query, COUNT, 20261120);
  console.log(`generated parser and Ohm: ${COUNT} queries, ${accepted} accepted, ${differ.length} differ`);
  const golden = JSON.parse(readFileSync(join(root, "test/vectors/query-errors.json"), "utf8"));
  const results = (golden as { query: string }[]).map(({ query }) => parseQuery(query));
  const hinted = results.filter((one) => !one.ok && one.problems.every(({ hint }) => hint !== undefined)).length;
  console.log(`golden file: ${results.length} bad queries, ${hinted} with a hint for every problem`);
}
