// The size of what people install, and how long its commands take to begin, beside wrangler and serverless 3:
// node dist/test/bench/install.js --package tool-1.2.3.tgz
//
// The package of a release and its rivals are installed by npm into node_modules/.cache/rivals-installed, each with a cache of
// its own, which tells what came through the network. Commands run in turns, by this Node; medians of ROUNDS (default 11).
import { execFileSync, spawnSync } from "node:child_process";
import {
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { cleanEnv, root } from "../support/cli.ts";
import { median, spread } from "./query/statistics.ts";

const ROUNDS = Number(process.env.ROUNDS ?? 11);

interface Subject {
  readonly name: string;
  /** For npm. */
  readonly spec: string;
  /** The path of the command's file in its package. */
  readonly bin: string;
  readonly version: readonly string[];
  /** The nearest thing that it has to a check of its configuration, which needs no account. */
  readonly validate: readonly string[];
  readonly files: Readonly<Record<string, string>>;
}

const subjects = (tarball: string): readonly Subject[] => [
  {
    ...{ name: "tool", spec: tarball, bin: "tool/dist/bin/cli.cjs", version: ["version"], validate: ["validate"] },
    files: { "tool.json": '{ "name": "app", "headers": { "/*": { "X-Frame-Options": "DENY" } } }\n' },
  },
  {
    ...{ name: "wrangler", spec: "wrangler@4", bin: "wrangler/bin/wrangler.js", version: ["--version"] },
    validate: ["deploy", "--dry-run"],
    files: {
      "wrangler.json": '{ "name": "app", "main": "app.js", "compatibility_date": "2026-01-01" }\n',
      "app.js": 'export default { fetch: () => new Response("hello") };\n',
    },
  },
  {
    ...{ name: "serverless", spec: "serverless@3", bin: "serverless/bin/serverless.js", version: ["--version"] },
    validate: ["print"],
    files: {
      "serverless.yml":
        "service: app\nframeworkVersion: '3'\nprovider:\n  name: aws\n  runtime: nodejs20.x\nfunctions:\n  app:\n    handler: app.handler\n",
      "app.js": "exports.handler = async () => ({ statusCode: 200 });\n",
    },
  },
];

interface Installed {
  readonly packages: number;
  readonly bytes: number;
  /** Size of all tarballs, its own and those of its dependencies. */
  readonly packedBytes: number;
  readonly version: string;
}

function install({ name, spec, bin }: Subject): Installed {
  const folder = join(root, "node_modules/.cache/rivals-installed", name);
  const cache = join(folder, "cache");
  if (!existsSync(join(folder, "node_modules", bin)) || name === "tool") {
    rmSync(folder, { recursive: true, force: true });
    mkdirSync(folder, { recursive: true });
    const words = ["install", "--silent", "--no-audit", "--no-fund", "--prefix", folder, "--cache", cache, spec];
    execFileSync("npm", words, { stdio: "inherit" });
  }
  const { packages } = JSON.parse(readFileSync(join(folder, "node_modules/.package-lock.json"), "utf8"));
  const { version } = packages[`node_modules/${bin.split("/")[0]}`];
  return {
    packages: Object.keys(packages).length,
    bytes: bytesBelow(join(folder, "node_modules")),
    packedBytes: tarballBytes(cache) + (spec.endsWith(".tgz") ? lstatSync(spec).size : 0),
    version,
  };
}

const filesBelow = (folder: string) =>
  readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name));

const bytesBelow = (folder: string) => filesBelow(folder).reduce((sum, path) => sum + lstatSync(path).size, 0);

/** npm's cache has a line of JSON for each answer that it keeps. */
function tarballBytes(cache: string): number {
  const sizes = new Map<string, number>();
  for (const path of filesBelow(join(cache, "_cacache/index-v5"))) {
    for (const line of readFileSync(path, "utf8").split("\n").filter(Boolean)) {
      const { key, size } = JSON.parse(line.slice(line.indexOf("\t") + 1));
      if (/^make-fetch-happen:.*\.tgz$/.test(key)) sizes.set(key, size);
    }
  }
  return [...sizes.values()].reduce((sum, size) => sum + size, 0);
}

const MB = (bytes: number) => `${(bytes / 1e6).toFixed(1)} MB`;

const { values } = parseArgs({ options: { package: { type: "string" } } });
if (values.package === undefined) throw new Error("--package is missing: tool-1.2.3.tgz of a release");
const all = subjects(resolve(values.package));
const installed = all.map(install);
const work = mkdtempSync(join(tmpdir(), "tool-bench-"));
try {
  const env = cleanEnv({
    ...{ HOME: work, WRANGLER_SEND_METRICS: "false", CI: "1" },
    ...{ SLS_TELEMETRY_DISABLED: "1", SLS_NOTIFICATIONS_MODE: "off" },
  });
  const times = new Map<string, number[]>();
  const time = (label: string, cwd: string, words: readonly string[]) => {
    const begin = performance.now();
    const { status, stderr, stdout } = spawnSync(process.execPath, words, { cwd, env, encoding: "utf8" });
    if (status !== 0) throw new Error(`${label} ended with ${status}: ${stdout}${stderr}`);
    times.set(label, [...(times.get(label) ?? []), performance.now() - begin]);
  };
  for (const { name, files } of all) {
    mkdirSync(join(work, name));
    for (const [file, text] of Object.entries(files)) writeFileSync(join(work, name, file), text);
  }
  // The first round fills caches.
  for (let round = 0; round <= ROUNDS; round++) {
    if (round === 1) times.clear();
    time("node", work, ["-e", "0"]);
    for (const { name, bin, version, validate } of all) {
      const program = join(root, "node_modules/.cache/rivals-installed", name, "node_modules", bin);
      time(`${name} version`, join(work, name), [program, ...version]);
      time(`${name} validate`, join(work, name), [program, ...validate]);
    }
  }
  const shown = (label: string) => `${median(times.get(label)!).toFixed(0)} ${spread(times.get(label)!)}`;
  console.log(`Node ${process.version}, ${ROUNDS} rounds; node -e 0: ${shown("node")} ms\n`);
  console.log("| | packages | installed | packed | its version, ms | a small configuration, ms |");
  console.log("| --- | --- | --- | --- | --- | --- |");
  for (const [index, { name, validate }] of all.entries()) {
    const { packages, bytes, packedBytes, version } = installed[index]!;
    const columns = [`${name} ${version}`, packages, MB(bytes), MB(packedBytes)];
    console.log(
      `| ${[...columns, shown(`${name} version`), `${shown(`${name} validate`)} \`${validate.join(" ")}\``].join(" | ")} |`,
    );
  }
} finally {
  rmSync(work, { recursive: true, force: true });
}
