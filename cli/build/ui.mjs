// Bundles the web UI of the log service into dist/bin/ui: files whose names hold a hash of their content, so that browsers
// may keep them, each also compressed. manifest.json names those that the page loads first.
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { basename, join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { brotliCompressSync, constants, gzipSync } from "node:zlib";
import { bundleNoted as build } from "./esbuild.mjs";

const root = fileURLToPath(new URL("../..", import.meta.url));
const source = join(root, "logservice/ui");
const outdir = join(process.env.TOOL_BUNDLES ?? join(root, "dist/bin"), "ui");

const entries = {
  main: join(source, "app/main.tsx"),
  style: join(source, "style/main.css"),
  worker: join(source, "language/worker.ts"),
};

/**
 * Keeps what is loaded first in one file. esbuild makes a file for each set of entries that share something, and each late
 * page is an entry: what the page needs first would be a dozen files. Here every late page imports all of that, so that
 * there is one such set.
 */
const oneFirstChunk = {
  name: "one-first-chunk",
  setup(pluginBuild) {
    const late = "late";
    pluginBuild.onResolve({ filter: /^\./ }, async ({ path, kind, resolveDir, pluginData }) => {
      if (kind !== "dynamic-import" || pluginData === late) return undefined;
      const result = await pluginBuild.resolve(path, { kind, resolveDir, pluginData: late });
      // Relative: the names of the files depend on the path, and are to be the same in every clone.
      return result.errors.length > 0 ? result : { path: relative(source, result.path), namespace: late };
    });
    pluginBuild.onLoad({ filter: /.*/, namespace: late }, ({ path }) => ({
      contents: `import ${JSON.stringify(relative(source, entries.main))};\nexport * from ${JSON.stringify(path)};`,
      resolveDir: source,
    }));
    pluginBuild.onResolve({ filter: /.*/, namespace: late }, ({ path }) => ({
      path: join(source, path),
      sideEffects: true,
    }));
  },
};

rmSync(outdir, { recursive: true, force: true });
mkdirSync(outdir, { recursive: true });

/** Workers are named by their final name, so they are built before what starts them. */
const worker = await bundle({ worker: entries.worker }, { splitting: false });
const { main, style, preload } = await bundle(
  { main: entries.main, style: entries.style },
  { splitting: true, define: { WORKER_FILE: JSON.stringify(worker.worker) } },
);
writeFileSync(join(outdir, "manifest.json"), JSON.stringify({ script: main, style, preload }));
for (const name of readdirSync(join(outdir, "assets"))) compress(join(outdir, "assets", name));

/** Builds entries; the names of their files below dist/bin/ui/assets. */
async function bundle(entryPoints, { splitting, define = {} }) {
  const { metafile } = await build({
    entryPoints,
    outdir: join(outdir, "assets"),
    entryNames: "[name]-[hash]",
    chunkNames: "[name]-[hash]",
    bundle: true,
    platform: "browser",
    // The first with light-dark() in style sheets, of spring 2024 at the latest.
    target: ["chrome123", "firefox120", "safari17.5"],
    format: "esm",
    splitting,
    minify: true,
    jsx: "automatic",
    jsxImportSource: "preact",
    legalComments: "none",
    define,
    metafile: true,
    plugins: splitting ? [oneFirstChunk] : [],
    // The import counts for the set of entries; test/logservice/ui/ui-size.test.ts holds what is loaded first against its limit.
    logOverride: { "ignored-bare-import": "silent" },
    logLevel: "warning",
  });
  const names = {};
  for (const [path, { entryPoint }] of Object.entries(metafile.outputs)) {
    const name = Object.keys(entryPoints).find((key) => entryPoint === relative(process.cwd(), entryPoints[key]));
    if (name === undefined) continue;
    names[name] = basename(path);
    if (name === "main") names.preload = staticImports(metafile, path).map((file) => basename(file));
  }
  return names;
}

/** The files that a file imports before it runs, and those that they import. */
function staticImports({ outputs }, path, paths = []) {
  for (const { path: imported, kind } of outputs[path].imports) {
    if (kind !== "import-statement" || paths.includes(imported)) continue;
    paths.push(imported);
    staticImports({ outputs }, imported, paths);
  }
  return paths;
}

/** Made once here, so that the service compresses nothing. */
function compress(file) {
  const bytes = readFileSync(file);
  writeFileSync(`${file}.gz`, gzipSync(bytes, { level: 9 }));
  writeFileSync(
    `${file}.br`,
    brotliCompressSync(bytes, { params: { [constants.BROTLI_PARAM_SIZE_HINT]: bytes.length } }),
  );
}
