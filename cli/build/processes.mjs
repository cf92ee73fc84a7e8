// The processes of the events store, each in one file beside its compiled form: loading 170 modules takes four times as
// long, and a store starts many. The command has its own in dist/bin/commands; see bundle.mjs.
import { existsSync, rmSync } from "node:fs";
import { join } from "node:path";
import { driverInside } from "./duckdb-driver.mjs";
import { bundleNoted as build } from "./esbuild.mjs";

const folder = "logservice/events/duckdb";

/** Packages with binaries of the platform. That of DuckDB is apart from its driver: duckdb-driver.mjs. */
export const nativePackages = ["libsql"];

/** The files that may be started, from the root. */
export const processes = [
  `${folder}/flusher-process.ts`,
  `${folder}/sql/sql-process.ts`,
  `${folder}/engine/engine-process.ts`,
];

/** They import nothing else of ours. */
export const isOfProcesses = (source) => /^(?:logservice|grammar)\//.test(source);

const bundleOf = (root, source) => join(root, "dist", source.replace(/\.ts$/, ".cjs"));

export const haveProcesses = (root) => processes.every((source) => existsSync(bundleOf(root, source)));

/** If it throws, none is left: an old one would be started in the place of what is wrong. */
export async function bundleProcesses(root) {
  for (const source of processes) rmSync(bundleOf(root, source), { force: true });
  await build({
    entryPoints: processes.map((source) => ({ in: join(root, source), out: source.replace(/\.ts$/, "") })),
    outdir: join(root, "dist"),
    bundle: true,
    platform: "node",
    target: "node20",
    format: "cjs",
    outExtension: { ".js": ".cjs" },
    external: nativePackages,
    sourcemap: true,
    plugins: [driverInside],
    logLevel: "warning",
  });
}
