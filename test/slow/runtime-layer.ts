// The runtime for Python and Java: made on this machine once, by npm and an engine, and deployed as a layer.
import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { dirname, join } from "node:path";
import { crc32, deflateRawSync } from "node:zlib";
import t from "tap";
import { writeZip } from "../../cli/artifact/zip.ts";
import { builderPackage, ENGINE, type Engine, runnerPackage, thisMachine } from "../../cli/aws/layer/engine.ts";
import {
  ARCHIVE_FILE,
  type MakeOptions,
  makeRuntime,
  readRuntime,
  sourceKey,
} from "../../cli/aws/layer/make-runtime.ts";
import { startAws } from "../support/aws/index.ts";
import { cleanEnv, root } from "../support/cli.ts";
import { type AppFolder, appFolder } from "../support/deployed-app.ts";
import { startNpmRegistry } from "../support/npm-registry.ts";
import { unzip } from "../support/unzip.ts";

const NAME = "@oven/bun-linux-x64";
const MACHINE = { platform: "linux", arch: "x64", isMusl: false };

/** Stands for the engine: the executable that it compiles is the engine's name, the words and the program. */
const ENGINE_SOURCE = `#!/bin/sh
for word; do case $word in --outfile=*) out=\${word#--outfile=} ;; --target=*) target=$word ;; esac; last=$word; done
{ echo "$target"; cat "$last"; } >"$out"
`;

/** Where npm finds nothing that a machine has, and nothing else than the registry. */
const npmEnv = (folder: string, url: string) =>
  cleanEnv({
    HOME: folder,
    npm_config_cache: join(folder, "npm-cache"),
    npm_config_registry: url,
    npm_config_fetch_retries: "0",
    npm_config_update_notifier: "false",
  });

/** Options for one run in a folder; `done` are the notes. */
function options(folder: string, engine: Engine, url: string, more: Partial<MakeOptions> = {}) {
  mkdirSync(join(folder, "work"), { recursive: true });
  const program = join(folder, "bootstrap.cjs");
  writeFileSync(program, "the program\n");
  const notes: string[] = [];
  return {
    notes,
    program,
    engine,
    machine: MACHINE,
    target: "x64",
    workFolder: join(folder, "work"),
    output: join(folder, "out"),
    env: npmEnv(folder, url),
    signal: new AbortController().signal,
    note: (text: string) => void notes.push(text),
    ...more,
  } satisfies MakeOptions & { notes: string[] };
}

t.test("made from the engine's package", async (t) => {
  const folder = t.testdir();
  const registry = await startNpmRegistry(t, join(folder, "packages"), { [NAME]: { "bin/bun": ENGINE_SOURCE } });
  const engine = { version: "1.0.0", integrity: registry.integrity };
  const one = options(join(folder, "one"), engine, registry.url);
  const made = await makeRuntime(one);
  t.same(registry.requests, [`/${NAME}/-/bun-linux-x64-1.0.0.tgz`], "one tarball is asked for, and nothing about it");
  t.same(one.notes, ["downloading its engine (40 MB, once for this version of tool)", "compiling it", "packing it"]);
  const executable = "--target=bun-linux-x64\nthe program\n";
  t.equal(made.executable, createHash("sha256").update(executable).digest("hex"));
  t.equal(readFileSync(join(one.output, "tool/runtime"), "utf8"), executable);
  const zip = readFileSync(join(one.output, ARCHIVE_FILE));
  t.equal(made.bytes, zip.length);
  t.equal(made.archive, createHash("sha256").update(zip).digest("hex"));
  t.same(
    unzip(zip).map(({ name, content }) => [name, content.toString()]),
    [["tool/runtime", executable]],
  );
  t.notOk(existsSync(one.workFolder), "nothing is left of the work");
  const source = sourceKey(one.program, engine, "x64");
  t.same(readRuntime(one.output, source), made, "found again");
  t.equal(readRuntime(one.output, sourceKey(one.program, engine, "arm64")), undefined, "made of something else");
  writeFileSync(join(one.output, ARCHIVE_FILE), zip.subarray(1));
  t.equal(readRuntime(one.output, source), undefined, "cut off");
  const other = await makeRuntime(options(join(folder, "a longer name"), engine, registry.url));
  t.same(other, made, "the same wherever it is made");
  const again = await makeRuntime(options(join(folder, "one"), engine, registry.url));
  t.same([again, readRuntime(one.output, source)], [made, made], "what is damaged is made again");
});

