// The sources as tsc writes them to dist, without its check: only what changed since, in well under a second.
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { dirname, join, relative } from "node:path";
import { build } from "esbuild";
import { bundleProcesses, haveProcesses, isOfProcesses } from "../../cli/build/processes.mjs";

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

/** The state of each source when it was last transpiled. A build removes it, as it writes all of dist anew. */
const STATES = "dist/.t-sources.json";

/**
 * Brings dist up to the sources. Returns the sources that it wrote again or whose output it removed, from the root. Throws if a
 * source has an error or imports a file that is gone; esbuild has printed it, and the next run finds it again.
 * The stamp of `npm run build` goes, as what is there is not checked any more.
 */
export async function transpile(root) {
  const files = FOLDERS.flatMap((folder) => sourcesIn(root, folder));
  const before = readStates(root);
  const states = Object.fromEntries(files.map((file) => [file, stateOf(join(root, file))]));
  const isStale = (file) =>
    before === undefined
      ? isNewer(join(root, file), join(root, "dist", outputOf(file)))
      : before[file] !== states[file] || !existsSync(join(root, "dist", outputOf(file)));
  const orphans = orphansIn(root);
  // Somebody may still import what is gone.
  const stale = orphans.length > 0 ? files : files.filter(isStale);
  const areProcessesStale = stale.some(isOfProcesses) || !haveProcesses(root);
  if (stale.length > 0) {
    rmSync(join(root, "dist/.tool-stamp"), { force: true });
    rmSync(join(root, STATES), { force: true });
    await write(root, stale);
    for (const output of orphans)
      for (const end of ["", ".map"]) rmSync(join(root, `${output}${end}`), { force: true });
  }
  if (areProcessesStale) await bundleProcesses(root);
  if (stale.length > 0 || before === undefined) writeFileSync(join(root, STATES), JSON.stringify(states));
  return [...stale, ...orphans];
}

async function write(root, stale) {
  for (const file of stale.filter((file) => !file.endsWith(".ts"))) copy(root, file);
  const modules = stale.filter((file) => file.endsWith(".ts"));
  if (modules.length === 0) return;
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

function readStates(root) {
  try {
    return JSON.parse(readFileSync(join(root, STATES), "utf8"));
  } catch {
    return undefined;
  }
}

/** An older file may be put back in the place of a newer one, so that the times alone do not tell. */
function stateOf(path) {
  const { mtimeMs, size } = statSync(path);
  return `${mtimeMs} ${size}`;
}

/** Outputs whose source is gone. */
function orphansIn(root) {
  return FOLDERS.filter((folder) => existsSync(join(root, "dist", folder)))
    .flatMap((folder) =>
      readdirSync(join(root, "dist", folder), { recursive: true, encoding: "utf8" }).map((name) => join(folder, name)),
    )
    .filter((file) => file.endsWith(".js"))
    .filter((file) => !existsSync(join(root, file)) && !existsSync(join(root, file.replace(/\.js$/, ".ts"))))
    .map((file) => join("dist", file));
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
      if (/^\.{1,2}\/.*\.ts$/.test(path) && !existsSync(join(resolveDir, path))) {
        return { errors: [{ text: `Could not resolve "${path}"` }] };
      }
      return { path: path.replace(/^(\.{1,2}\/.*)\.ts$/, "$1.js"), external: true };
    });
  },
});
