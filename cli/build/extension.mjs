// Bundles the VS Code extension into vscode-extension/dist:
// - extension.cjs, and server.cjs, the thread that it starts;
// - web-extension.js, the same for VS Code for the Web, and web-server.js, the worker that it starts;
// - shared-*.js, the parts that several of these load, so that the package has them once: above all the language server;
// - the licenses of all packages in them.
// The manifest beside is the extension's; nothing else is needed to run it.
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { build, transform } from "esbuild";
import { shortNamesInParsers } from "./short-names.mjs";

const root = fileURLToPath(new URL("../..", import.meta.url));
const outdir = join(root, "vscode-extension/dist");
rmSync(outdir, { recursive: true, force: true });
mkdirSync(outdir, { recursive: true });

const options = {
  bundle: true,
  outdir,
  external: ["vscode"],
  mainFields: ["module", "main"],
  minify: true,
  // Names are in the stack traces that people report.
  keepNames: true,
  metafile: true,
  logLevel: "warning",
  plugins: [shortNamesInParsers],
};
const source = (name) => join(root, "vscode-extension", name);
const builds = await Promise.all([
  // Only modules can share parts.
  build({
    ...options,
    entryPoints: {
      extension: source("extension.ts"),
      server: source("server-worker.ts"),
      "web-server": source("web-server-worker.ts"),
    },
    platform: "node",
    // VS Code 1.91 runs extensions on Node 20.
    target: "node20",
    // The worker's transport is for browsers alone, and no package here is another one for them.
    conditions: ["browser"],
    format: "esm",
    splitting: true,
    chunkNames: "shared-[hash]",
    write: false,
  }),
  // The editor loads one file for an extension in a browser.
  build({
    ...options,
    entryPoints: { "web-extension": source("web-extension.ts") },
    platform: "browser",
    target: "es2022",
    format: "cjs",
  }),
]);
for (const { path, text } of builds[0].outputFiles) await writeScript(path.slice(outdir.length + 1), text);
// The manifest above says that scripts are modules, for the compiler.
writeFileSync(join(outdir, "package.json"), '{ "type": "commonjs" }\n');
const inputs = builds.flatMap(({ metafile }) => Object.keys(metafile.inputs));
writeFileSync(join(outdir, "THIRD-PARTY.txt"), thirdPartyLicenses(inputs));

/** Writes a module as the editor, a thread and a worker load it: as a script that calls `require`. */
async function writeScript(name, text) {
  const isEntry = !name.startsWith("shared-");
  const isWeb = name === "web-server.js";
  const { code } = await transform(text, { format: "cjs", platform: "node", target: "node20", minifyWhitespace: true });
  // In a worker, names at the top of two scripts are in one scope.
  const script = isWeb ? inWorker(code) : isEntry ? code : `(()=>{${code}})();\n`;
  writeFileSync(join(outdir, isEntry && !isWeb ? name.replace(/\.js$/, ".cjs") : name), script);
}

/**
 * The script of the worker, which starts with its first message: that says where the other scripts are. A worker has no
 * `require`; the scripts that it imports give what they export to `module`.
 */
function inWorker(code) {
  const require = `(name)=>{
if(!loaded.has(name)){const own={exports:{}},outer=self.module;self.module=own;importScripts(new URL(name,first.data.folder).href);self.module=outer;loaded.set(name,own)}
return loaded.get(name).exports}`;
  return `self.onmessage=(first)=>{const loaded=new Map();const require=self.require=${require};
${code}
self.onmessage(first)};
`;
}

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