t.test("what stands in the way", async (t) => {
  const folder = t.testdir();
  const registry = await startNpmRegistry(t, join(folder, "packages"), {
    [NAME]: { "bin/bun": ENGINE_SOURCE },
    "@oven/bun-linux-aarch64": { "bin/bun": "#!/bin/sh\necho 'error: no room for bytecode' >&2\nexit 3\n" },
  });
  const good = { version: "1.0.0", integrity: registry.integrity };
  const silent = createServer((request) => request.socket.destroy());
  await new Promise<void>((done) => silent.listen(0, "127.0.0.1", done));
  t.teardown(() => silent.close());
  const resets = `http://127.0.0.1:${(silent.address() as AddressInfo).port}/`;
  const needs = "deploying Python and Java needs a runtime that is built once on this machine";
  const rows: {
    name: string;
    code: string;
    message: string;
    engine?: Engine;
    url?: string;
    more?: Partial<MakeOptions>;
  }[] = [
    {
      name: "no network",
      url: "http://127.0.0.1:1/",
      code: "runtime/unreachable",
      message: `${needs}, and its engine cannot be downloaded: the npm registry cannot be reached`,
    },
    {
      name: "a registry that hangs up",
      url: resets,
      code: "runtime/unreachable",
      message: `${needs}, and its engine cannot be downloaded: the npm registry cannot be reached`,
    },
    {
      name: "another tarball",
      engine: { version: "1.0.0", integrity: { [NAME]: ENGINE.integrity[NAME]! } },
      code: "runtime/integrity",
      message: `${needs}, and what the registry sent is not its engine: the checksum differs`,
    },
    {
      name: "a registry without it",
      engine: { version: "2.0.0", integrity: registry.integrity },
      code: "runtime/npm-failed",
      message: `${needs}, and npm cannot install its engine: 404 Not Found`,
    },
    {
      name: "no npm",
      more: { env: { ...npmEnv(folder, registry.url), PATH: join(folder, "nowhere") } },
      code: "runtime/no-npm",
      message: `${needs}, and npm, which downloads its engine, is not installed`,
    },
    {
      name: "a system that the engine is not made for",
      more: { machine: { platform: "sunos", arch: "x64", isMusl: false } },
      code: "runtime/unsupported",
      message: `${needs}, and its engine does not support sunos on x64`,
    },
    {
      name: "an engine that fails",
      more: { machine: { ...MACHINE, arch: "arm64" } },
      code: "runtime/compile",
      message: "the runtime for Python and Java cannot be compiled on this machine: error: no room for bytecode",
    },
    {
      name: "a folder that cannot be written",
      more: { workFolder: join(folder, "packages", NAME, "package.json", "work") },
      code: "runtime/disk",
      message: `the runtime for Python and Java cannot be written to ${join(folder, "packages", NAME, "package.json/work")}: ENOTDIR`,
    },
  ];
  for (const { name, engine = good, url = registry.url, more = {}, code, message } of rows) {
    const one = options(join(folder, name), engine, url, more);
    const error = await makeRuntime(one).then(
      () => undefined,
      (thrown) => thrown,
    );
    t.equal(error?.code, code, `${name}: ${error?.stack}`);
    t.ok(error?.message.startsWith(message), `${name}: ${error?.message}`);
    t.ok(error?.hint.length > 20, `${name}: ${error?.hint}`);
    t.notOk(existsSync(one.output), `${name}: nothing is left that looks like one`);
    t.notOk(existsSync(one.workFolder), `${name}: nothing is left of the work`);
  }
  const stop = new AbortController();
  const note = () => stop.abort();
  const interrupted = options(join(folder, "interrupted"), good, registry.url, { signal: stop.signal, note });
  await t.rejects(makeRuntime(interrupted), { name: "AbortError" });
  t.notOk(existsSync(interrupted.output));
  t.notOk(existsSync(interrupted.workFolder));
});

t.test("the engine's packages", (t) => {
  for (const [platform, arch, isMusl, name] of [
    ["linux", "x64", false, "@oven/bun-linux-x64"],
    ["linux", "x64", true, "@oven/bun-linux-x64-musl"],
    ["linux", "arm64", false, "@oven/bun-linux-aarch64"],
    ["linux", "arm64", true, "@oven/bun-linux-aarch64-musl"],
    ["darwin", "x64", false, "@oven/bun-darwin-x64"],
    ["darwin", "arm64", false, "@oven/bun-darwin-aarch64"],
    ["linux", "riscv64", false, undefined],
    ["win32", "x64", false, undefined],
  ] as const) {
    t.equal(builderPackage({ platform, arch, isMusl }, ENGINE), name, `${platform} ${arch}`);
  }
  for (const target of ["x64", "arm64"] as const) t.ok(ENGINE.integrity[runnerPackage(target)], target);
  for (const [name, integrity] of Object.entries(ENGINE.integrity)) t.match(integrity, /^sha512-[\w+/]{86}==$/, name);
  t.ok(builderPackage(thisMachine(), ENGINE), "this machine has one");
  t.end();
});

const PYTHON = {
  "tool.json": '{ "name": "app", "hooks": { "prebuild": "touch ../built" } }',
  "app.py": "",
};
const JAVA = {
  "tool.json": '{ "name": "app", "hooks": { "build": "touch ../built" } }',
  "pom.xml": "<project/>",
  "server.jar": "",
};

