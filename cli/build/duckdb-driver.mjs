// The driver of DuckDB in one file. Loading its hundred modules takes more time of the processor than starting the engine,
// and the log service starts processes all the time. Its binary stays in the package that npm installs for the platform.
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { bundleNoted as build } from "./esbuild.mjs";

const DRIVER = "@duckdb/node-api";
/** Where its decoder of texts is, which logservice/events/duckdb/duckdb.ts replaces. */
const ACCESSORS = `${DRIVER}/lib/vectors/dataAccessors.js`;

/** The driver's own code becomes a part of the bundle; its binary is found from where npm put the driver. */
export const driverInside = {
  name: "duckdb-driver-inside",
  setup(pluginBuild) {
    pluginBuild.onResolve({ filter: /^@duckdb\/node-bindings$/ }, ({ path }) => ({ path, namespace: "duckdb" }));
    pluginBuild.onLoad({ filter: /.*/, namespace: "duckdb" }, () => ({
      contents: `module.exports = require("node:module").createRequire(require.resolve(${JSON.stringify(DRIVER)}))("@duckdb/node-bindings");`,
      loader: "js",
    }));
    pluginBuild.onResolve({ filter: /^@duckdb\/node-api$/, namespace: "duckdb" }, ({ path }) => ({
      path,
      external: true,
    }));
  },
};

/** Writes the driver into a file that several bundles require. */
export async function writeDriver(outdir, root, options) {
  mkdirSync(outdir, { recursive: true });
  await build({
    ...options,
    stdin: {
      contents: `module.exports = { ...require(${JSON.stringify(DRIVER)}), accessors: require(${JSON.stringify(ACCESSORS)}) };`,
      resolveDir: root,
    },
    outfile: join(outdir, "duckdb.cjs"),
    plugins: [driverInside],
  });
}

/** For those bundles: `folder` is the path of the driver's folder as they see it. */
export function driverIn(folder) {
  const file = JSON.stringify(`${folder}/duckdb.cjs`);
  return {
    name: "duckdb-driver-by-path",
    setup(pluginBuild) {
      pluginBuild.onResolve({ filter: /^@duckdb\/node-api(\/|$)/ }, ({ path }) => ({ path, namespace: "duckdb" }));
      pluginBuild.onLoad({ filter: /.*/, namespace: "duckdb" }, ({ path }) => ({
        contents: `module.exports = require(${file})${path === ACCESSORS ? ".accessors" : ""};`,
        loader: "js",
      }));
      pluginBuild.onResolve({ filter: /\/duckdb\.cjs$/ }, ({ path }) => ({ path, external: true }));
    },
  };
}
