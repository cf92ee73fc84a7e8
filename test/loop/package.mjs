// `npm run test:package`: the tests of the commands on the package for npm, as npm installs it, by each Node that is supported.
//
//   node test/loop/package.mjs [options] [NAME ...]     (the tests that start the command; from a build)
//   --nodes=LIST    20.19,20.20,22,24,26
//   --with=LIST     how it is installed: ignore-scripts, scripts, omit (ignore-scripts)
//   --some          the choice of `.ci/run`
//   --prepare=DIR   install the package and the Nodes of `.ci/run` there, and run nothing
//   --record        write what each run took to test/loop/cost.json; on an idle machine
//
// With TOOL_TEST_COMMAND the tests start cli.cjs of the installation, and Node is the one that runs the test.
import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { gzipSync } from "node:zlib";
import { argumentsOf } from "./arguments.mjs";
import { costOf, recordCosts, recordedCosts } from "./cost.mjs";
import { runFiles } from "./run-files.mjs";
import { COMMANDS } from "./tables.mjs";
import { isTest, nameOf, testsIn } from "./test-files.mjs";

const LIMIT_S = 1_500;
const NODES = ["20.19", "20.20", "22", "24", "26"];
/** The floor, the newest long-term release and the newest one. */
export const NODES_OF_CI = ["20.19", "24", "26"];
const FIRST_TURN = NODES_OF_CI.indexOf("24");
const HOW = { "ignore-scripts": ["--ignore-scripts"], scripts: [], omit: ["--ignore-scripts", "--omit=optional"] };
/** Starts each command once, in its slow rows, and runs on each of the Nodes of `.ci/run`. */
const EACH_COMMAND = "test/cli/each-command.test.ts";
/** Another test that takes more seconds of processor time than this runs on one of them, the others on each. */
const DEAR_S = 2;
/** These make installations of releases, and have none of npm. */
const OF_RELEASES = "test/cli/release/";

/** Installs the package, made of the bundles that are built, into a folder. Returns the path of its command. */
export async function installPackage(root, folder, how) {
  const load = (path) => import(pathToFileURL(join(root, "dist/cli/release", path)).href);
  const [{ npmPackageFiles }, { tarPieces }] = [await load("npm-package.js"), await load("tar.js")];
  const json = (path) => JSON.parse(readFileSync(join(root, path), "utf8"));
  const { version } = json("package.json");
  const bundles = join(root, "dist/bin");
  const files = npmPackageFiles({ root, bundles, version, lock: json("package-lock.json").packages, notices: "" });
  mkdirSync(folder, { recursive: true });
  const archive = join(folder, `tool-${version}.tgz`);
  writeFileSync(archive, gzipSync(Buffer.concat([...tarPieces(files, 0)])));
  npmInstall(folder, [...HOW[how], archive]);
  return join(folder, "node_modules/tool/dist/bin/cli.cjs");
}

/** Installs a Node of a version into a folder. Returns its path. */
export function installNode(folder, version) {
  mkdirSync(folder, { recursive: true });
  // The package of one system: `node` has a script that fetches it.
  npmInstall(folder, ["--no-save", `node-${process.platform}-${process.arch}@${version}`]);
  return nodeIn(folder);
}

const nodeIn = (folder) => join(folder, `node_modules/node-${process.platform}-${process.arch}/bin/node`);

const npmInstall = (folder, words) =>
  execFileSync(
    "npm",
    ["install", "--silent", "--no-audit", "--no-fund", "--prefer-offline", "--prefix", folder, ...words],
    {
      stdio: ["ignore", "ignore", "inherit"],
    },
  );

/** The runs of `.ci/run`, on what `--prepare` has installed. */
export const packageRuns = (folder) =>
  NODES_OF_CI.flatMap((version, index) =>
    someTests(recordedCosts(), index).map((test) =>
      runOn(test, {
        kind: kindOf(test, version),
        node: nodeIn(join(folder, version)),
        cli: join(folder, "ignore-scripts/node_modules/tool/dist/bin/cli.cjs"),
      }),
    ),
  );

const kindOf = (test, version) => `package ${version}${test === EACH_COMMAND ? " slow" : ""}`;

