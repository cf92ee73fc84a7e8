// A first parse in a new process, beside an empty one: what the parser costs a command that is used now and then.
import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { build } from "esbuild";
import { requireLatePackages } from "../../../cli/build/late-packages.mjs";
import { root } from "../../support/cli.ts";
import { QUERIES } from "./parse.ts";
import { median, spread } from "./statistics.ts";

const ROUNDS = 40;

export async function benchCold(): Promise<void> {
  const directory = mkdtempSync(join(tmpdir(), "tool-bench-cold-"));
  const bundle = async (name: string, contents: string) => {
    const outfile = join(directory, `${name}.cjs`);
    const plugins = [requireLatePackages(join(root, "dist/bin/late"))];
    const common = { bundle: true, platform: "node", format: "cjs", minify: true, logLevel: "error" } as const;
    await build({ ...common, outfile, plugins, stdin: { contents, resolveDir: root } });
    return outfile;
  };
  const parse = 'import { parseQuery } from "./grammar/query/index.ts"; if (!parseQuery(process.argv[2]).ok) throw 1;';
  const generated =
    'import { parsers, NO_MATCH } from "./grammar/query/query-parser.generated.ts"; if (parsers.Query(process.argv[2]) === NO_MATCH) throw 1;';
  const programs = {
    "an empty process": await bundle("empty", "0"),
    "the generated parser": await bundle("parser", generated),
    "parseQuery, all of it": await bundle("query", parse),
  };
  const times: Record<string, number[]> = {};
  for (let round = 0; round < ROUNDS; round++) {
    for (const [name, file] of Object.entries(programs)) {
      const begin = performance.now();
      const { status } = spawnSync(process.execPath, [file, QUERIES.medium]);
      if (status !== 0) throw new Error(`${name} failed`);
      times[name] ??= [];
      times[name].push(performance.now() - begin);
    }
  }
  rmSync(directory, { recursive: true });
  const empty = median(times["an empty process"]!);
  console.log(`cold parse of the medium query, ${ROUNDS} rounds`);
  for (const [name, ms] of Object.entries(times)) {
    console.log(
      `  ${name.padEnd(24)} ${median(ms).toFixed(1)} ms  ${spread(ms)}  +${(median(ms) - empty).toFixed(1)} ms`,
    );
  }
}
