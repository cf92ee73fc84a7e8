// The parts of a release, without making one: archives, names, pinned packages, notices, the launcher, the manual page, and
// what is said if a release cannot be made. test/slow/release.ts makes one.
import { execFileSync, spawnSync } from "node:child_process";
import { createHash, generateKeyPairSync } from "node:crypto";
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { Readable } from "node:stream";
import { pathToFileURL } from "node:url";
import { gzipSync } from "node:zlib";
import t from "tap";
import { checkedTar } from "../../../cli/release/checked-tar.ts";
import { Inputs, type Lock, nativeInputs } from "../../../cli/release/inputs.ts";
import { LAUNCHER } from "../../../cli/release/launcher.ts";
import { makeRelease } from "../../../cli/release/make-release.ts";
import { MakeReleaseError } from "../../../cli/release/make-release-error.ts";
import { manPage } from "../../../cli/release/man-page.ts";
import { billOfMaterials, bundledComponents, distinct, noticesText } from "../../../cli/release/notices.ts";
import { npmPackageFiles } from "../../../cli/release/npm-package.ts";
import { readReleaseOptions } from "../../../cli/release/options.ts";
import { pinnedKeyOf } from "../../../cli/release/statement.ts";
import { archiveName, SYSTEMS } from "../../../cli/release/systems.ts";
import { type ReleasedFile, readTar, tarPieces } from "../../../cli/release/tar.ts";
import { describeTable } from "../../../cli/table.ts";
import { root } from "../../support/cli.ts";
import { requires } from "../../support/require.ts";

const TIME_S = 1_790_000_000;
const file = (path: string, content: string, isExecutable = false): ReleasedFile => ({
  path,
  isExecutable,
  content: Buffer.from(content),
});
const tarOf = (files: readonly ReleasedFile[]) => Buffer.concat([...tarPieces(files, TIME_S)]);

const FILES = [
  file("top/a", ""),
  file("top/b/block", "x".repeat(512)),
  file("top/b/longer", "y".repeat(513)),
  file("top/bin/run", "#!/bin/sh\necho ran\n", true),
  file(`top/${"long/".repeat(30)}name`, "far down"),
  file(`top/${"n".repeat(95)}`, "a name of 99 bytes"),
  file("top/ünïcode", "a name beyond ASCII"),
];

t.test("a tar archive", async (t) => {
  const tar = tarOf(FILES);
  t.same(tarOf([...FILES].reverse()), tar, "the order of the files changes nothing");
  t.same(readTar(tar), FILES, "is read back");
  for (const bytes of [0, 100, 1000, tar.length - 2048]) {
    t.throws(() => readTar(tar.subarray(0, bytes)), { message: "the tar archive ends early" }, `${bytes} bytes`);
  }
  t.throws(() => readTar(Buffer.alloc(1024, "x")), { message: "not a tar archive" });
  const long = file(`top/${"n".repeat(101)}`, "");
  t.throws(() => tarOf([long]), new RangeError(`the path is too long for a tar archive: ${long.path}`));

  const folder = t.testdir();
  execFileSync("tar", ["-x", "-C", folder], { input: tar });
  for (const { path, content } of FILES) t.same(readFileSync(join(folder, path)), content, `tar reads ${path}`);
  t.equal(execFileSync(join(folder, "top/bin/run"), { encoding: "utf8" }), "ran\n");
  const listed = execFileSync("tar", ["-tv", "--numeric-owner", "--full-time"], {
    input: tar,
    encoding: "utf8",
    env: { ...process.env, TZ: "UTC" },
  });
  t.equal(listed.split("\n")[0], "-rw-r--r-- 0/0               0 2026-09-21 14:13:20 top/a");
  t.match(listed, /^-rwxr-xr-x 0\/0 +19 2026-09-21 14:13:20 top\/bin\/run$/m);
});

t.test("what a release writes passes the check of what is unpacked, in any pieces", async (t) => {
  const folder = "tool_1.2.3_linux_x64";
  const path = (name: string) => `${folder}/${name}`;
  const whole = Buffer.concat([
    ...tarPieces(
      [
        { path: path("bin/tool"), isExecutable: true, content: Buffer.alloc(1_000, "x") },
        { path: path(`${"a".repeat(90)}/a file (1).js`), isExecutable: false, content: Buffer.alloc(0) },
        { path: path("empty"), mode: 0o755, owner: 0 },
      ],
      TIME_S,
    ),
  ]);
  for (const bytes of [7, 512, whole.length]) {
    const pieces = Array.from({ length: Math.ceil(whole.length / bytes) }, (_, i) =>
      whole.subarray(i * bytes, (i + 1) * bytes),
    );
    const checked: Buffer[] = [];
    const check = checkedTar({ name: "a", folder, maxBytes: whole.length });
    for await (const piece of check(Readable.from(pieces))) checked.push(piece);
    t.ok(Buffer.concat(checked).equals(whole), `${bytes} bytes`);
  }
});

