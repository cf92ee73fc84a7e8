// Code that several bundles need, as CommonJS files beside them, required by path. esbuild splits ESM alone, and makes
// a file for each set of bundles that share something: the commands would be some eighty files.
//
// A bundle that asks for a shared module reads all of the file that holds it, so that a file should hold what is used
// together. It keeps the exports as constants: read as properties at each call, they made a scan of a log take twice as
// long.
import { createRequire } from "node:module";
import { join, relative, sep } from "node:path";
import { bundleNoted as build } from "./esbuild.mjs";

/** Tells the plugin's own question from those of esbuild. */
const RESOLVING = Symbol("resolving");

/**
 * Bundles `entryPoints` into `outdir`, and what they share into files beside them. `shared` lists these files: each has a
 * name and `holds`, which matches the paths of its modules from the root; one may use those that come after it, and those
 * with `isLate`, which are read when a function of theirs is called for the first time, all and by all.
 * `isOwn` matches the paths that each bundle has for itself in spite of that. `imports` matches the specifiers to look at.
 */
export async function buildWithShared({ entryPoints, outdir, root, shared, isOwn, imports, options }) {
  /** The modules that are asked for from outside, by the shared file that holds them. */
  const wanted = new Map(shared.map(({ name }) => [name, new Set()]));
  const resolved = new Map();
  const sharedAfter = (index) => requireShared({ root, wanted, shared, index, isOwn, imports, resolved });
  await build({ ...options, entryPoints, outdir, plugins: [sharedAfter(-1), ...options.plugins] });
  /** How many modules each file was written with. */
  const written = new Map();
  for (;;) {
    // A late file may ask for modules of files that were written before it: those are written again.
    const index = shared.findIndex(({ name }) => written.get(name) !== wanted.get(name).size);
    if (index === -1) return;
    const { name } = shared[index];
    written.set(name, wanted.get(name).size);
    const contents = [...wanted.get(name)]
      .sort()
      .flatMap((module, at) => [
        `import * as m${at} from ${JSON.stringify(join(root, module))};`,
        `export { m${at} as ${JSON.stringify(module)} };`,
      ]);
    await build({
      ...options,
      stdin: { contents: contents.join("\n"), resolveDir: root },
      outfile: join(outdir, `shared-${name}.cjs`),
      outExtension: undefined,
      plugins: [sharedAfter(index), ...options.plugins],
    });
  }
}

/** Leaves a module to the shared file that holds it, if that is late or comes after `index`, the one that is bundled. */
function requireShared({ root, wanted, shared, index, isOwn, imports, resolved }) {
  return {
    name: "require-shared",
    setup(pluginBuild) {
      pluginBuild.onResolve({ filter: imports }, async ({ path, pluginData, ...args }) => {
        if (pluginData === RESOLVING || args.kind === "entry-point") return undefined;
        // The same in each of the builds, for which it is a question to another process.
        const key = JSON.stringify([path, args.importer, args.resolveDir, args.kind]);
        if (!resolved.has(key)) resolved.set(key, await pluginBuild.resolve(path, { ...args, pluginData: RESOLVING }));
        const resolution = resolved.get(key);
        if (resolution.errors.length > 0 || resolution.external || resolution.namespace !== "file") return undefined;
        const module = relative(root, resolution.path).split(sep).join("/");
        const at = isOwn.test(module) ? -1 : shared.findIndex(({ holds }) => holds.test(module));
        if (at === -1 || at === index || (at < index && !shared[at].isLate)) return undefined;
        const { name } = shared[at];
        wanted.get(name).add(module);
        // Without side effects: a bundle that uses nothing of it does not read the file.
        return { path: module, namespace: "shared", pluginData: name, sideEffects: false };
      });
      pluginBuild.onLoad({ filter: /.*/, namespace: "shared" }, async ({ path, pluginData: name }) => {
        const exports = `require("./shared-${name}.cjs")[${JSON.stringify(path)}]`;
        if (shared.find((one) => one.name === name).isLate) {
          return { contents: await lateExports(join(root, path), exports), resolveDir: root };
        }
        const names = await exportsOf(join(root, path));
        return {
          contents: names ? `export const { ${names.join(", ")} } = ${exports};` : `module.exports = ${exports};`,
          resolveDir: root,
        };
      });
      pluginBuild.onResolve({ filter: /^\.\/shared-\w+\.cjs$/ }, ({ path }) => ({ path, external: true }));
    },
  };
}

/** Does work on a path once: each bundle that imports the module asks for the same, and so does each turn. */
function oncePerPath(work) {
  const done = new Map();
  return (path, ...more) => {
    const key = JSON.stringify([path, ...more]);
    if (!done.has(key)) done.set(key, work(path, ...more));
    return done.get(key);
  };
}

/** The names that a module of ours exports; undefined for those of others, which may pass on all of another module. */
const exportsOf = oncePerPath(async (path) => {
  if (path.includes("node_modules")) return undefined;
  const { metafile } = await build({ entryPoints: [path], format: "esm", write: false, metafile: true, outdir: "/" });
  return Object.values(metafile.outputs)[0].exports;
});

/** Exports as functions that read the file at their first call; plain values are written out. Nothing else can be late. */
const lateExports = oncePerPath(async (path, exports) => {
  const { outputFiles } = await build({
    entryPoints: [path],
    bundle: true,
    format: "cjs",
    platform: "node",
    // As the bundles do: the other form of some packages asks for files by names that are not written out.
    mainFields: ["module", "main"],
    write: false,
  });
  const module = { exports: {} };
  new Function("module", "exports", "require", outputFiles[0].text)(module, module.exports, createRequire(path));
  const lines = Object.entries(module.exports).map(([name, value]) => {
    if (typeof value === "function" && !/^class\b/.test(String(value)))
      return `export const ${name} = (...values) => late().${name}(...values);`;
    const isPlain = [value].flat().every((one) => typeof one === "number" || typeof one === "string");
    // Whoever imports it is told by the bundler.
    return isPlain ? `export const ${name} = ${JSON.stringify(value)};` : "";
  });
  return `let read;\nconst late = () => (read ??= ${exports});\n${lines.join("\n")}`;
});
