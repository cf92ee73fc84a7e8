// Which tests may notice a change of a file: those that import it, the nearest first.
import { readdirSync, readFileSync } from "node:fs";
import { dirname, join, relative, resolve } from "node:path";

const IMPORT = /(?:\bfrom\s+|\bimport\s+|\bimport\(\s*|\bnew URL\(\s*)["'](\.[^"']+)["']/g;
/** No more than the path of the project, which is no reason to start the command. */
const PATH_ALONE = /import \{ root \} from "[./]*\/cli\.ts";/;
/** The command and others are bundles of these, which are started as processes. */
const STARTED = {
  "test/support/cli.ts": ["cli/cli.ts", "cli/main.ts"],
  "test/support/server-thread.ts": ["vscode-extension/server-worker.ts"],
  "logservice/events/duckdb/flusher.ts": ["logservice/events/duckdb/flusher-process.ts"],
  "logservice/events/duckdb/sql/run-sql.ts": ["logservice/events/duckdb/sql/sql-process.ts"],
} as const;
/** Programs of the tests, which they start by the path of what is built. */
const BUILT = /"dist\/(test\/[^"]+)\.js"/g;
/** A process is a longer way than an import: what fails in it is often noticed by other tests, too. */
const PROCESS_STEPS = 3;

/** The files that each file imports, from the root. */
export type Imports = ReadonlyMap<string, readonly { readonly file: string; readonly steps: number }[]>;

export function importsOf(root: string, folders: readonly string[]): Imports {
  const files = folders.flatMap((folder) =>
    readdirSync(join(root, folder), { recursive: true, encoding: "utf8" })
      // A name that begins with a dot is a file of an editor: Emacs locks a file by a link to nowhere.
      .filter((name) => /(?:^|\/)[^./][^/]*\.(tsx?|mjs)$/.test(name) && !name.includes("node_modules"))
      .map((name) => join(folder, name)),
  );
  return new Map(
    files.map((file) => {
      const text = readFileSync(join(root, file), "utf8");
      const staticImports = [...text.replace(PATH_ALONE, "").matchAll(IMPORT)].map(([, specifier = ""]) => ({
        file: relative(root, resolve(root, dirname(file), specifier)).replace(/\.js$/, ".ts"),
        steps: 1,
      }));
      const built = file.startsWith("test/") ? [...text.matchAll(BUILT)].map(([, path]) => `${path}.ts`) : [];
      const started = [...(STARTED[file as keyof typeof STARTED] ?? []), ...built];
      return [file, [...staticImports, ...started.map((file) => ({ file, steps: PROCESS_STEPS }))]];
    }),
  );
}

/** The tests that reach a file, with the steps to it; the nearest first. */
export function testsOf(imports: Imports, tests: readonly string[], file: string) {
  return tests
    .map((test) => ({ test, steps: stepsTo(imports, test, file) }))
    .filter(({ steps }) => steps < Number.POSITIVE_INFINITY)
    .sort((a, b) => a.steps - b.steps || a.test.localeCompare(b.test));
}

/** A file and all that it imports. */
export const reachedFrom = (imports: Imports, file: string): string[] => [...stepsFrom(imports, file).keys()].sort();

function stepsTo(imports: Imports, from: string, to: string): number {
  return stepsFrom(imports, from).get(to) ?? Number.POSITIVE_INFINITY;
}

const cache = new WeakMap<Imports, Map<string, Map<string, number>>>();

function stepsFrom(imports: Imports, from: string): Map<string, number> {
  const of = cache.get(imports) ?? new Map<string, Map<string, number>>();
  cache.set(imports, of);
  const before = of.get(from);
  if (before !== undefined) return before;
  const steps = new Map([[from, 0]]);
  of.set(from, steps);
  for (const [file, so] of steps) {
    for (const next of imports.get(file) ?? []) {
      if ((steps.get(next.file) ?? Number.POSITIVE_INFINITY) <= so + next.steps) continue;
      // Visited again, at the end of the map, by its shorter way.
      steps.delete(next.file);
      steps.set(next.file, so + next.steps);
    }
  }
  return steps;
}