t.test("Python reads a tar archive", { skip: requires("python3") }, async (t) => {
  const script =
    "import sys, tarfile; [print(m.name, m.size) for m in tarfile.open(fileobj=sys.stdin.buffer, mode='r|')]";
  const printed = execFileSync("python3", ["-c", script], { input: tarOf(FILES), encoding: "utf8" });
  t.same(
    printed.trim().split("\n"),
    FILES.map(({ path, content }) => `${path} ${content.length}`),
  );
});

t.test("a path in a pax header is read, as npm writes it", async (t) => {
  const folder = t.testdir();
  const name = `package/${"deep/".repeat(30)}${"n".repeat(120)}`;
  mkdirSync(dirname(join(folder, name)), { recursive: true });
  writeFileSync(join(folder, name), "content");
  const tar = execFileSync("tar", ["-c", "--format=posix", "-C", folder, "package"]);
  t.same(readTar(tar), [file(name, "content")]);
});

t.test("names of archives", async (t) => {
  const [linux, , , , windows] = SYSTEMS;
  t.equal(archiveName("tool", "pro", "1.2.3", linux!), "tool_1.2.3_linux_x64");
  t.equal(archiveName("tool-cli", "pro", "1.3.0-rc.1", windows!), "tool-cli_1.3.0-rc.1_windows_x64");
  t.equal(archiveName("tool", "free", "1.2.3", linux!), "tool-free_1.2.3_linux_x64");
  t.equal(archiveName("tool-cli", "free", "0.9.0", windows!), "tool-free-cli_0.9.0_windows_x64");
});

t.test("each system gets the packages with its binaries, pinned by package-lock.json", async (t) => {
  const { packages } = JSON.parse(readFileSync(join(root, "package-lock.json"), "utf8")) as { packages: Lock };
  const WANTED = {
    "linux-x64": ["@duckdb/node-bindings-linux-x64", "@libsql/linux-x64-gnu"],
    "linux-arm64": ["@duckdb/node-bindings-linux-arm64", "@libsql/linux-arm64-gnu"],
    "darwin-x64": ["@duckdb/node-bindings-darwin-x64", "@libsql/darwin-x64"],
    "darwin-arm64": ["@duckdb/node-bindings-darwin-arm64", "@libsql/darwin-arm64"],
    "windows-x64": ["@duckdb/node-bindings-win32-x64", "@libsql/win32-x64-msvc"],
  };
  const FOR_ALL = [
    "@duckdb/node-api",
    "@duckdb/node-bindings",
    "@neon-rs/load",
    "detect-libc",
    "libsql",
    "libsql/node_modules/detect-libc",
  ];
  for (const system of SYSTEMS) {
    const inputs = nativeInputs(packages, system);
    const wanted = [...FOR_ALL, ...WANTED[system.name as keyof typeof WANTED]].map((name) => `node_modules/${name}`);
    t.same([...inputs.keys()].sort(), wanted.sort(), system.name);
    t.ok([...inputs.values()].every(({ integrity }) => /^sha512-/.test(integrity)));
  }
});

t.test("a package that is not the pinned one is refused", async (t) => {
  const cache = t.testdir();
  const tarball = gzipSync(tarOf([file("package/package.json", "{}"), file("package/bin/node", "node", true)]));
  const integrity = `sha512-${createHash("sha512").update(tarball).digest("base64")}`;
  const path = join(cache, "scope-name-1.0.0.tgz");
  writeFileSync(path, tarball);
  const inputs = new Inputs(cache, () => {});
  t.same(inputs.files({ name: "@scope/name", version: "1.0.0", integrity }), [
    file("bin/node", "node", true),
    file("package.json", "{}"),
  ]);
  writeFileSync(path, gzipSync("other"));
  t.throws(() => inputs.files({ name: "@scope/name", version: "1.0.0", integrity }), {
    name: "MakeReleaseError",
    message:
      /^the package @scope\/name 1\.0\.0 is not the pinned one: its integrity is sha512-\S+, and sha512-\S+ is pinned/,
  });
  t.throws(() => readFileSync(path), { code: "ENOENT" }, "and does not stay");
});

