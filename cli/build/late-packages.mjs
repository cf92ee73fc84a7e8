// Packages that few runs need and that must answer at once when they are needed, which import() does not.
//
// In the sources each is a generated module that holds the whole package in a function, evaluated on the first call; so
// it works in a browser too. Even so Node scans that text at every start (about 3 ms for both). The bundles for Node
// therefore leave it in a file of its own, which the first call requires.
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { bundleNoted as build } from "./esbuild.mjs";

export const latePackages = [
  { file: "grammar/ohm.generated.ts", load: "loadOhm", name: "ohm-js", exports: ["makeRecipe"] },
  {
    file: "grammar/query/re2.generated.ts",
    load: "loadRe2",
    name: "re2js",
    exports: ["RE2JS", "RE2JSSyntaxException"],
  },
];

/** Packages of the command alone, which bundle.mjs leaves to these files. */
const lateLibraries = [
  { name: "tldts", exports: ["getDomain"] },
  { name: "tinyglobby", exports: ["glob"] },
];

/** The exports that are needed of a package, as CommonJS. */
export async function bundleLatePackage({ name, exports }, root, options = {}) {
  const { outputFiles } = await build({
    stdin: { contents: `export { ${exports.join(", ")} } from ${JSON.stringify(name)};`, resolveDir: root },
    bundle: true,
    format: "cjs",
    target: "es2022",
    minify: true,
    write: false,
    logLevel: "warning",
    ...options,
  });
  return outputFiles[0].text;
}

/** The grammars as Ohm reads them, which only a text that does not match needs. */
const grammarFiles = /[\\/]grammar[\\/](?:query|route|template)[\\/](query|route|template)\.generated\.ts$/;

/** Writes the packages, and each grammar, into the folder `late` of `outdir`. */
export async function writeLateFiles(outdir, root) {
  const folder = join(outdir, "late");
  mkdirSync(folder, { recursive: true });
  for (const it of latePackages) writeFileSync(join(folder, `${it.name}.cjs`), await bundleLatePackage(it, root));
  // fdir, which tinyglobby uses, calls createRequire(import.meta.url).
  const ofNode = { platform: "node", define: { "import.meta.url": "__filename" } };
  for (const it of lateLibraries)
    writeFileSync(join(folder, `${it.name}.cjs`), await bundleLatePackage(it, root, ofNode));
  await build({
    entryPoints: ["query", "route", "template"].map((name) => ({
      in: join(root, `grammar/${name}/${name}.generated.ts`),
      out: `${name}-grammar`,
    })),
    bundle: true,
    platform: "node",
    target: "node20",
    format: "cjs",
    outExtension: { ".js": ".cjs" },
    outdir: folder,
    minify: true,
    plugins: [requireLatePackages(".")],
    logLevel: "warning",
  });
}

/** For bundles of Node: the packages and grammars are required from `folder`, a path as the bundle sees it. */
export function requireLatePackages(folder) {
  return {
    name: "require-late-packages",
    setup(pluginBuild) {
      for (const { file, load, name } of latePackages) {
        const ending = new RegExp(`${file.replaceAll("/", "[\\\\/]").replaceAll(".", "\\.")}$`);
        pluginBuild.onLoad({ filter: ending }, () => requires(load, `${folder}/${name}.cjs`));
      }
      // The files that are written there hold the grammar itself.
      if (folder !== ".") {
        pluginBuild.onLoad({ filter: grammarFiles }, ({ path }) => {
          const name = `${grammarFiles.exec(path)[1]}-grammar`;
          return requires("loadGrammar", `${folder}/${name}.cjs`, ".loadGrammar()");
        });
      }
      pluginBuild.onResolve({ filter: /\/(?:ohm-js|re2js|\w+-grammar)\.cjs$/ }, ({ path }) => ({
        path,
        external: true,
      }));
    },
  };
}

const requires = (load, path, call = "") => ({
  contents: `export function ${load}() { return require(${JSON.stringify(path)})${call}; }`,
  loader: "js",
});
