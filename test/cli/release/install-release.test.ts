// The steps of replacing a version, on a disk that fails: whatever fails, the command is the old one or the new one.
import { spawnSync } from "node:child_process";
import { generateKeyPairSync, randomBytes } from "node:crypto";
import fs, { copyFileSync, cpSync, readdirSync, readFileSync, rmSync, statfsSync, writeFileSync } from "node:fs";
import { syncBuiltinESMExports } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import t from "tap";
import type { ReleaseError } from "../../../cli/release/error.ts";
import { installRelease } from "../../../cli/release/install-release.ts";
import { type Library, libraryOfPrefix } from "../../../cli/release/library.ts";
import { withUpgradeLock } from "../../../cli/release/upgrade-lock.ts";
import { hostileArchives } from "../../support/hostile-archives.ts";
import { releaseOf, SYSTEM } from "../../support/release-host.ts";
import { requires } from "../../support/require.ts";
import { slow } from "../../support/slow.ts";

const { privateKey: key } = generateKeyPairSync("ed25519");
const skip = requires("tar") || requires("gzip");
/** The calls that change the disk, and those that wait for it. */
const CALLS =
  `mkdtempSync mkdirSync renameSync writeFileSync symlinkSync copyFileSync rmSync rmdirSync openSync fsync`.split(" ");

/**
 * Runs work while each call is told before it is made, which may throw. Nothing waits for the disk of this machine: `fsync` is
 * told the path of its file, and does nothing.
 */
async function watched<T>(onCall: (name: string, path: string) => void, work: () => Promise<T>): Promise<T> {
  const changing = fs as unknown as Record<string, (...words: unknown[]) => unknown>;
  const real = Object.fromEntries(CALLS.map((name) => [name, changing[name]!]));
  const paths = new Map<unknown, string>();
  let depth = 0;
  for (const name of CALLS) {
    changing[name] = (...words) => {
      // Node's own functions call each other.
      if (depth > 0) return real[name]!(...words);
      depth++;
      try {
        if (name === "fsync") {
          const done = words[1] as (error?: unknown) => void;
          try {
            onCall(name, paths.get(words[0])!);
          } catch (error) {
            return done(error);
          }
          return done();
        }
        onCall(name, String(words[0]));
        const result = real[name]!(...words);
        if (name === "openSync") paths.set(result, String(words[0]));
        return result;
      } finally {
        depth--;
      }
    };
  }
  syncBuiltinESMExports();
  try {
    return await work();
  } finally {
    Object.assign(fs, real);
    syncBuiltinESMExports();
  }
}

/** A prefix with 1.3.0 after 1.2.3, and the archives of these and of 1.4.0. */
async function world(t: Tap, prefix?: string) {
  const folder = t.testdir({});
  const path = (name: string) =>
    prefix === undefined || !/^usr\b/.test(name) ? join(folder, name) : join(prefix, name);
  const nameOf = (version: string) => `tool_${version}_${SYSTEM.replace("-", "_")}.tar.gz`;
  const install = (version: string, more: { readonly maxUnpackedBytes?: number } = {}) =>
    installRelease(
      libraryOfPrefix(path("usr")) as Library,
      {
        ...{ version, edition: "pro", kind: "tool", platform: SYSTEM, origin: "https://localhost/repos/acme/tool" },
        file: { edition: "pro", system: SYSTEM, kind: "tool", sha256: "", bytes: 0, name: nameOf(version) },
      },
      {
        download: async (to) => copyFileSync(path(nameOf(version)), to),
        step() {},
        env: process.env,
        signal: new AbortController().signal,
        ...more,
      },
    );
  fs.mkdirSync(path("usr/lib/tool"), { recursive: true });
  for (const version of ["1.2.3", "1.3.0", "1.4.0"]) {
    const files = {
      "bin/tool": `#!/bin/sh\necho ${version}-pro\n`,
      "lib/a.js": randomBytes(100_000),
      "share/man/man1/tool.1": "",
    };
    writeFileSync(path(nameOf(version)), releaseOf({ version, key, files }).get(nameOf(version))!);
    if (version !== "1.4.0")
      await watched(
        () => {},
        () => install(version),
      );
  }
  cpSync(path("usr"), path("begin"), { recursive: true, verbatimSymlinks: true });
  return {
    path,
    install,
    version: () => spawnSync(path("usr/bin/tool"), ["version"], { encoding: "utf8" }).stdout.trim(),
    receipt: () => JSON.parse(readFileSync(path("usr/lib/tool/receipt.json"), "utf8")),
    reset() {
      rmSync(path("usr"), { recursive: true });
      cpSync(path("begin"), path("usr"), { recursive: true, verbatimSymlinks: true });
    },
  };
}