t.test("notices and bill of materials", async (t) => {
  const integrity = `sha512-${Buffer.alloc(64, 1).toString("base64")}`;
  const manifest = (name: string, more: object) => JSON.stringify({ name, version: "1.0.0", ...more });
  const folder = t.testdir({
    metafiles: {
      "a.json": JSON.stringify([
        "cli/main.ts",
        "late-domains:node_modules/a/index.js",
        "node_modules/@s/b/node_modules/c/c.js",
        "node_modules/@s/b/x/y.js",
      ]),
    },
    node_modules: {
      a: { "package.json": manifest("a", { license: "MIT" }), LICENSE: "The licence\r\n", "index.js": "" },
      "@s": {
        b: {
          "package.json": manifest("@s/b", { license: "(MIT OR CC0-1.0)" }),
          "LICENCE.md": "The licence",
          node_modules: {
            c: { "package.json": manifest("c", { license: "MIT", author: "Jo Doe <jo@example.com>" }) },
          },
        },
      },
    },
  });
  const lock: Lock = Object.fromEntries(
    ["a", "@s/b", "@s/b/node_modules/c"].map((path) => [`node_modules/${path}`, { version: "1.0.0", integrity }]),
  );
  const read = (some: Lock = lock) => bundledComponents(folder, join(folder, "metafiles"), some);
  const components = distinct([...read(), ...read()]);
  t.same(
    components.map(({ name, license, texts }) => [name, license, texts]),
    [
      ["@s/b", "(MIT OR CC0-1.0)", ["The licence"]],
      ["a", "MIT", ["The licence"]],
      ["c", "MIT", []],
    ],
  );
  const line = "=".repeat(80);
  const standard = (name: string) => readFileSync(join(root, "cli/release/licenses", name), "utf8").trim();
  t.equal(
    noticesText(components, root),
    [
      "tool contains the following works of others, under their licences.\n",
      `${line}\n@s/b 1.0.0 ((MIT OR CC0-1.0))\na 1.0.0 (MIT)\n${line}\n\nThe licence\n`,
      `${line}\nc 1.0.0 (MIT)\n${line}\n\nCopyright (c) Jo Doe\n\n${standard("MIT.txt")}\n`,
    ].join("\n"),
  );
  const [, , c] = components;
  t.match(noticesText([{ ...c!, name: "@oven/bun-linux-x64" }], root), standard("LGPL-2.1.txt"));
  t.match(noticesText([{ ...c!, license: "Apache-2.0" }], root), standard("Apache-2.0.txt"));
  t.throws(() => noticesText([{ ...c!, license: "ISC" }], root), {
    message:
      "the package c 1.0.0 brings no text of its licence, ISC: add one to cli/release/licenses and license-texts.ts",
  });
  const about = { version: "1.2.3", license: "MIT", commit: "0".repeat(40), timeS: TIME_S };
  const bom = JSON.parse(billOfMaterials(components, about));
  t.match(bom.serialNumber, /^urn:uuid:[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
  t.equal(bom.metadata.timestamp, "2026-09-21T14:13:20Z");
  t.same(bom.components[0], {
    type: "library",
    "bom-ref": "pkg:npm/%40s/b@1.0.0",
    group: "@s",
    name: "b",
    version: "1.0.0",
    purl: "pkg:npm/%40s/b@1.0.0",
    hashes: [{ alg: "SHA-512", content: "01".repeat(64) }],
    licenses: [{ expression: "(MIT OR CC0-1.0)" }],
  });
  t.same(bom.components[1].licenses, [{ license: { id: "MIT" } }]);
  t.same(bom.dependencies, [
    { ref: "tool@1.2.3", dependsOn: ["pkg:npm/%40s/b@1.0.0", "pkg:npm/a@1.0.0", "pkg:npm/c@1.0.0"] },
  ]);

  t.throws(() => read({ ...lock, "node_modules/a": { version: "1.0.1", integrity } }), {
    message: "node_modules/a is not what package-lock.json says: run npm ci, then this again",
  });
  writeFileSync(join(folder, "node_modules/a/package.json"), manifest("a", {}));
  t.throws(() => read(), { message: "the package a 1.0.0 has no licence in its package.json" });
});

t.test("the launcher finds its Node by any path", { skip: process.platform === "win32" }, async (t) => {
  const folder = join(t.testdir(), "with blank");
  const put = (path: string, content: string) => {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), content);
    chmodSync(join(folder, path), 0o755);
  };
  put("top/bin/tool", LAUNCHER);
  put("top/node/bin/node", '#!/bin/sh\nprintf "<%s>" "$@"\nexit 7\n');
  mkdirSync(join(folder, "links"));
  symlinkSync("../top/bin/tool", join(folder, "links/relative"));
  symlinkSync(join(folder, "links/relative"), join(folder, "links/absolute"));
  symlinkSync("top", join(folder, "current"));
  // Nothing but readlink, and no Node.
  const path = join(folder, "path");
  mkdirSync(path);
  symlinkSync(execFileSync("sh", ["-c", "command -v readlink"], { encoding: "utf8" }).trim(), join(path, "readlink"));
  for (const [command, cwd] of [
    ["top/bin/tool", "."],
    ["./tool", "top/bin"],
    ["links/relative", "."],
    ["../links/absolute", "top"],
    ["current/bin/tool", "."],
    [join(folder, "links/absolute"), "."],
  ] as const) {
    const at = join(folder, cwd);
    const words = ["-c", '"$0" "$@"', command, "a b", "", "-x"];
    const { status, stdout, stderr } = spawnSync("/bin/sh", words, { cwd: at, env: { PATH: path }, encoding: "utf8" });
    t.equal(stderr, "", command);
    t.match(stdout, /^<.*\/\.\.\/lib\/cli\.cjs><a b><><-x>$/);
    t.equal(status, 7);
  }
  const named = spawnSync("/bin/sh", ["tool", "x"], {
    cwd: join(folder, "top/bin"),
    env: { PATH: path },
    encoding: "utf8",
  });
  t.equal(named.stdout, "<./../lib/cli.cjs><x>", "as the argument of a shell");
});