const runOn = (test, { kind, node, cli }) => ({
  test,
  kind,
  node,
  env: { TOOL_TEST_COMMAND: cli, PATH: `${resolve(node, "..")}:${process.env.PATH}` },
});

/**
 * The test that starts each command, and the cheapest test of each command in tables.mjs, by recorded processor time. The dear
 * ones go to the Nodes of `.ci/run` in turn, the dearest to Node 24, which would run it anyway (node24.json).
 */
export function someTests(costs, index) {
  const costOfTest = (test) => costOf(costs, test).cpuS;
  const cheapest = Object.values(COMMANDS).map(
    (tests) => tests.filter((test) => !test.startsWith(OF_RELEASES)).sort((a, b) => costOfTest(a) - costOfTest(b))[0],
  );
  const tests = [...new Set(cheapest)].filter((test) => test !== undefined);
  const dear = tests.filter((test) => costOfTest(test) > DEAR_S).sort((a, b) => costOfTest(b) - costOfTest(a));
  const turnOf = (test) => (dear.indexOf(test) + FIRST_TURN) % NODES_OF_CI.length;
  return [EACH_COMMAND, ...tests.filter((test) => !dear.includes(test) || turnOf(test) === index)];
}

/** The tests that start the command: those that import test/support/cli.ts for more than the path of the project. */
async function commandTests(root) {
  const graph = await import(pathToFileURL(join(root, "dist/test/mutate/imports.js")).href);
  const imports = graph.importsOf(root, ["test"]);
  const tests = testsIn(root, "test").filter((test) => !test.startsWith(OF_RELEASES));
  return graph.testsOf(imports, tests, "test/support/cli.ts").map(({ test }) => test);
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const root = resolve(fileURLToPath(import.meta.url), "../../..");
  const { values, positionals } = argumentsOf(import.meta.url, {
    nodes: { type: "string" },
    with: { type: "string", default: "ignore-scripts" },
    some: { type: "boolean", default: false },
    prepare: { type: "string" },
    record: { type: "boolean", default: false },
  });
  if (values.prepare !== undefined) {
    for (const version of NODES_OF_CI) installNode(join(values.prepare, version), version);
    await installPackage(root, join(values.prepare, "ignore-scripts"), "ignore-scripts");
    process.exit(0);
  }
  const ways = values.with.split(",");
  for (const how of ways) {
    if (how in HOW) continue;
    console.error(`--with ${JSON.stringify(how)} is no way to install it: ${Object.keys(HOW).join(", ")}`);
    process.exit(2);
  }
  const all = await commandTests(root);
  const named = positionals.map((name) => all.find((test) => nameOf(test) === name || test === name));
  if (named.includes(undefined)) {
    console.error(`${positionals[named.indexOf(undefined)]} is not a test that starts the command`);
    process.exit(2);
  }
  const folder = mkdtempSync(join(tmpdir(), "tool-package-"));
  process.once("exit", () => rmSync(folder, { recursive: true, force: true }));
  const nodes = values.nodes?.split(",") ?? (values.some ? NODES_OF_CI : NODES);
  const runs = [];
  for (const version of nodes) installNode(join(folder, version), version);
  for (const how of ways) {
    const cli = await installPackage(root, join(folder, how), how);
    for (const version of nodes) {
      const index = Math.max(0, NODES_OF_CI.indexOf(version));
      const tests = named.length > 0 ? named : values.some ? someTests(recordedCosts(), index) : all;
      const way = `${version}${how === "ignore-scripts" ? "" : ` ${how}`}`;
      runs.push(
        ...tests.map((test) => runOn(test, { kind: kindOf(test, way), node: nodeIn(join(folder, version)), cli })),
      );
    }
  }
  const results = await runFiles(runs, { root, limitS: LIMIT_S });
  if (values.record) recordCosts(results, (test) => !isTest(test) || existsSync(join(root, test)));
  const sum = (name) => results.reduce((so, result) => so + result[name], 0);
  console.log(`${sum("passed")} passed, ${sum("failed")} failed, ${sum("cpuS").toFixed(0)} s of processor time`);
  process.exitCode = sum("failed") === 0 ? 0 : 1;
}
