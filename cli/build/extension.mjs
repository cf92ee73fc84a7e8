// Bundles the VS Code extension into vscode-extension/dist: extension.cjs, server.cjs (the thread that it starts),
// protocol.cjs, which both speak, and the licenses of all packages in them. The manifest beside is the extension's; nothing
// else is needed to run it.
import { readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";
import { shortNamesInParsers } from "./short-names.mjs";

const root = fileURLToPath(new URL("../..", import.meta.url));
const outdir = join(root, "vscode-extension/dist");
rmSync(outdir, { recursive: true, force: true });

/** All of the protocol, its types and its connections are in one module, which is loaded from a file of its own. */
const sharedProtocol = {
  name: "shared-protocol",
  setup({ onResolve }) {
    const filter = /^vscode-languageserver-(?:protocol(?:\/node)?|types)$/;
    onResolve({ filter }, () => ({ path: "./protocol.cjs", external: true }));
  },
};

const options = {
  bundle: true,
  platform: "node",
  // VS Code 1.91 runs extensions on Node 20.
  target: "node20",
  format: "cjs",
  outExtension: { ".js": ".cjs" },
  outdir,
  external: ["vscode"],
  mainFields: ["module", "main"],
  minify: true,
  // Names are in the stack traces that people report.
  keepNames: true,
  metafile: true,
  logLevel: "warning",
};
const builds = await Promise.all([
  build({ ...options, entryPoints: { protocol: "vscode-languageserver-protocol/node" } }),
  build({
    ...options,
    entryPoints: {
      extension: join(root, "vscode-extension/extension.ts"),
      server: join(root, "vscode-extension/server-worker.ts"),
    },
    plugins: [shortNamesInParsers, sharedProtocol],
  }),
]);
const inputs = builds.flatMap(({ metafile }) => Object.keys(metafile.inputs));

writeFileSync(join(outdir, "THIRD-PARTY.txt"), thirdPartyLicenses(inputs));

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
