// tap in one file: its 249 modules take half as long again to load as most test files take to run.
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";

/** Tests in dist find it here, before the one in node_modules. tap leaves frames of this scope out of its stacks. */
const FOLDER = "dist/node_modules/tap";
const FILE = "node_modules/@tapjs/tap/index.mjs";

/** The runner's limit is the only one: without a variable, tap would end each test of a file that is run alone after 30 s. */
const BANNER = `import { createRequire as createTapRequire } from "node:module";
const require = createTapRequire(import.meta.url);
process.env.TAP_TIMEOUT ??= "0";`;

/** Makes it if it is missing or of another version. */
export async function bundleTap(root) {
  const { version } = JSON.parse(readFileSync(join(root, "node_modules/tap/package.json"), "utf8"));
  const manifest = join(root, FOLDER, "package.json");
  const text = JSON.stringify({ name: "tap", version, type: "module", main: `./${FILE}` });
  if (existsSync(manifest) && readFileSync(manifest, "utf8") === text) return;
  const { build } = await import("esbuild");
  await build({
    entryPoints: [join(root, "node_modules/tap/dist/esm/index.js")],
    outfile: join(root, FOLDER, FILE),
    bundle: true,
    format: "esm",
    platform: "node",
    target: "node20",
    banner: { js: BANNER },
    logLevel: "warning",
  });
  mkdirSync(dirname(manifest), { recursive: true });
  writeFileSync(manifest, text);
}
