// Packages that few runs need and that must answer at once when they are needed, which import() does not.
//
// In the sources each is a generated module that holds the whole package in a function, evaluated on the first call; so
// it works in a browser too. Even so Node scans that text at every start (about 3 ms for both). The bundles for Node
// therefore leave it in a file of its own, which the first call requires.
import { join } from "node:path";
import { build } from "esbuild";

export const latePackages = [
  { file: "grammar/ohm.generated.ts", load: "loadOhm", name: "ohm-js", exports: ["makeRecipe"] },
  {
    file: "grammar/query/re2.generated.ts",
    load: "loadRe2",
    name: "re2js",
    exports: ["RE2JS", "RE2JSSyntaxException"],
  },
];

/** The exports that are needed of a package, as CommonJS. */
export async function bundleLatePackage({ name, exports }, root) {
  const { outputFiles } = await build({
    stdin: { contents: `export { ${exports.join(", ")} } from ${JSON.stringify(name)};`, resolveDir: root },
    bundle: true,
    format: "cjs",
    target: "es2022",
    minify: true,
    write: false,
    logLevel: "warning",
  });
  return outputFiles[0].text;
}

/** For bundles of Node: the packages are required from `folder`, a path as it stands in the bundle. */
export function requireLatePackages(folder) {
  return {
    name: "require-late-packages",
    setup(pluginBuild) {
      for (const { file, load, name } of latePackages) {
        const path = `${folder}/${name}.cjs`;
        const ending = new RegExp(`${file.replaceAll("/", "[\\\\/]").replaceAll(".", "\\.")}$`);
        pluginBuild.onLoad({ filter: ending }, () => ({
          contents: `export function ${load}() { return require(${JSON.stringify(path)}); }`,
          loader: "js",
        }));
        pluginBuild.onResolve({ filter: new RegExp(`/${name}\\.cjs$`) }, () => ({ path, external: true }));
      }
    },
  };
}

/** Where a bundle's late packages go below its folder. */
export const lateFile = (outdir, name) => join(outdir, "late", `${name}.cjs`);
