// Bundles the VS Code extension into vscode-extension/dist: extension.cjs, server.cjs (the thread that it starts), and the
// licenses of all that they contain. The manifest beside is the extension's; nothing else is needed to run it.
import { copyFileSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";
import { shortNamesInParsers } from "./short-names.mjs";

const root = fileURLToPath(new URL("../..", import.meta.url));
const outdir = join(root, "vscode-extension/dist");
rmSync(outdir, { recursive: true, force: true });

const { metafile } = await build({
  entryPoints: {
    extension: join(root, "vscode-extension/extension.ts"),
    server: join(root, "vscode-extension/server-worker.ts"),
  },
  bundle: true,
  platform: "node",
  // VS Code 1.91 runs extensions on Node 20.
  target: "node20",
  format: "cjs",
  outExtension: { ".js": ".cjs" },
  outdir,
  external: ["vscode"],
  // The protocol's package has a copy of its own, of the same version but for the last digit.
  alias: { "vscode-languageserver-types": join(root, "node_modules/vscode-languageserver-types") },
  mainFields: ["module", "main"],
  minify: true,
  // Names are in the stack traces that people report.
  keepNames: true,
  plugins: [shortNamesInParsers],
  metafile: true,
  logLevel: "warning",
});

copyFileSync(join(root, "LICENSE"), join(outdir, "LICENSE.txt"));
writeFileSync(join(outdir, "THIRD-PARTY.txt"), thirdPartyLicenses(Object.keys(metafile.inputs)));

/** The license of each package that a bundle took files from. */
function thirdPartyLicenses(inputs) {
  const folders = new Set(inputs.flatMap((path) => /^.*node_modules\/(?:@[^/]+\/)?[^/]+/.exec(path) ?? []));
  // Bundled earlier, by `npm run generate`.
  for (const name of ["ohm-js", "re2js"]) folders.add(`node_modules/${name}`);
  const texts = new Map();
  for (const folder of [...folders].sort()) {
    const { name, version, license } = JSON.parse(readFileSync(join(root, folder, "package.json"), "utf8"));
    const file = readdirSync(join(root, folder)).find((entry) => /^licen[cs]e/i.test(entry));
    const text = file === undefined ? "" : `\n${readFileSync(join(root, folder, file), "utf8").trim()}\n`;
    texts.set(`${name} ${version}`, `${name} ${version} (${license})\n${text}`);
  }
  return [...texts.values()].join(`\n${"-".repeat(80)}\n\n`);
}
