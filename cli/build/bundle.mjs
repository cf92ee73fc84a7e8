// Bundles the command into dist/bin: cli.cjs (answers --version alone), main.cjs (the map of the CLI) and one file per
// command, loaded by path when the command runs, so that no command pays for another's libraries. What several commands
// use is in commands/shared-*.cjs. Below it, in runtime, what a deployment carries.
import { chmodSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { basename, join } from "node:path";
import { fileURLToPath } from "node:url";
import { bundleSdk, sdkFileOf } from "./aws-sdk.mjs";
import { driverIn, writeDriver } from "./duckdb-driver.mjs";
import { releaseDefines } from "./edition.mjs";
import { bundleNoted as build } from "./esbuild.mjs";
import { requireLatePackages, writeLateFiles } from "./late-packages.mjs";
import { bundleProcesses, nativePackages, processes } from "./processes.mjs";
import { serviceLibrariesIn, writeServiceLibraries } from "./service-libraries.mjs";
import { buildWithShared } from "./shared-code.mjs";
import { shortNamesInParsers } from "./short-names.mjs";

const root = fileURLToPath(new URL("../..", import.meta.url));
const { version } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
const commands = readdirSync(join(root, "cli/commands")).filter((name) => name.endsWith(".ts"));
/** Short runs of little code, of which completion answers each Tab: they read nothing that others need. */
const alone = ["completion.ts", "docs.ts"];

/**
 * `import("./commands/x.ts")` stays an import of the bundle beside: ./commands/x.cjs. So does the reader of tool.json
 * where a command imports it late: its text is most of what such a command would have Node scan. And what asks a log for the
 * traffic of rules, which few checks do.
 */
const commandsByPath = {
  name: "commands-by-path",
  setup(pluginBuild) {
    // The check of Pro, which is beside the commands, as builds that refuse nothing and ask nobody never read it.
    pluginBuild.onResolve({ filter: /^\.{1,2}\/pro\.ts$/ }, ({ kind, importer }) => {
      const folder = basename(importer) === "main.ts" ? "./commands" : ".";
      return kind === "dynamic-import" ? { path: `${folder}/pro.cjs`, external: true } : undefined;
    });
    pluginBuild.onResolve(
      { filter: /^(\.\/(commands\/[\w-]+|main)|\.\.\/(?:config-file|rule-traffic))\.ts$/ },
      (args) =>
        args.kind === "dynamic-import"
          ? { path: args.path.replace(/^\.\./, ".").replace(/\.ts$/, ".cjs"), external: true }
          : undefined,
    );
  },
};

/** The SDK's packages are in files of their own: a command loads the clients that it calls, when it calls them. */
const sdkByPath = {
  name: "sdk-by-path",
  setup(pluginBuild) {
    pluginBuild.onResolve({ filter: /^@(?:aws-sdk|smithy)\// }, ({ path, importer }) =>
      importer.startsWith(join(root, "cli"))
        ? { path: `../aws-sdk/${sdkFileOf(path)}.cjs`, external: true }
        : undefined,
    );
  },
};

/**
 * Packages that few runs need: the list of all domains under which names are registered, 124 KB, which is read when a domain
 * is looked at, and the search for files by a pattern, which its command imports late.
 */
const requireLateLibraries = {
  name: "require-late-libraries",
  setup(pluginBuild) {
    pluginBuild.onResolve({ filter: /^tinyglobby$/ }, ({ kind }) =>
      kind === "dynamic-import" ? { path: "../late/tinyglobby.cjs", external: true } : undefined,
    );
    pluginBuild.onResolve({ filter: /^tldts$/ }, ({ path }) => ({ path, namespace: "late-domains" }));
    pluginBuild.onLoad({ filter: /.*/, namespace: "late-domains" }, () => ({
      contents: `export const getDomain = (name) => require("../late/tldts.cjs").getDomain(name);`,
      resolveDir: root,
    }));
    pluginBuild.onResolve({ filter: /\/tldts\.cjs$/ }, ({ path }) => ({ path, external: true }));
  },
};

/** http-proxy 1.18 calls util._extend, which prints DEP0060 at every start on Node 22 and later. */
const withoutDeprecatedExtend = {
  name: "without-deprecated-extend",
  setup(pluginBuild) {
    pluginBuild.onLoad({ filter: /[\\/]http-proxy[\\/]lib[\\/]http-proxy[\\/](index|common)\.js$/ }, ({ path }) => ({
      contents: readFileSync(path, "utf8").replace("require('util')._extend", "Object.assign"),
      loader: "js",
    }));
  },
};

/** The app behind http-proxy speaks plain HTTP and is followed nowhere; loading TLS takes some milliseconds of a start. */
const withoutHttps = {
  name: "without-https",
  setup(pluginBuild) {
    pluginBuild.onResolve({ filter: /^(https|follow-redirects)$/ }, ({ path }) => ({ path, namespace: "absent" }));
    pluginBuild.onLoad({ filter: /.*/, namespace: "absent" }, () => ({ contents: "module.exports = {};" }));
  },
};

/** The replay of alerts, which the command runs without anything else of the log service. */
const REPLAY =
  "(?:preview-entries|error|events/(?:histogram-steps|level-names|store)|" +
  "alerts/(?:alert-query|entry-events|evaluate|group|preview|read-slots|slots|state))\\.ts$";

/** The code that commands share, in files of parts that are used together; see shared-code.mjs. */
const shared = [
  {
    // Messages about texts that are wrong, or written as in another language: most texts are right.
    name: "mistakes",
    holds:
      /^grammar\/(?:query\/(?:diagnose|repair|problems|meant\/(?!near)|pipe\/(?:diagnose|problems|wrong-part|meant\/))|(?:route|template)\/(?:diagnose|problems))/,
    isLate: true,
  },
  {
    // Lists of deployments, and the return to one of them, which no deploy asks for.
    name: "history",
    holds: /^cli\/aws\/function\/(?:history|rollback)\.ts$/,
    isLate: true,
  },
  {
    // The log service of tool.json, who is signed in there, and what tool.json wants of it, which most deploys do not need.
    name: "delivery",
    holds:
      /^cli\/(?:service\/(?:log|sandbox)-delivery|alerts\/(?:apply-plan|service-(?:plan|plan-text|difference)))\.ts$/,
    isLate: true,
  },
  { name: "cloud", holds: /^cli\/aws\// },
  { name: "platform", holds: /^cli\/platform\// },
  { name: "sandbox", holds: /^cli\/sandbox\// },
  { name: "store", holds: new RegExp(`^(?:logservice/(?!${REPLAY})|grammar/query/sql/)`) },
  { name: "replay", holds: new RegExp(`^logservice/${REPLAY}`) },
  { name: "proxy", holds: /^runtime\// },
  { name: "reference", holds: /^schema\/(?:rpc-|openapi\.)/ },
  { name: "highlight", holds: /^grammar\/(?:(?:query|route|template)\/)?highlight\b/ },
  {
    // Completion and hovers of queries, which only editors ask for.
    name: "editing",
    holds: /^grammar\/query\/(?:session|complete|expected|explain|near|pipe\/(?:complete|explain|occurrences))\b/,
  },
  {
    // The code that searches logs, which no check of tool.json needs.
    name: "query",
    holds: /^grammar\/query\/(?:cloudwatch|combine|predicate|reads|scan-plan)\b/,
  },
  {
    // The check of tool.json, which commands that only read a part of it leave out.
    name: "schema",
    holds: /^schema\/(?!(?:defaults|infer|json|profiles|stages|started-files|variable-name|variables-size)\.ts$)/,
  },
  { name: "settings", holds: /^schema\// },
  { name: "routes", holds: /^grammar\/(?:route|template)\// },
  { name: "grammar", holds: /^grammar\// },
];

/**
 * Doors, which only pass on what others export: with one of its own, a bundle reads no file for exports that it does not
 * use. And modules of a few kilobytes without state, in place of reading a shared file for them alone.
 */
const isOwn =
  /^(?:grammar|schema)\/(?:(?:\w+\/)?index|did-you-mean|problem|units\/\w+|address\/(?:ip|loopback)|notification-members|pro-keys|project-id|regions|rpc-client|rules|statement)\.ts$/;

/** A release has a folder of its own, so that it leaves what was built as it is. */
const outdir = process.env.TOOL_BUNDLES ?? join(root, "dist/bin");
const options = {
  bundle: true,
  platform: "node",
  target: "node20",
  // ESM output dies on the require calls inside http-proxy.
  format: "cjs",
  outExtension: { ".js": ".cjs" },
  mainFields: ["module", "main"],
  external: nativePackages,
  // fdir calls createRequire(import.meta.url), which CJS output leaves undefined; createRequire takes a path as well.
  define: { ...releaseDefines(process.env.TOOL_RELEASE, version), "import.meta.url": "__filename" },
  minifySyntax: true,
  // Comments and indentation are half of the text that Node parses at each start; names stay, for stack traces.
  minifyWhitespace: true,
  // As require: Node would scan the whole text of an imported .cjs for the names that it exports, 50 ms of a command.
  supported: { "dynamic-import": false },
  plugins: [
    shortNamesInParsers,
    commandsByPath,
    sdkByPath,
    withoutDeprecatedExtend,
    requireLatePackages("../late"),
    requireLateLibraries,
    driverIn("../late"),
    serviceLibrariesIn("../late"),
  ],
  logLevel: "warning",
  // An import from a late file of neither a function nor a plain value.
  logOverride: { "import-is-undefined": "error" },
};
/**
 * `--own`: the packages of others, which are most of the work, are there from the last time. `npm run mutate` asks for it.
 */
const isOwnOnly = process.argv.includes("--own");
if (!isOwnOnly) {
  await writeLateFiles(outdir, root);
  await writeDriver(join(outdir, "late"), root, options);
  await writeServiceLibraries(join(outdir, "late"), root);
}

const entries = (names) =>
  Object.fromEntries(names.map((name) => [basename(name, ".ts"), join(root, "cli/commands", name)]));
await buildWithShared({
  root,
  outdir: join(outdir, "commands"),
  entryPoints: {
    ...entries(commands.filter((name) => !alone.includes(name))),
    "config-file": join(root, "cli/config-file.ts"),
    pro: join(root, "cli/pro.ts"),
    "rule-traffic": join(root, "cli/rule-traffic.ts"),
  },
  shared,
  isOwn,
  imports: /^\.{1,2}\//,
  options,
});
await build({
  ...options,
  entryPoints: {
    ...entries(alone),
    // Threads start from a file of their own.
    "scan-worker": join(root, "cli/logs/scan-worker.ts"),
    "sandbox-daemon": join(root, "cli/sandbox/daemon-process.ts"),
    // So do processes, beside the command that holds the events store.
    ...Object.fromEntries(processes.map((source) => [basename(source, ".ts"), join(root, source)])),
  },
  outdir: join(outdir, "commands"),
});
await build({
  ...options,
  // It loads handlers, which may be modules.
  supported: {},
  entryPoints: { "sandbox-node-runtime": join(root, "cli/sandbox/cloud/lambda/node-runtime.ts") },
  outdir: join(outdir, "commands"),
});
if (process.env.TOOL_BUNDLES === undefined) {
  await bundleProcesses(root);
  // tsc has written all of dist; see test/loop/transpile.mjs.
  rmSync(join(root, "dist/.t-sources.json"), { force: true });
}
await build({ ...options, entryPoints: { cli: join(root, "cli/cli.ts"), main: join(root, "cli/main.ts") }, outdir });

if (!isOwnOnly) await bundleSdk(join(outdir, "aws-sdk"), root);

// The runtime of a deployment: one file, minified, as it is uploaded and scanned at each cold start. It can be executed
// as it is: AWS_LAMBDA_EXEC_WRAPPER names it, and the platform calls it in place of its own runtime.
// By the shell, since V8 takes limits only when it starts: its young generation would grow to 32 MB in a function that is asked all
// the time, and collecting 4 MB takes no more work for each request (test/bench/README.md). The second line is a comment to Node.
await build({
  entryPoints: { bootstrap: join(root, "runtime/lambda/bootstrap.ts") },
  bundle: true,
  platform: "node",
  target: "node20",
  format: "cjs",
  outExtension: { ".js": ".cjs" },
  outdir: join(outdir, "runtime"),
  mainFields: ["module", "main"],
  minify: true,
  banner: { js: `#!/bin/sh\n":" //; exec node --max-semi-space-size=2 "$0" "$@"` },
  plugins: [withoutDeprecatedExtend, withoutHttps],
  logLevel: "warning",
});
chmodSync(join(outdir, "runtime/bootstrap.cjs"), 0o755);
