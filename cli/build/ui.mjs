// Bundles the web UI of the log service into dist/bin/ui: files whose names hold a hash of their content, so that browsers
// may keep them, each also compressed. manifest.json names those that the page loads first.
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { basename, join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { brotliCompressSync, constants, gzipSync } from "node:zlib";
import { build } from "esbuild";

const root = fileURLToPath(new URL("../..", import.meta.url));
const source = join(root, "logservice/ui");
const outdir = join(root, "dist/bin/ui");

const entries = {
  main: join(source, "app/main.tsx"),
  style: join(source, "style/main.css"),
  worker: join(source, "language/worker.ts"),
};

rmSync(outdir, { recursive: true, force: true });
mkdirSync(outdir, { recursive: true });

/** Workers are named by their final name, so they are built before what starts them. */
const worker = await bundle({ worker: entries.worker }, { splitting: false });
const { main, style } = await bundle(
  { main: entries.main, style: entries.style },
  { splitting: true, define: { WORKER_FILE: JSON.stringify(worker.worker) } },
);
writeFileSync(join(outdir, "manifest.json"), JSON.stringify({ script: main, style }));
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
    target: ["chrome111", "firefox114", "safari16.4"],
    format: "esm",
    splitting,
    minify: true,
    jsx: "automatic",
    jsxImportSource: "preact",
    legalComments: "none",
    define,
    metafile: true,
    logLevel: "warning",
  });
  const names = {};
  for (const [path, { entryPoint }] of Object.entries(metafile.outputs)) {
    const name = Object.keys(entryPoints).find((key) => entryPoint === relative(process.cwd(), entryPoints[key]));
    if (name !== undefined) names[name] = basename(path);
  }
  return names;
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