t.test("the package for npm depends on what has binaries alone, and has no scripts", async (t) => {
  const bundles = t.testdir({
    "cli.cjs": "#!/usr/bin/env node\n",
    commands: { "x.cjs": "" },
    ui: { "manifest.json": "{}" },
  });
  const { packages: lock } = JSON.parse(readFileSync(join(root, "package-lock.json"), "utf8")) as { packages: Lock };
  const files = npmPackageFiles({ root, bundles, version: "1.2.3", lock, notices: "Notices\n" });
  t.same(files.map(({ path }) => path).sort(), [
    "package/LICENSE",
    "package/NOTICES",
    "package/README.md",
    "package/dist/bin/cli.cjs",
    "package/dist/bin/commands/x.cjs",
    "package/dist/bin/ui/manifest.json",
    "package/package.json",
  ]);
  const manifest = JSON.parse(files.find(({ path }) => path === "package/package.json")!.content.toString());
  const { description } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
  t.same(manifest, {
    name: "tool",
    version: "1.2.3",
    description,
    license: "MIT",
    engines: { node: ">=20.19" },
    bin: { tool: "dist/bin/cli.cjs" },
    optionalDependencies: {
      "@duckdb/node-api": lock["node_modules/@duckdb/node-api"]!.version,
      libsql: lock["node_modules/libsql"]!.version,
    },
  });
});

t.test("the manual page", async (t) => {
  const page = manPage(describeTable(), { version: "1.2.3", date: "2026-11-28" });
  t.match(page, /^\.TH TOOL 1 "2026-11-28" "tool 1\.2\.3" "User Commands"\n\.SH NAME\n/);
  for (const { usage } of describeTable()) t.ok(page.includes(`.SS "tool ${usage.replaceAll("-", "\\-")}"`), usage);
  t.test("has no warning of groff", { skip: requires("groff") }, async (t) => {
    t.equal(spawnSync("groff", ["-man", "-ww", "-z"], { input: page, encoding: "utf8" }).stderr, "");
  });
  const backslash = manPage([{ ...describeTable()[0]!, summary: "A \\ and .5 'quoted'", examples: ["$ .x"] }], {
    version: "1.2.3",
    date: "2026-11-28",
  });
  t.match(backslash, "\nA \\e and .5 \\(aqquoted\\(aq.\n");
  t.match(backslash, "\n\\&.x\n");
});