interface Tap {
  testdir(files: Record<string, never>): string;
}

t.test("a disk that fails at each call in turn", { skip }, async (t) => {
  const { path, install, version, receipt, reset } = await world(t);
  for (let at = 1; ; at++) {
    reset();
    const code = at % 2 === 0 ? "EIO" : "ENOSPC";
    let calls = 0;
    let name = "";
    const onCall = (call: string) => {
      if (++calls !== at) return;
      name = `${code} at call ${at}, ${call}`;
      throw Object.assign(new Error(name), { code, syscall: call.replace("Sync", "") });
    };
    const ended = await watched(onCall, () => install("1.4.0")).catch((error: unknown) => error);
    t.equal(version(), ended instanceof Error ? "1.3.0-pro" : "1.4.0-pro", name);
    t.equal(`${receipt().version}-pro`, version(), `${name}: the receipt is of the version that the command is`);
    const left = readdirSync(path("usr/lib/tool")).filter((one) => one.startsWith(".new."));
    t.equal(left.length, /rm/.test(name) ? left.length : 0, `${name}: nothing is left`);
    if (ended instanceof Error) {
      t.match(
        ended.message,
        code === "EIO" ? / cannot be changed: \w+ failed \(EIO\)$/ : /^there is no room in /,
        name,
      );
      t.match((ended as ReleaseError).hint, /then run this again; the version that was there stays$/, name);
    }
    await watched(
      () => {},
      () => install("1.4.0"),
    );
    t.equal(version(), "1.4.0-pro", `${name}: the next run completes it`);
    if (name === "") {
      t.ok(at > 20, `${at - 1} calls`);
      break;
    }
  }
});

t.test("all files are on the disk before the link leads to them", { skip }, async (t) => {
  const { install } = await world(t);
  const calls: string[] = [];
  const shown = (path: string) => path.replace(/.*\/unpacked\/[^/]*|.*\/usr(?=\/)/, "");
  await watched(
    (name, path) => {
      if (name === "fsync" || /bin\/tool\.new/.test(path))
        calls.push(`${name} ${shown(path)}`.replace(/new\.\d+$/, "new.PID"));
    },
    () => install("1.4.0"),
  );
  t.same(calls.slice(-3), ["fsync /lib/tool", "rmSync /bin/tool.new.PID", "renameSync /bin/tool.new.PID"]);
  const flushed = ["", "/bin", "/bin/tool", "/lib", "/lib/a.js", "/share", "/share/man", "/share/man/man1"];
  t.same(
    calls.slice(0, -3).sort(),
    [...flushed, "/share/man/man1/tool.1"].map((path) => `fsync ${path}`),
  );
});