/** The command as it is installed: dist/bin alone, without a runtime beside it. */
function installedTool(folder: string, bundles = "dist/bin"): { readonly path: string } {
  mkdirSync(dirname(join(folder, bundles)), { recursive: true });
  execFileSync("cp", ["-al", join(root, "dist/bin"), join(folder, bundles)]);
  return { path: join(folder, bundles, "cli.cjs") };
}

const source = sourceKey(join(root, "dist/bin/runtime/bootstrap.cjs"), ENGINE, "x64");

t.test("a deploy without network says so before it builds", async (t) => {
  for (const [name, files] of Object.entries({ python: PYTHON, java: JAVA })) {
    const folder = t.testdir();
    const aws = await startAws(t);
    const app = appFolder(aws, join(folder, "app"), files, installedTool(folder));
    const env = npmEnv(folder, "http://127.0.0.1:1/");
    const { code, stdout, stderr } = await app.tool(["deploy", "--format", "json"], env);
    t.equal(code, 1, name);
    t.match(JSON.parse(stdout), { error: { message: /^deploying Python and Java needs a runtime / } }, name);
    t.match(
      stderr,
      /^error: deploying Python and Java needs a runtime .* the npm registry cannot be reached\n {2}connect/m,
    );
    t.notOk(existsSync(join(folder, "built")), `${name}: no hook ran`);
    t.same(aws.journal.count("lambda", "CreateFunction") + aws.journal.count("iam", "CreateRole"), 0, name);
    t.same(readdirSync(join(folder, ".cache/tool/runtime")), [], "nothing is left of it");
  }
  const folder = t.testdir();
  const aws = await startAws(t);
  const app = appFolder(
    aws,
    join(folder, "app"),
    { "tool.json": '{ "name": "app" }', "app.js": "" },
    installedTool(folder),
  );
  const node = await app.tool(["deploy", "--no-check"], npmEnv(folder, "http://127.0.0.1:1/"));
  t.equal(node.code, 0, "Node needs none") || t.comment(node.stderr);
});

/** Puts a runtime into the cache of an app's user. */
const putRuntime = (app: AppFolder, executable: string, level: number) =>
  writeRuntime(join(app.env.XDG_CACHE_HOME!, "tool/runtime", source), executable, level);

/** As `makeRuntime` leaves it, of an executable and a level of deflating. */
function writeRuntime(folder: string, executable: string, level: number): void {
  const content = Buffer.from(executable);
  const data = deflateRawSync(content, { level });
  const entry = { name: "tool/runtime", mode: 0o100755, crc32: crc32(content), unpackedBytes: content.length };
  const zip = writeZip([{ ...entry, isDeflated: true, data }]);
  const sha256 = (bytes: Uint8Array) => createHash("sha256").update(bytes).digest("hex");
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, ARCHIVE_FILE), zip);
  const record = { source, executable: sha256(content), archive: sha256(zip), bytes: zip.length };
  writeFileSync(join(folder, "tool-runtime.json"), JSON.stringify(record));
}

t.test("a layer is named by its executable", async (t) => {
  const folder = t.testdir();
  const aws = await startAws(t);
  const app = appFolder(aws, join(folder, "app"), PYTHON, installedTool(folder));
  const env = npmEnv(folder, "http://127.0.0.1:1/");
  // It runs nothing.
  const deploy = () => app.tool(["deploy", "--no-check", "--format", "json"], env);
  const text = "the executable ".repeat(1000);
  putRuntime(app, text, 1);
  const first = await deploy();
  t.equal(first.code, 0) || t.comment(first.stderr);
  t.match(first.stderr, /the runtime is uploaded, once for all apps/);
  putRuntime(app, text, 9);
  const second = await deploy();
  t.equal(JSON.parse(second.stdout).outcome, "unchanged", "another zip of it changes nothing");
  app.write({ "app.py": "x = 1\n" });
  t.equal(JSON.parse((await deploy()).stdout).outcome, "updated");
  t.equal(aws.journal.count("lambda", "PublishLayerVersion"), 1, "one layer");
  putRuntime(app, `${text}changed`, 9);
  t.equal(JSON.parse((await deploy()).stdout).outcome, "updated");
  t.equal(aws.journal.count("lambda", "PublishLayerVersion"), 2, "another executable is another layer");
});

t.test("a release brings its layer, beside the folder of its bundles", async (t) => {
  const folder = t.testdir();
  const aws = await startAws(t);
  writeRuntime(join(folder, "release/layer"), "the executable", 6);
  const app = appFolder(aws, join(folder, "app"), PYTHON, installedTool(folder, "release/lib"));
  const { code, stderr } = await app.tool(["deploy", "--no-check"], npmEnv(folder, "http://127.0.0.1:1/"));
  t.equal(code, 0) || t.comment(stderr);
  t.match(stderr, /the runtime is uploaded, once for all apps/);
  t.notOk(existsSync(join(folder, ".cache/tool/runtime")), "nothing is made for it");
});