t.test("arguments", async (t) => {
  const folder = t.testdir({ "not.pem": "no key", "v1.0.0": {} });
  const pem = { type: "pkcs8", format: "pem" } as const;
  const { privateKey, publicKey } = generateKeyPairSync("ed25519");
  const second = generateKeyPairSync("ed25519");
  writeFileSync(join(folder, "key.pem"), privateKey.export(pem));
  writeFileSync(join(folder, "pin.pem"), second.publicKey.export({ type: "spki", format: "pem" }));
  writeFileSync(join(folder, "rsa.pem"), generateKeyPairSync("rsa", { modulusLength: 2048 }).privateKey.export(pem));
  const good = ["--out", ".", "--origin", "https://api.host.example/repos/acme/tool/", "--key", "key.pem"];
  const options = readReleaseOptions(["1.2.3-rc.1", ...good, "--pin", "pin.pem", "--only", "linux-x64"], folder);
  t.equal(options.folder, join(folder, "v1.2.3-rc.1"));
  t.equal(options.origin, "https://api.host.example/repos/acme/tool");
  t.same(options.pins, [pinnedKeyOf(publicKey), pinnedKeyOf(second.publicKey)]);
  t.same(
    options.systems.map(({ name }) => name),
    ["linux-x64"],
  );
  t.same([options.kinds, options.withXz], [["tool", "tool-cli"], true]);
  t.same(options.editions, [{ edition: "pro", version: "1.2.3-rc.1", account: undefined }]);
  t.equal(JSON.stringify(options.editions[0]), '{"edition":"pro","version":"1.2.3-rc.1"}', "as the bundles are built");

  const url = "https://account.example.com";
  const paid = ["--account", url, "--account-key", "pin.pem"];
  const account = { url, key: pinnedKeyOf(second.publicKey) };
  t.same(readReleaseOptions(["1.2.3", ...good, ...paid], folder).editions, [
    { edition: "pro", version: "1.2.3", account },
    { edition: "free", version: "1.2.3", account },
  ]);
  const { editions } = readReleaseOptions(["1.2.3", ...good, ...paid, "--free-version", "0.9.0"], folder);
  t.same(
    editions.map(({ edition, version }) => `${edition} ${version}`),
    ["pro 1.2.3", "free 0.9.0"],
  );
  const { releaseDefines } = await import(pathToFileURL(join(root, "cli/build/edition.mjs")).href);
  t.same(
    editions.map((of) => releaseDefines(JSON.stringify(of), "0.1.0")),
    ["pro 1.2.3", "free 0.9.0"].map((of) => {
      const [edition, version] = of.split(" ");
      return {
        TOOL_VERSION: JSON.stringify(version),
        TOOL_EDITION: JSON.stringify(edition),
        TOOL_ACCOUNT: JSON.stringify(account),
      };
    }),
    "as the bundles are built",
  );

  const version = "is not a version of Semantic Versioning without build metadata, such as 1.2.3 or 1.3.0-rc.1";
  const made = "as openssl genpkey -algorithm ed25519 -out key.pem";
  const origin = "is not an address such as https://api.host.example/repos/acme/tool";
  const ROWS: [string[], string, boolean][] = [
    [good, "name the version, and nothing else beside the options", true],
    [["1.2.3", "1.2.4", ...good], "name the version, and nothing else beside the options", true],
    [["1.2", ...good], `"1.2" ${version}`, true],
    [["v1.2.3", ...good], `"v1.2.3" ${version}`, true],
    [["1.2.3-pro", ...good], `"1.2.3-pro" ${version}`, true],
    [
      ["1.2.3", ...good, "--account", url],
      "--account needs --account-key, which says whose statements are believed",
      true,
    ],
    [
      ["1.2.3", ...good, "--account-key", "pin.pem"],
      "--account-key needs --account, the service whose statements it verifies",
      true,
    ],
    [
      ["1.2.3", ...good, "--free-version", "1.0.0"],
      "--free-version needs --account: the free edition is made only where people can subscribe",
      true,
    ],
    [["1.2.3", ...good, ...paid, "--free-version", "1.0"], `--free-version "1.0" ${version}`, true],
    [["1.2.3", ...good, ...paid, "--free-version", "1.0.0-pro"], `--free-version "1.0.0-pro" ${version}`, true],
    ...[
      "http://account.example.com",
      `${url}/`,
      `${url}/a`,
      "account.example.com",
      "https://me@account.example.com",
    ].map((wrong): [string[], string, boolean] => [
      ["1.2.3", ...good, "--account", wrong, "--account-key", "pin.pem"],
      `--account ${JSON.stringify(wrong)} is not the origin of a service, such as ${url}`,
      true,
    ]),
    [
      ["1.2.3", ...good, "--account", url, "--account-key", "key.pem"],
      `--account-key: ${join(folder, "key.pem")} has no Ed25519 key in PEM, ${made}`,
      false,
    ],
    [["1.2.3+build", ...good], `"1.2.3+build" ${version}`, true],
    [["1.2.3", ...good.slice(2)], "--out is missing", true],
    [["1.2.3", ...good.slice(0, 2), ...good.slice(4)], "--origin is missing", true],
    [["1.2.3", ...good.slice(0, 4)], "--key is missing", true],
    [["1.2.3", ...good, "--origin", "api.host.example"], `--origin "api.host.example" ${origin}`, true],
    [["1.2.3", ...good, "--origin", "https://me:x@h.example/"], `--origin "https://me:x@h.example/" ${origin}`, true],
    [
      ["1.2.3", ...good, "--only", "linux-musl"],
      '--only "linux-musl": there are linux-x64, linux-arm64, darwin-x64, darwin-arm64, windows-x64',
      true,
    ],
    [["1.2.3", ...good, "--kind", "all"], '--kind "all": there are tool, tool-cli', true],
    [
      ["1.0.0", ...good],
      `${join(folder, "v1.0.0")} is there already: remove it, or name another --out. What was published stays as it is`,
      false,
    ],
    [["1.2.3", ...good, "--key", "no"], `--key: ${join(folder, "no")} cannot be read: ENOENT`, false],
    [
      ["1.2.3", ...good, "--key", "not.pem"],
      `--key: ${join(folder, "not.pem")} has no Ed25519 key in PEM, ${made}`,
      false,
    ],
    [
      ["1.2.3", ...good, "--key", "rsa.pem"],
      `--key: ${join(folder, "rsa.pem")} has no Ed25519 key in PEM, ${made}`,
      false,
    ],
    [
      ["1.2.3", ...good, "--pin", "key.pem"],
      `--pin: ${join(folder, "key.pem")} has no Ed25519 key in PEM, ${made}`,
      false,
    ],
  ];
  for (const [argv, message, isMisuse] of ROWS) {
    const error = thrown(() => readReleaseOptions(argv, folder));
    t.equal(error.message.slice(0, message.length), message, argv.join(" "));
    t.equal(error.isMisuse, isMisuse);
  }
  t.match(
    thrown(() => readReleaseOptions(["1.2.3", ...good, "--fast"], folder)),
    { isMisuse: true, message: /--fast/ },
  );
});