t.test("an archive with what no release has, signed as it may be", { skip: skip || requires("xz") }, async (t) => {
  const { path, install, version } = await world(t);
  fs.mkdirSync(path("outside"));
  writeFileSync(path("outside/own"), "own");
  const below = () => readdirSync(path("."), { recursive: true, encoding: "utf8" }).sort();
  const name = `tool_1.4.0_${SYSTEM.replace("-", "_")}.tar.gz`;
  const files = { "bin/tool": "#!/bin/sh\necho 1.4.0-pro\n", "lib/a.js": Buffer.alloc(2_000_000) };
  const before = below();
  const refused = async (name: string, message: RegExp, more = {}) => {
    const ended = await watched(
      () => {},
      () => install("1.4.0", more),
    ).catch((error: unknown) => error);
    t.match(
      ended,
      { message, hint: /^report it to the project and install nothing; the version that was there stays$/ },
      name,
    );
    t.same(below(), before, `${name}: nothing is left, and nothing else is changed`);
    t.equal(fs.statSync(path("outside/own")).nlink, 1, name);
    t.equal(version(), "1.3.0-pro", name);
  };
  for (const { name: what, more } of hostileArchives(path("outside"))) {
    writeFileSync(path(name), releaseOf({ version: "1.4.0", key, files, more }).get(name)!);
    await refused(what, /^tool_1\.4\.0_\w+\.tar\.gz has an entry that no archive of a release has: ./);
  }
  writeFileSync(path(name), releaseOf({ version: "1.4.0", key, files }).get(name)!);
  await refused("more than it may", / unpacks to more than 1 MB$/, { maxUnpackedBytes: 1_000_000 });
  await watched(
    () => {},
    () => install("1.4.0"),
  );
  t.equal(version(), "1.4.0-pro", "one that is as it has to be");
});

const disk = join(tmpdir(), `install-release-${process.pid}`);
fs.mkdirSync(disk);
const isMounted = spawnSync("mount", ["-t", "tmpfs", "-o", "size=4m", "tmpfs", disk]).status === 0;
t.teardown(() => {
  if (isMounted) spawnSync("umount", ["-l", disk]);
  rmSync(disk, { recursive: true, force: true });
});
const noDisk =
  isMounted || process.env.TOOL_TEST_REQUIRE === "all"
    ? false
    : "no file system could be mounted here (needs root on Linux)";

t.test("a disk with less room each time", noDisk === false ? slow() : { skip: noDisk }, async (t) => {
  t.ok(isMounted, "a small file system");
  const { install, version, receipt, reset } = await world(t, disk);
  const ends = new Set<string>();
  for (let freeKiB = 400; freeKiB >= 0; freeKiB -= 8) {
    rmSync(join(disk, "filler"), { force: true });
    reset();
    const { bavail, bsize } = statfsSync(disk);
    writeFileSync(join(disk, "filler"), Buffer.alloc(bavail * bsize - freeKiB * 1024));
    const error: unknown = await install("1.4.0").then(
      () => undefined,
      (error: unknown) => error,
    );
    const name = `${freeKiB} KiB`;
    t.equal(version(), error === undefined ? "1.4.0-pro" : "1.3.0-pro", `${name}: ${error}`);
    t.equal(`${receipt().version}-pro`, version(), name);
    t.same(
      readdirSync(join(disk, "usr/lib/tool")).filter((one) => one.startsWith(".")),
      [],
      `${name}: nothing is left`,
    );
    if (error !== undefined) t.match(`${error}\n${(error as ReleaseError).hint}`, / room/, name);
    ends.add(error === undefined ? "installed" : (error as Error).message.replaceAll(disk, "").slice(0, 20));
  }
  t.ok(ends.size > 2, [...ends].join("; "));
});

t.test("the lock of a killed run is another's by the time that it is taken away", async (t) => {
  const library = t.testdir();
  const lock = join(library, ".lock");
  const { kill } = process;
  t.teardown(() => Object.assign(process, { kill }));
  // No process has it: a system does not count so far.
  const killed = 2 ** 30;
  /** Runs with a lock that changes between the look whether its owner is alive and what follows from it. */
  const run = async (change: () => void) => {
    writeFileSync(lock, `${killed}\n`);
    const ask = (id: number, signal: 0) => {
      if (id === killed) change();
      return kill.call(process, id, signal);
    };
    Object.assign(process, { kill: ask });
    return withUpgradeLock(library, async () => "ran");
  };
  t.equal(await run(() => rmSync(lock, { force: true })), "ran", "gone");
  const other = `${process.ppid}\n`;
  await t.rejects(
    run(() => writeFileSync(lock, other)),
    { message: `another installation or upgrade is at work (process ${process.ppid})` },
  );
  t.equal(readFileSync(lock, "utf8"), other, "it stays the other's");
  t.same(readdirSync(library), [".lock"]);
});
