// The sources as tsc writes them to dist, without its check: only what changed since, in well under a second.
import { copyFileSync, existsSync, mkdirSync, readdirSync, rmSync, statSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { build } from "esbuild";
import { bundleProcesses, isOfProcesses } from "../../cli/build/processes.mjs";

export const FOLDERS = [
  "grammar",
  "schema",
  "language-server",
  "vscode-extension",
  "cli",
  "runtime",
  "logservice",
  "test",
];

/**
 * Brings dist up to the sources. Returns the sources that it wrote anew, from the root.
 * The stamp of `npm run build` goes, as what is there is not checked any more.
 */
export async function transpile(root) {
  const files = FOLDERS.flatMap((folder) => sourcesIn(root, folder));
  const stale = files.filter((file) => isNewer(join(root, file), join(root, "dist", outputOf(file))));
  if (stale.length === 0) return [];
  rmSync(join(root, "dist/.tool-stamp"), { force: true });
  for (const file of stale.filter((file) => !file.endsWith(".ts"))) copy(root, file);
  const modules = stale.filter((file) => file.endsWith(".ts"));
  if (modules.length > 0) {
    await build({
      entryPoints: modules.map((file) => join(root, file)),
      outdir: join(root, "dist"),
      outbase: root,
      // Bundling is what rewrites the paths of imports; every import is external.
      bundle: true,
      plugins: [importsOfOutput(root)],
      treeShaking: false,
      format: "esm",
      platform: "node",
      target: "node20.19",
      sourcemap: true,
      logLevel: "warning",
    });
  }
  if (stale.some(isOfProcesses)) await bundleProcesses(root);
  return stale;
}

/** TypeScript, what is generated in JavaScript, and the JSON files that modules may import. */
function sourcesIn(root, folder) {
  return readdirSync(join(root, folder), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && /(?:\.ts|\.generated\.js|\.json)$/.test(entry.name))
    .map((entry) => join(entry.parentPath, entry.name).slice(root.length + 1))
    .filter((file) => !file.includes("node_modules") && !file.endsWith(".d.ts"))
    .filter(
      (file) => !file.endsWith(".json") || file.startsWith("test/vectors/") || existsSync(join(root, "dist", file)),
    );
}

const outputOf = (file) => file.replace(/\.ts$/, ".js");

function isNewer(source, output) {
  return !existsSync(output) || statSync(source).mtimeMs > statSync(output).mtimeMs;
}

function copy(root, file) {
  mkdirSync(dirname(join(root, "dist", file)), { recursive: true });
  copyFileSync(join(root, file), join(root, "dist", file));
}

const importsOfOutput = (root) => ({
  name: "imports-of-output",
  setup(pluginBuild) {
    pluginBuild.onResolve({ filter: /.*/ }, ({ kind, path, resolveDir }) => {
      if (kind === "entry-point") return undefined;
      if (/^\.{1,2}\/.*\.json$/.test(path)) {
        const file = relative(root, join(resolveDir, path));
        if (!existsSync(join(root, "dist", file))) copy(root, file);
      }
      return { path: path.replace(/^(\.{1,2}\/.*)\.ts$/, "$1.js"), external: true };
    });
  },
});