function thrown(call: () => unknown): MakeReleaseError {
  try {
    call();
  } catch (error) {
    if (error instanceof MakeReleaseError) return error;
    throw error;
  }
  throw new Error("nothing was thrown");
}

t.test("a release is made of a commit", { skip: requires("git") }, async (t) => {
  // Not below the project, which is a clone itself.
  const folder = mkdtempSync(join(tmpdir(), "release-"));
  t.teardown(() => rmSync(folder, { recursive: true, force: true }));
  const { privateKey } = generateKeyPairSync("ed25519");
  writeFileSync(join(folder, "key.pem"), privateKey.export({ type: "pkcs8", format: "pem" }));
  const argv = ["1.2.3", "--out", "out", "--origin", "https://h.example", "--key", "key.pem"];
  const clone = join(folder, "clone");
  mkdirSync(clone);
  const make = () => makeRelease({ ...readReleaseOptions(argv, folder), root: clone, note: () => {} });
  await t.rejects(make(), {
    message: `${clone} is not a clone of the project with Git: a release is made of a commit`,
  });
  execFileSync("git", ["init", "-q"], { cwd: clone });
  const commit = ["-c", "user.name=x", "-c", "user.email=x@example.com", "commit", "-q", "--allow-empty", "-m", "x"];
  execFileSync("git", commit, { cwd: clone });
  for (const name of ["a", "b", "c", "d"]) writeFileSync(join(clone, name), "");
  await t.rejects(make(), {
    name: "MakeReleaseError",
    message: "the clone has changes that are not committed: a, b, c and 1 more. Commit or remove them",
  });
  t.throws(() => readFileSync(join(folder, "out")), { code: "ENOENT" }, "nothing is left");
});
