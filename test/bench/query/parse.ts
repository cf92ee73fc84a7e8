// Parsing: the generated parser beside a hand-written Pratt parser of the same trees, Ohm, peggy and liqe.

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { transformSync } from "esbuild";
import { parse as parseLucene } from "liqe";
import peggy from "peggy";
import { actions } from "../../../grammar/query/actions.ts";
import { loadGrammar } from "../../../grammar/query/query.generated.ts";
import { parsers } from "../../../grammar/query/query-parser.generated.ts";
import { root } from "../../support/cli.ts";
import { byOhm } from "../../support/ohm-actions.ts";
import { peggyGrammar } from "./peggy-grammar.ts";
import { parseByHand } from "./pratt.ts";
import { median, spread } from "./statistics.ts";

export const QUERIES = {
  short: "status >= 500",
  medium:
    'status >= 500 and (path = "/api/*" or user.email = "x@example.com") and not method in (GET, HEAD) duration > 1.5s',
  long: Array(12).fill('level >= warn and cart.items[0].price > 10.5 or message contains "time out"').join(" or "),
};

/** The same queries in liqe's language (Lucene's). */
const LUCENE = {
  short: "status:>=500",
  medium:
    'status:>=500 AND (path:"/api/*" OR user.email:"x@example.com") AND NOT (method:GET OR method:HEAD) AND duration:>1500',
  long: Array(12).fill('(level:warn AND cart.items.price:>10.5 OR message:"time out")').join(" OR "),
};

const ROUNDS = 15;
const ROUND_MS = 20;

/** Prints microseconds a parse, the median of 15 rounds that take turns, and the ratios to the generated parser. */
export function benchParse(): void {
  const ohm = byOhm(loadGrammar(), actions, "Query");
  const byPeggy = peggy.generate(peggyGrammar);
  for (const [name, query] of Object.entries(QUERIES)) {
    const lucene = LUCENE[name as keyof typeof LUCENE];
    const rivals: Record<string, () => unknown> = {
      generated: () => parsers.Query(query),
      "hand-written Pratt": () => parseByHand(query),
      peggy: () => byPeggy.parse(query),
      "liqe (its own language)": () => parseLucene(lucene),
      "ohm match + semantics": () => ohm(query),
    };
    const times = takeTurns(rivals);
    const own = median(times.generated!);
    console.log(`parse ${name} (${query.length} characters)`);
    for (const [rival, us] of Object.entries(times)) {
      const ratio = median(us) / own;
      console.log(`  ${rival.padEnd(24)} ${median(us).toFixed(2).padStart(9)} us  ${spread(us)}  ${ratio.toFixed(2)}x`);
    }
  }
  const parser = readFileSync(join(root, "grammar/query/query-parser.generated.ts"), "utf8");
  const { code } = transformSync(parser, { loader: "ts", minify: true, format: "esm" });
  console.log(`parser, minified: ${code.length} bytes, ${gzipSync(code, { level: 9 }).length} gzipped`);
}

/** Microseconds a call, by name and round. The rivals take turns, so that a slow moment of the machine hits all. */
function takeTurns(rivals: Readonly<Record<string, () => unknown>>): Record<string, number[]> {
  const calls = new Map<string, number>();
  for (const [name, run] of Object.entries(rivals)) {
    let count = 0;
    for (const end = performance.now() + 5 * ROUND_MS; performance.now() < end; count++) run();
    calls.set(name, Math.max(1, Math.round(count / 5)));
  }
  const times: Record<string, number[]> = Object.fromEntries(Object.keys(rivals).map((name) => [name, []]));
  for (let round = 0; round < ROUNDS; round++) {
    for (const [name, run] of Object.entries(rivals)) {
      const count = calls.get(name)!;
      const begin = performance.now();
      for (let i = 0; i < count; i++) run();
      times[name]!.push(((performance.now() - begin) / count) * 1000);
    }
  }
  return times;
}
