// The archives of a release, one by one: node dist/test/machine/archives.js --release DIR [--arm64-root DIR] [--same-as DIR]
//
// Prints what each has that only runs on one system, and whether `file` says that it is for the system of the archive. With
// the root of a Debian for arm64 its archive runs by QEMU. With another release it compares the bytes of the files of both.
import { execFileSync, spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";

/** The words of `file` of a program or library for each system. */
const FORMATS: Readonly<Record<string, RegExp>> = {
  linux_x64: /^ELF 64-bit LSB .*x86-64/,
  linux_arm64: /^ELF 64-bit LSB .*ARM aarch64/,
  // DuckDB's library is for both processors.
  darwin_x64: /^Mach-O (?:64-bit x86_64|universal binary .*\bx86_64)/,
  darwin_arm64: /^Mach-O (?:64-bit arm64|universal binary .*\barm64)/,
  windows_x64: /^PE32\+ .*x86-64/,
};
const NATIVE = /^(?:ELF|Mach-O|PE32)/;
/** A file that may be one by its name, so that one of which `file` knows nothing is not passed over. */
const NAMED = /\.(?:node|so|dylib|dll|exe)$|\/node\/bin\/node$/;

/** The binaries that an archive must have, by its kind: Node, and for the log service its two databases. */
const NEEDED: Readonly<Record<string, readonly RegExp[]>> = {
  tool: [
    /\/node\/(?:bin\/node|node\.exe)$/,
    /\/duckdb\.node$/,
    /libduckdb|duckdb\.dll$/,
    /\/@libsql\/.*\/index\.node$/,
  ],
  "tool-cli": [/\/node\/(?:bin\/node|node\.exe)$/],
};

let faults = 0;
function check(isRight: boolean, text: string): void {
  console.log(`${isRight ? "ok   " : "WRONG"} ${text}`);
  if (!isRight) faults++;
}

const sumOf = (path: string) => createHash("sha256").update(readFileSync(path)).digest("hex");

/** Unpacks an archive into an empty folder, and says what is in it. */
function unpack(archive: string, folder: string): void {
  mkdirSync(folder);
  if (archive.endsWith(".zip")) execFileSync("unzip", ["-q", archive, "-d", folder]);
  else execFileSync("tar", ["-xf", archive, "-C", folder]);
}

function checkFormats(name: string, folder: string): void {
  const [, kind = "", system = ""] = /^([a-z-]+)_[^_]+_([a-z]+_[a-z0-9]+)\./.exec(name)!;
  const paths = readdirSync(folder, { recursive: true, encoding: "utf8" }).filter((path) =>
    statSync(join(folder, path)).isFile(),
  );
  const said = execFileSync("file", ["--brief", "--files-from", "-"], {
    input: paths.map((path) => join(folder, path)).join("\n"),
    encoding: "utf8",
  })
    // A file for several processors has a line for each.
    .split(/\n(?! |$|-)/);
  const native = paths
    .map((path, index) => ({ path, format: said[index]!.trim() }))
    .filter(({ path, format }) => NATIVE.test(format) || NAMED.test(`/${path}`));
  for (const { path, format } of native) {
    check(
      FORMATS[system]!.test(format),
      `${path.slice(path.indexOf("/") + 1)}: ${format.split(", ").slice(0, 2).join(", ")}`,
    );
  }
  // Editions have the same binaries.
  for (const needed of NEEDED[kind.replace("-free", "")]!) {
    const has = native.some(({ path }) => needed.test(`/${path}`));
    if (!has) check(false, `${name} has no ${needed.source}`);
  }
}

/** The archive for arm64 by its own launcher; only the program that this starts is told to be run by QEMU. */
function runByQemu(folder: string, root: string): void {
  const top = join(folder, readdirSync(folder)[0]!);
  const node = join(top, "node/bin/node");
  renameSync(node, `${node}.arm64`);
  writeFileSync(node, `#!/bin/sh\nexec qemu-aarch64-static -L '${root}' '${node}.arm64' "$@"\n`, { mode: 0o755 });
  const project = join(folder, "project");
  mkdirSync(project);
  writeFileSync(join(project, "tool.json"), '{ "name": "app" }\n');
  writeFileSync(join(project, "app.log"), '{"level":"error","message":"a"}\n{"level":"info","message":"b"}\n');
  for (const [words, wanted] of [
    ["version", /^\d+\.\d+\.\d+-pro\n$/],
    ["validate", /^tool\.json is valid\n$/],
    ["logs --file app.log --count error", /^1\n$/],
    ["service init --data data --team acme", /^lgs_\w+\n$/],
  ] as const) {
    const { status, stdout, stderr } = spawnSync(join(top, "bin/tool"), words.split(" "), {
      cwd: project,
      env: { PATH: "/usr/bin:/bin", HOME: project, TZ: "UTC" },
      encoding: "utf8",
    });
    check(status === 0 && wanted.test(stdout), `arm64 by QEMU: tool ${words}: ${(stdout + stderr).trim()}`);
  }
}

const path = { type: "string" } as const;
const { values } = parseArgs({ options: { release: path, "arm64-root": path, "same-as": path } });
const { release } = values;
if (release === undefined) throw new Error("--release is missing: the folder of a release");
const names = readdirSync(release);
execFileSync("sha256sum", ["--quiet", "--check", "SHA256SUMS"], { cwd: release });

const work = mkdtempSync(join(tmpdir(), "tool-archives-"));
try {
  for (const name of names.filter((name) => /\.(?:tar\.[gx]z|zip)$/.test(name))) {
    console.log(`\n${name}: ${(statSync(join(release, name)).size / 1e6).toFixed(1)} MB`);
    const folder = join(work, name);
    unpack(join(release, name), folder);
    checkFormats(name, folder);
    const root = values["arm64-root"];
    if (root !== undefined && /^tool_.*_linux_arm64\.tar\.gz$/.test(name)) runByQemu(folder, root);
    rmSync(folder, { recursive: true });
  }
  const other = values["same-as"];
  if (other !== undefined) {
    console.log(`\nBytes of ${release} and ${other}`);
    for (const name of [...new Set([...names, ...readdirSync(other)])].sort()) {
      const sums = [release, other].map((folder) => (existsSync(join(folder, name)) ? sumOf(join(folder, name)) : ""));
      check(sums[0] === sums[1], `${name}: ${sums.map((sum) => sum.slice(0, 12) || "not there").join(" and ")}`);
    }
  }
} finally {
  rmSync(work, { recursive: true, force: true });
}
process.exitCode = faults > 0 ? 1 : 0;
