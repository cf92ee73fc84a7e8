// The content of a deployment: tool build on real folders, its archive read by others and run as the platform runs it.

import { execFileSync, spawn, spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { crc32, deflateRawSync } from "node:zlib";
import t from "tap";
import type { BuildEvent } from "../../../cli/artifact/artifact.ts";
import { deflateFiles } from "../../../cli/artifact/deflate.ts";
import { openDeflateCache, type PackedContent } from "../../../cli/artifact/deflate-cache.ts";
import { sizesOf } from "../../../cli/artifact/limits.ts";
import { writeZip } from "../../../cli/artifact/zip.ts";
import type { Context } from "../../../cli/context.ts";
import { runInShell } from "../../../cli/hooks/shell.ts";
import { buildProgress } from "../../../cli/output/build-progress.ts";
import { sizesByFolder } from "../../../cli/output/sizes-by-folder.ts";
import { humanBytes } from "../../../grammar/units/bytes.ts";
import { systemClock } from "../../../grammar/units/clock.ts";
import { archiveOf, runBuilt } from "../../support/built.ts";
import { cliPath, isRunning, root, shell, spawnTool, tool } from "../../support/cli.ts";
import { requires } from "../../support/require.ts";
import { ask } from "../../support/runtime.ts";
import { slow } from "../../support/slow.ts";
import { TestClock } from "../../support/test-clock.ts";
import { until } from "../../support/until.ts";
import { unzip } from "../../support/unzip.ts";

/** A file's text, a link, or one with permissions; a name that ends in `/` is a folder. */
type File = string | { readonly link: string } | { readonly text: string; readonly mode: number };
type Files = Readonly<Record<string, File>>;

/** The size of the smallest deployment: the runtime, the app, tool.json and what the build writes beside it. */
const OWN_BYTES = statSync(join(root, "dist/bin/runtime/bootstrap.cjs")).size + 117;

const NODE_APP: Files = { "tool.json": '{ "name": "app" }', "app.js": "require('http')" };

function lay(directory: string, files: Files): string {
  mkdirSync(directory, { recursive: true });
  for (const [name, file] of Object.entries(files)) {
    const path = join(directory, name);
    mkdirSync(name.endsWith("/") ? path : dirname(path), { recursive: true });
    if (name.endsWith("/")) continue;
    if (typeof file === "string") writeFileSync(path, file);
    else if ("link" in file) symlinkSync(file.link, path);
    else {
      writeFileSync(path, file.text);
      chmodSync(path, file.mode);
    }
  }
  return directory;
}

/** `name`, `name*` where it can be executed, `name -> target` for a link. */
function listing(zip: Buffer): string[] {
  return unzip(zip).map(({ name, mode, content }) => {
    if (mode === 0o120777) return `${name} -> ${content}`;
    if (mode === 0o040755) return name;
    if (mode === 0o100755) return `${name}*`;
    return mode === 0o100644 ? name : `${name} ${mode.toString(8)}`;
  });
}

const RUNTIME = [".tool/bootstrap.cjs*", ".tool/deployment.json"];

t.test("what goes along", async (t) => {
  const folder = t.testdir();
  const rows: { name: string; files: Files; holds: string[]; leftOut?: string[]; without?: string }[] = [
    {
      name: "an app, its packages and their commands",
      files: {
        ...NODE_APP,
        ".env": "A=1",
        ".git/HEAD": "",
        "out.zip": "an old one",
        "node_modules/next/index.js": "1",
        "node_modules/next/.npmignore": "",
        "node_modules/.bin/next": { link: "../next/index.js" },
        "node_modules/.cache/x": "1",
        ".tool/development.log": "",
      },
      holds: [
        ...RUNTIME,
        "app.js",
        "node_modules/.bin/next -> ../next/index.js",
        "node_modules/next/.npmignore",
        "node_modules/next/index.js",
        "tool.json",
      ],
      leftOut: [
        ".env (a dotfile: a line such as `!.env` in .toolignore includes it)",
        ".git/ (Git's own files)",
        ".tool/ (tool's own files)",
        "node_modules/.cache/ (a cache of other tools)",
        "out.zip (what tool build writes)",
      ],
    },
    {
      name: "what .toolignore leaves, with the line that says so",
      files: {
        ...NODE_APP,
        ".toolignore": "# tests\ntest/\n\n*.md\n!README.md",
        "test/a.js": "",
        "README.md": "",
        "x.md": "",
      },
      holds: [...RUNTIME, "README.md", "app.js", "tool.json"],
      leftOut: [
        ".toolignore (a dotfile: a line such as `!.toolignore` in .toolignore includes it)",
        "test/ (line 2 of .toolignore: test/)",
        "x.md (line 4 of .toolignore: *.md)",
      ],
    },
    {
      name: "only what is listed",
      files: { ...NODE_APP, ".toolignore": "*\n!app.js\n!dist/**", "src/a.js": "", "dist/a/b.js": "", "c/app.js": "" },
      holds: [...RUNTIME, "app.js", "c/app.js", "dist/a/b.js"],
      leftOut: [
        ".toolignore (line 1 of .toolignore: *)",
        "src/ (line 1 of .toolignore: *)",
        "tool.json (line 1 of .toolignore: *)",
      ],
    },
    {
      name: "a folder brought back, and of its files those that no line leaves out",
      files: { ...NODE_APP, ".toolignore": "*\n!*/\n!*.js", "secret/prod.key": "k", "secret/a.js": "" },
      holds: [...RUNTIME, "app.js", "secret/a.js"],
      leftOut: [
        ".toolignore (line 1 of .toolignore: *)",
        "secret/prod.key (line 1 of .toolignore: *)",
        "tool.json (line 1 of .toolignore: *)",
      ],
    },
    {
      name: "never git's files, the tool's or the archive, whatever the lines say",
      files: {
        ...NODE_APP,
        ".toolignore": "!.git\n!.tool\n!out.zip\n!.x",
        ".git/HEAD": "",
        "lib/.git": "gitdir: ..",
        "out.zip": "",
        ".x/.y": "",
        ".x/z": "",
      },
      holds: [...RUNTIME, ".x/z", "app.js", "tool.json"],
    },
    {
      name: "permissions are two",
      files: {
        ...NODE_APP,
        a: { text: "", mode: 0o777 },
        b: { text: "", mode: 0o700 },
        c: { text: "", mode: 0o600 },
        d: { text: "", mode: 0o664 },
        e: { text: "", mode: 0o455 },
      },
      holds: [...RUNTIME, "a*", "app.js", "b*", "c", "d", "e", "tool.json"],
    },
    {
      name: "links as links, absolute ones made relative, and empty folders",
      files: {
        ...NODE_APP,
        "lib/real.js": "",
        "lib/one.js": { link: "real.js" },
        "two.js": { link: "./lib/../lib/one.js" },
        all: { link: "lib" },
        later: { link: "made-when-it-runs" },
        "empty/": "",
        "full/of/": "",
        "only-hidden/.x": "",
      },
      holds: [
        ...RUNTIME,
        "all -> lib",
        "app.js",
        "empty/",
        "full/of/",
        "later -> made-when-it-runs",
        "lib/one.js -> real.js",
        "lib/real.js",
        "tool.json",
        "two.js -> ./lib/../lib/one.js",
      ],
    },
    {
      name: "sorted by bytes, not by UTF-16",
      files: { ...NODE_APP, "\u{1f600}": "", "\uff5e": "", é: "", Z: "", "a-b": "", "a/b": "", "a.b": "" },
      holds: [...RUNTIME, "Z", "a-b", "a.b", "a/b", "app.js", "tool.json", "é", "\uff5e", "\u{1f600}"],
    },
    {
      name: "libraries of Python, whatever the lines leave",
      files: {
        "tool.json": '{ "name": "app", "hooks": { "build": "true" } }',
        "app.py": "",
        "requirements.txt": "",
        ".toolignore": "*\n!app.py",
        ".pypath/a/__init__.py": "",
        ".pypath/a/.hidden": "",
        ".pypath/a/__pycache__/a.pyc": "",
        "__pycache__/app.pyc": "",
      },
      holds: [".pypath/a/.hidden", ".pypath/a/__init__.py", ".tool/deployment.json", "app.py"],
    },
  ];
  for (const [i, { name, files, holds, leftOut }] of rows.entries()) {
    const directory = lay(join(folder, String(i)), files);
    t.same(listing(archiveOf(directory)), holds, name);
    if (leftOut === undefined) continue;
    const { stderr } = await tool(["build", "--verbose", "--size"], { cwd: directory });
    const lines = stderr.split("\n").flatMap((line) => (line.startsWith("left out: ") ? [line.slice(10)] : []));
    t.same(lines, leftOut, `${name}: why`);
  }
  const directory = lay(join(folder, "absolute"), NODE_APP);
  symlinkSync(join(directory, "app.js"), join(directory, "same.js"));
  symlinkSync(directory, join(directory, "here"));
  t.same(
    listing(archiveOf(directory)).filter((line) => line.includes("->")),
    ["here -> .", "same.js -> app.js"],
  );
});

t.test("the same files, the same bytes", async (t) => {
  const folder = t.testdir();
  const files: Files = {
    ...NODE_APP,
    "b/c.txt": "c".repeat(5000),
    "b/random": createHash("sha512").update("x").digest("base64"),
    "a.txt": "",
    "a/deep/er": "1",
    "same.txt": "c".repeat(5000),
    "large.txt": "a line of a large file\n".repeat(20_000),
    "larger.txt": "a line of a large file\n".repeat(20_000),
  };
  const first = lay(join(folder, "first"), files);
  const second = lay(join(folder, "second"), Object.fromEntries(Object.entries(files).reverse()));
  for (const name of ["a.txt", "b/c.txt", "app.js"]) utimesSync(join(second, name), 1, 1);
  chmodSync(join(second, "app.js"), 0o600);
  const cache = { XDG_CACHE_HOME: join(folder, "cache") };
  const zip = archiveOf(first);
  t.ok(archiveOf(second).equals(zip), "made in another order, at other times, with another umask");
  t.ok(archiveOf(first, [], cache).equals(zip), "with an empty cache");
  t.ok(archiveOf(first, [], cache).equals(zip), "with a full one");
  t.notOk(archiveOf(first, ["--stage", "production"]).equals(zip), "another stage is another deployment");
  writeFileSync(join(first, "a.txt"), "1");
  t.notOk(archiveOf(first, [], cache).equals(zip), "a changed file");
  writeFileSync(join(first, "a.txt"), "");
  t.ok(archiveOf(first, [], cache).equals(zip), "and back");
  const changed = {
    ...JSON.parse(files["tool.json"] as string),
    alerts: [],
    description: "new",
    environment: { AA: "1" },
  };
  for (const folder of [first, second]) writeFileSync(join(folder, ".toolignore"), "tool.json");
  const without = archiveOf(second);
  writeFileSync(join(first, "tool.json"), JSON.stringify(changed));
  t.ok(archiveOf(first).equals(without), "what concerns the stack alone changes no code");
});

t.test("a cache can do no harm", slow(), async (t) => {
  const folder = t.testdir();
  const directory = lay(join(folder, "app"), {
    ...NODE_APP,
    ...Object.fromEntries(Array.from({ length: 60 }, (_, i) => [`files/${i}.txt`, `file ${i}\n`.repeat(i * 40)])),
  });
  const zip = archiveOf(directory);
  const env = { XDG_CACHE_HOME: join(folder, "cache") };
  const artifacts = join(folder, "cache/tool/artifacts");
  archiveOf(directory, [], env);
  const [name] = readdirSync(artifacts);
  const pack = join(artifacts, name!);
  const whole = readFileSync(pack);
  t.match(name, /^app-[0-9a-f]{16}$/);
  const damages: [string, Buffer][] = [
    ["empty", Buffer.alloc(0)],
    ["another file", Buffer.from("not a cache at all\n")],
    ["cut in a head", whole.subarray(0, 40)],
    ["cut in the middle", whole.subarray(0, whole.length >> 1)],
    ["zeros behind", Buffer.concat([whole, Buffer.alloc(1000)])],
    ...Array.from({ length: 3 }, (_, i): [string, Buffer] => {
      const at = Math.floor((whole.length * (i + 0.5)) / 3);
      const damaged = Buffer.from(whole);
      damaged[at] = damaged[at]! ^ 0x55;
      return [`a wrong byte at ${at} of ${whole.length}`, damaged];
    }),
  ];
  for (const [what, bytes] of damages) {
    writeFileSync(pack, bytes);
    t.ok(archiveOf(directory, [], env).equals(zip), what);
  }
  t.ok(readFileSync(pack).equals(whole), "it is made anew");

  const runs = await Promise.all(
    Array.from({ length: 4 }, () => shell("tool build | sha256sum", { cwd: directory, env })),
  );
  const sum = createHash("sha256").update(zip).digest("hex");
  t.same(
    runs.map(({ stdout }) => stdout.slice(0, 64)),
    Array(4).fill(sum),
    "several at once",
  );
  t.same(readdirSync(artifacts), [name], "nothing is left behind");

  writeFileSync(join(artifacts, `${name}.1-00000000`), "abandoned");
  utimesSync(join(artifacts, `${name}.1-00000000`), 1, 1);
  writeFileSync(join(artifacts, "big"), "");
  truncateSync(join(artifacts, "big"), 2 ** 30);
  utimesSync(join(artifacts, "big"), 1, 1);
  writeFileSync(join(directory, "new.txt"), "new");
  archiveOf(directory, [], env);
  t.same(readdirSync(artifacts), [name], "what is too much goes, the oldest first");

  rmSync(artifacts, { recursive: true });
  writeFileSync(artifacts, "a file where the folder should be");
  rmSync(join(directory, "new.txt"));
  t.ok(archiveOf(directory, [], env).equals(zip), "one that cannot be written");
});

t.test("no byte of a cache can be wrong unnoticed", (t) => {
  const folder = t.testdir();
  const contents = ["", "a", "b".repeat(300)].map((text) => Buffer.from(text));
  const used = new Map(
    contents.map((content): [string, PackedContent] => [
      createHash("sha256").update(content).digest().toString("latin1"),
      { crc32: crc32(content), unpackedBytes: content.length, isDeflated: true, data: deflateRawSync(content) },
    ]),
  );
  openDeflateCache(folder, "pack").keep(used);
  const whole = readFileSync(join(folder, "pack"));
  const answers = () => {
    const cache = openDeflateCache(folder, "pack");
    return [...used].map(([hash, { data }]) => {
      const entry = cache.get(hash);
      return entry === undefined
        ? "nothing"
        : Buffer.from(entry.data).equals(data) && entry.crc32 === used.get(hash)!.crc32;
    });
  };
  t.same(answers(), [true, true, true]);
  for (let at = 0; at < whole.length; at++) {
    for (const bits of [1, 0x80, 0xff]) {
      const damaged = Buffer.from(whole);
      damaged[at] = damaged[at]! ^ bits;
      writeFileSync(join(folder, "pack"), damaged);
      const answer = answers();
      if (answer.includes(false) || !answer.includes("nothing")) t.fail(`${bits} at ${at}: ${answer}`);
    }
  }
  t.end();
});

t.test("why there is no archive", async (t) => {
  const folder = t.testdir();
  const rows: {
    name: string;
    files: Files;
    prepare?: (directory: string) => void;
    argv?: string[];
    code?: number;
    stderr: string[];
  }[] = [
    {
      name: "no tool.json",
      files: {},
      code: 2,
      stderr: ["error: there is no tool.json in $PROJECT", '  minimal tool.json: { "name": "my-app" }'],
    },
    {
      name: "a stage that there is not",
      files: NODE_APP,
      argv: ["-s", "prod"],
      code: 2,
      stderr: ['error: there is no stage "prod"', "  the stages are: development, staging, production"],
    },
    {
      name: "links to the outside, all of them",
      files: { ...NODE_APP, a: { link: "/etc/hostname" }, "b/c": { link: "../../elsewhere" }, d: { link: "a" } },
      stderr: [
        "error: a is a link to /etc/hostname, outside the project",
        "  copy its target into the project (hooks.prebuild can do it), or exclude the link in .toolignore",
        "error: b/c is a link to ../../elsewhere, outside the project",
        "  copy its target into the project (hooks.prebuild can do it), or exclude the link in .toolignore",
        "error: d is a link to a, outside the project",
        "  copy its target into the project (hooks.prebuild can do it), or exclude the link in .toolignore",
      ],
    },
    {
      name: "a name that is not a text",
      files: NODE_APP,
      prepare: (directory) =>
        writeFileSync(Buffer.concat([Buffer.from(`${directory}/caf`), Buffer.from([0xe9, 0x2e, 0x6a])]), ""),
      stderr: [
        "error: the name of caf\\xe9.j is not UTF-8",
        "  rename it: an archive and the platform know names in UTF-8 only",
      ],
    },
    {
      name: "more than the platform unpacks",
      files: NODE_APP,
      prepare: (directory) => {
        for (let i = 0; i < 12; i++) {
          writeFileSync(join(directory, `file-${i}`), "");
          truncateSync(join(directory, `file-${i}`), (20 + i) * 2 ** 20);
        }
      },
      stderr: [
        `error: the deployment is ${humanBytes(306 * 2 ** 20 + OWN_BYTES)} unpacked, over the platform's limit of 250 MB`,
        "  exclude unneeded files in .toolignore; tool build --size=folders shows the folders, the largest files are:",
        ...Array.from({ length: 10 }, (_, i) => `  ${31 - i} MB  file-${11 - i}`),
      ],
    },
    {
      name: "less room beside the layer",
      files: { "tool.json": '{ "name": "app" }', "app.py": "" },
      prepare: (directory) => {
        for (let i = 0; i < 10; i++) {
          writeFileSync(join(directory, `model-${i}`), "");
          truncateSync(join(directory, `model-${i}`), 15 * 2 ** 20);
        }
      },
      stderr: [
        "error: the deployment is 150 MB unpacked, over the platform's limit of 140.33 MB (250 MB without the 109.67 MB of the runtime's layer)",
        "  exclude unneeded files in .toolignore; tool build --size=folders shows the folders, the largest files are:",
        ...Array.from({ length: 10 }, (_, i) => `  15 MB  model-${i}`),
      ],
    },
    {
      name: "a folder as .toolignore",
      files: { ...NODE_APP, ".toolignore/": "" },
      stderr: [
        "error: cannot read .toolignore: it is a folder",
        "  put a file in its place that may be read, or remove it",
      ],
    },
    {
      name: "a .toolignore in UTF-16, as the > of PowerShell writes it",
      files: { ...NODE_APP, "secret.txt": "" },
      prepare: (directory) => writeFileSync(join(directory, ".toolignore"), "\ufeffsecret.txt\nkey.pem\n", "utf16le"),
      stderr: [
        ".toolignore:1:1: error: the file is not UTF-8 [config/encoding]",
        "  1 | \ufffd\ufffds\u2400e\u2400c\u2400r\u2400e\u2400t\u2400.\u2400t\u2400x\u2400t\u2400",
        "    | ^",
        "    = save it as UTF-8",
        "",
      ],
    },
    {
      name: "a .toolignore in UTF-16 that a hook writes, without a byte order mark",
      files: {
        ...NODE_APP,
        "tool.json": '{ "name": "app", "hooks": { "build": "printf \'a\\\\0\\\\n\\\\0\' > .toolignore" } }',
      },
      stderr: [
        "build: printf 'a\\0\\n\\0' > .toolignore",
        "error: .toolignore:1: the file is not UTF-8",
        "  save it as UTF-8",
      ],
    },
    {
      name: "Crystal without a container runtime",
      files: { "tool.json": '{ "name": "app" }', "main.cr": "" },
      stderr: [
        "error: building Crystal needs a container runtime (docker or podman), and none is installed: install one, or write hooks.build",
      ],
    },
  ];
  for (const [i, { name, files, prepare, argv = [], code = 1, stderr }] of rows.entries()) {
    const cwd = lay(join(folder, String(i)), files);
    prepare?.(cwd);
    const path = name.startsWith("Crystal") ? { PATH: dirname(process.execPath) } : {};
    const outcome = await tool(["build", ...argv], { cwd, env: path });
    const lines = outcome.stderr.replaceAll(cwd, "$PROJECT").replace(/\n$/, "").split("\n");
    t.same({ code: outcome.code, stdout: outcome.stdout, lines }, { code, stdout: "", lines: stderr }, name);
  }

  await t.test("a file that is never what it was", { skip: process.platform !== "linux" }, async (t) => {
    // Its size is said to be 0, and there is something to read: to a reader as if it grew each time.
    const grows = { kind: "file", name: "grows.log", path: "/proc/self/status", bytes: 0, modifiedMs: 0 } as const;
    const { problems } = await deflateFiles([{ ...grows, isExecutable: false }], openDeflateCache(undefined, ""), {
      onProgress() {},
      clock: systemClock,
    });
    t.same(problems, [
      {
        code: "artifact/changing",
        message: "grows.log changed while it was being read",
        hint: "stop the program that writes it, or exclude it in .toolignore",
      },
    ]);
  });

  await t.test("a file that changed since it was found is read as it is now", async (t) => {
    const path = join(folder, "later.txt");
    writeFileSync(path, "as it is now");
    const file = { kind: "file", name: "later.txt", path, bytes: 3, modifiedMs: 0, isExecutable: false } as const;
    const { entries } = await deflateFiles([file], openDeflateCache(undefined, ""), {
      onProgress() {},
      clock: systemClock,
    });
    t.equal(entries[0]?.unpackedBytes, 12);
  });

  // Root may read everything: another user builds, with nothing of this process's environment, which is root's.
  const nobody = { uid: 65534, gid: 65534 };
  const reaches = ["-c", 'test -x "$1" && test -r "$2"', "sh", process.execPath, cliPath];
  const isOut = process.getuid?.() !== 0 || spawnSync("sh", reaches, nobody).status !== 0;
  await t.test(
    "what nobody may read",
    { skip: isOut && "takes root, and a node that all users may run" },
    async (t) => {
      const cwd = lay(join(folder, "unreadable"), {
        ...NODE_APP,
        "secret.txt": { text: "", mode: 0o600 },
        "closed/a.txt": "",
      });
      const build = async () => {
        const words = ["-i", `PATH=${process.env.PATH}`, "HOME=/nonexistent", process.execPath, cliPath, "build"];
        const child = spawn("env", words, { cwd, ...nobody, stdio: ["ignore", "ignore", "pipe"] });
        const said: string[] = [];
        for await (const chunk of child.stderr) said.push(String(chunk));
        return said.join("");
      };
      const hint = "\n  make it readable, or exclude it in .toolignore\n";
      chmodSync(join(cwd, "closed"), 0o700);
      t.equal(await build(), `error: cannot read closed/: permission denied${hint}`);
      chmodSync(join(cwd, "closed"), 0o755);
      t.equal(await build(), `error: cannot read secret.txt: permission denied${hint}`);
    },
  );
});

t.test("hooks of the build", async (t) => {
  const folder = t.testdir();
  const hooks = {
    prebuild: ["echo one > order; cd /; X=1", 'echo "two [$X] $TOOL_STAGE [$NODE_ENV] $GREETING" >> order'],
    build: "echo build >> order; echo made > made.txt",
    postbuild: "mv order order.txt",
  };
  const config = (more: object = {}) =>
    JSON.stringify({ name: "app", environment: { GREETING: "hi" }, hooks, ...more });
  const rows: { name: string; config: string; argv: string[]; code?: number; made?: boolean; stderr: string[] }[] = [
    {
      name: "in their order, each command in its own shell, with the stage's variables",
      config: config(),
      argv: ["--format", "json"],
      made: true,
      stderr: [
        "prebuild: echo one > order; cd /; X=1",
        'prebuild: echo "two [$X] $TOOL_STAGE [$NODE_ENV] $GREETING" >> order',
        "build: echo build >> order; echo made > made.txt",
        "postbuild: mv order order.txt",
        "build: 6 files, $SIZE ($TIME)",
      ],
    },
    {
      name: "live with --verbose",
      config: config({ hooks: { prebuild: "echo out; echo err >&2", build: [], postbuild: "echo $TOOL_STAGE" } }),
      argv: ["--verbose", "--format", "json", "--stage", "production"],
      stderr: [
        "prebuild: echo out; echo err >&2",
        "out",
        "err",
        "prebuild: done in $TIME",
        "postbuild: echo $TOOL_STAGE",
        "production",
        "postbuild: done in $TIME",
        "build: 4 files, $SIZE ($TIME)",
      ],
    },
    {
      name: "the stage's own",
      config: config({
        hooks: { build: "exit 1" },
        stages: { production: { hooks: { build: "echo made > made.txt" } } },
      }),
      argv: ["--stage", "production", "--format", "json"],
      made: true,
      stderr: ["build: echo made > made.txt", "build: 5 files, $SIZE ($TIME)"],
    },
    {
      name: "a failing one with all that it wrote, and nothing after it",
      config: config({
        hooks: { prebuild: ["echo fine", "echo why; echo how >&2; exit 7", "echo never"], build: "touch made.txt" },
      }),
      argv: [],
      code: 1,
      stderr: [
        "prebuild: echo fine",
        "prebuild: echo why; echo how >&2; exit 7",
        "why",
        "how",
        "error: prebuild failed: echo why; echo how >&2; exit 7 ended with exit code 7",
      ],
    },
    {
      name: "one that is ended",
      config: config({ hooks: { build: "kill -9 $$" } }),
      argv: [],
      code: 1,
      stderr: ["build: kill -9 $$", "error: build failed: kill -9 $$ was ended by SIGKILL"],
    },
    {
      name: "of a long output the end",
      config: config({ hooks: { build: "yes line | head -n 200000; echo the reason; exit 1" } }),
      argv: [],
      code: 1,
      stderr: [
        "build: yes line | head -n 200000; echo the reason; exit 1",
        "the reason",
        "error: build failed: yes line | head -n 200000; echo the reason; exit 1 ended with exit code 1",
      ],
    },
    {
      name: "one that leaves a process in the background",
      config: config({ hooks: { build: "sleep 30 & echo $! > pid; exit 1" } }),
      argv: [],
      code: 1,
      stderr: [
        "build: sleep 30 & echo $! > pid; exit 1",
        "error: build failed: sleep 30 & echo $! > pid; exit 1 ended with exit code 1",
      ],
    },
  ];
  for (const [i, { name, config, argv, code = 0, made = false, stderr }] of rows.entries()) {
    const cwd = lay(join(folder, String(i)), { "tool.json": config, "app.js": "" });
    const outcome = await tool(["build", ...argv], { cwd });
    const lines = outcome.stderr
      .split("\n")
      .filter((line) => line !== "line" && line !== "")
      .map((line) => line.replace(/(done in |\()[\d.]+m?s\)?$/, "$1$TIME").replace(/\(\$TIME$/, "($TIME)"))
      .map((line) => line.replace(/, [\d.]+ KB/, ", $SIZE").replaceAll("$$TIME", "$TIME"))
      .filter((line) => !line.startsWith("left out: "));
    t.same({ code: outcome.code, lines }, { code, lines: stderr }, name);
    t.equal(existsSync(join(cwd, "out.zip")), code === 0, `${name}: out.zip`);
    t.equal(existsSync(join(cwd, "made.txt")), made, `${name}: made.txt`);
    if (i === 0) t.equal(readFileSync(join(cwd, "order.txt"), "utf8"), "one\ntwo [] staging [] hi\nbuild\n");
    if (name.includes("long")) t.ok(outcome.stderr.length < 300_000, `${outcome.stderr.length} characters`);
    if (name.includes("background")) process.kill(Number(readFileSync(join(cwd, "pid"), "utf8")));
  }

  await t.test("an interruption ends all that runs", async (t) => {
    const cwd = lay(join(folder, "interrupted"), {
      "tool.json": config({ hooks: { build: "sleep 60 & echo $! > pid; wait", postbuild: "touch never" } }),
    });
    const running = spawnTool(["build"], { cwd });
    const pid = Number(
      await until("its process", () => existsSync(join(cwd, "pid")) && readFileSync(join(cwd, "pid"), "utf8").trim()),
    );
    running.kill("SIGINT");
    const { code, stdout } = await running.ended;
    t.equal(code, 130);
    t.equal(stdout, "");
    await until("the end of what it started", () => !isRunning(pid));
    t.same(readdirSync(cwd).sort(), ["pid", "tool.json"]);
  });

  await t.test("one that comes as the command starts", async (t) => {
    const cwd = lay(join(folder, "interrupted early"), {
      "tool.json": config({ hooks: { build: "kill -INT $PPID; sleep 60" } }),
    });
    for (let round = 0; round < 5; round++) {
      // The parent of its shell has to be the command.
      const { code, signal } = await spawnTool(["build"], { cwd }).ended;
      t.same({ code, signal }, { code: 130, signal: null });
    }
  });
});

/** The beginning of a binary, as far as it says what it is for. */
function binary(hex: string, machine?: number): string {
  const head = Buffer.alloc(64);
  Buffer.from(hex, "hex").copy(head);
  if (machine !== undefined) head.writeUInt16LE(machine, 18);
  return head.toString("latin1");
}

const ELF_X64 = binary("7f454c46020101", 0x3e);
const ELF_ARM64 = binary("7f454c46020101", 0xb7);
const MACH_O_ARM64 = binary("cffaedfe0c000001");
const WINDOWS = binary("4d5a90");

t.test("what will not run is said before it is deployed", async (t) => {
  const folder = t.testdir();
  const go = (server: File | undefined, more: Files = {}): Files => ({
    "tool.json": '{ "name": "app", "hooks": { "build": "true" } }',
    "main.go": "",
    ...(server !== undefined && { server }),
    ...more,
  });
  const command = (text: string, more: Files = {}): Files => ({
    "tool.json": JSON.stringify({ name: "app", proxy: { command: text } }),
    ...more,
  });
  const native = (files: Files): Files => ({ ...NODE_APP, ...files });
  const install = "  install the packages for it, such as in hooks.prebuild: npm ci --os=linux --cpu=x64 --libc=glibc";
  const lock = (packages: object) => ({ "node_modules/.package-lock.json": JSON.stringify({ packages }) });
  const rows: { name: string; files: Files; code?: number; stderr: string[] }[] = [
    {
      name: "a build that makes nothing",
      files: go(undefined),
      code: 1,
      stderr: [
        "error: ./server starts the server, and server is not in the deployment",
        "  the file does not exist: does the build create it?",
      ],
    },
    {
      name: "a program that is left out",
      files: go(ELF_X64, { ".toolignore": "# all\n*\n!public" }),
      code: 1,
      stderr: [
        "error: ./server starts the server, and server is not in the deployment",
        "  server is left out: line 2 of .toolignore: *",
      ],
    },
    {
      name: "one in a folder that is left out",
      files: command("node .build/server.js --port 1", { ".build/server.js": "" }),
      code: 1,
      stderr: [
        "error: node .build/server.js --port 1 starts the server, and .build/server.js is not in the deployment",
        "  .build/ is left out: a dotfile: a line such as `!.build` in .toolignore includes it",
      ],
    },
    {
      name: "a static site whose folder is not there",
      files: { "tool.json": '{ "name": "app", "type": "static", "static": { "dir": "./dist/" } }', "index.html": "" },
      code: 1,
      stderr: [
        'tool.json:1:55: warning: there is no directory "./dist/" [config/missing-directory]',
        '  1 | { "name": "app", "type": "static", "static": { "dir": "./dist/" } }',
        "    |                                                       ^^^^^^^^^",
        "    = it must exist after the build",
        "error: static.dir is dist, and the deployment has no file of it",
        "  does the build create it? Write the command that does as hooks.build",
      ],
    },
    {
      name: "a static site whose folder is left out",
      files: {
        "tool.json": '{ "name": "app", "type": "static", "static": { "dir": "public" }, "hooks": { "build": "true" } }',
        "public/index.html": "",
        ".toolignore": "public",
      },
      code: 1,
      stderr: [
        "error: static.dir is public, and the deployment has no file of it",
        "  public/ is left out: line 1 of .toolignore: public",
      ],
    },
    {
      name: "a static site whose files are left out",
      files: {
        "tool.json": '{ "name": "app", "type": "static", "static": { "dir": "public" }, "hooks": { "build": "true" } }',
        "public/.keep": "",
        "public/index.html": "",
        ".toolignore": "public/**",
      },
      code: 1,
      stderr: [
        "error: static.dir is public, and the deployment has no file of it",
        "  public/index.html is left out: line 1 of .toolignore: public/**",
      ],
    },
    {
      name: "databases of the app, and one of a package",
      files: { ...NODE_APP, "data/app.db": "", "test.SQLITE3": "", "node_modules/geo/ip.db": "" },
      stderr: [
        "warning: data/app.db is deployed with the rows that it has now, as is one more, and what an instance writes to it is lost",
        "  keep data in a database service; a line data/app.db in .toolignore leaves it out",
      ],
    },
    {
      name: "a database whose name has what a terminal obeys",
      files: { ...NODE_APP, "data/\u001b[2J\n\u202eapp.db": "" },
      stderr: [
        "warning: data/\u241b[2J\u240a\ufffdapp.db is deployed with the rows that it has now, and what an instance writes to it is lost",
        "  keep data in a database service; a line in .toolignore leaves it out if its name has no hidden characters",
      ],
    },
    {
      name: "a program for this machine",
      files: go(MACH_O_ARM64),
      code: 1,
      stderr: [
        "error: server is a program for macOS on arm64, and the platform is Linux on x86-64",
        "  build it for the platform: for Go, GOOS=linux GOARCH=amd64",
      ],
    },
    { name: "a program for the platform", files: go(ELF_X64), stderr: [] },
    { name: "a script as the server", files: go("#!/bin/sh\n"), stderr: [] },
    { name: "a command of the shell", files: command("cd sub && ./run"), stderr: [] },
    { name: "a program of the platform", files: command("/opt/run"), stderr: [] },
    {
      name: "a file of inject",
      files: {
        "tool.json": '{ "name": "app", "inject": { "head": [{ "type": "inline style", "file": "./in/a.css" }] } }',
        "app.js": "",
        "in/a.css": "a {}",
        ".toolignore": "*.css",
      },
      code: 1,
      stderr: [
        "error: inject puts ./in/a.css into pages, and it is not in the deployment",
        "  in/a.css is left out: line 1 of .toolignore: *.css",
      ],
    },
    {
      name: "a native module for another system",
      files: native({ "node_modules/a/build/Release/a.node": MACH_O_ARM64 }),
      stderr: [
        "warning: node_modules/a/build/Release/a.node is for macOS on arm64, and the platform is Linux on x86-64",
        install,
      ],
    },
    {
      name: "several",
      files: native({
        "node_modules/@b/c/c.node": WINDOWS,
        "node_modules/d/d.node": ELF_ARM64,
        "node_modules/d/e.node": ELF_ARM64,
      }),
      stderr: [
        "warning: node_modules/@b/c/c.node is for Windows, as are 2 more like it, and the platform is Linux on x86-64",
        install,
      ],
    },
    {
      name: "one for another C library",
      files: native({ "node_modules/a/a.node": `${ELF_X64}libc.musl-x86_64.so.1` }),
      stderr: ["warning: node_modules/a/a.node is for Linux with musl, and the platform is Linux on x86-64", install],
    },
    {
      name: "a package with one for each system",
      files: native({
        "node_modules/a/prebuilds/darwin-arm64/a.node": MACH_O_ARM64,
        "node_modules/a/prebuilds/linux-x64/a.node": ELF_X64,
        "node_modules/a/prebuilds/win32-x64/a.node": WINDOWS,
      }),
      stderr: [],
    },
    {
      name: "a package for each system",
      files: native({
        "node_modules/@img/sharp-darwin-arm64/lib/sharp.node": MACH_O_ARM64,
        "node_modules/@img/sharp-linux-x64/lib/sharp.node": ELF_X64,
        "node_modules/@img/sharp-linuxmusl-x64/lib/sharp.node": `${ELF_X64}libc.musl-x86_64.so.1`,
      }),
      stderr: [],
    },
    {
      name: "a library for another Python",
      files: {
        "tool.json": '{ "name": "app", "hooks": { "build": "true" }, "proxy": { "command": "python3 app.py" } }',
        "requirements.txt": "",
        "app.py": "",
        ".pypath/numpy/core.cpython-311-x86_64-linux-gnu.so": ELF_X64,
      },
      stderr: [
        "warning: .pypath/numpy/core.cpython-311-x86_64-linux-gnu.so is for Python 3.11, and the platform is Linux on x86-64",
        "  install libraries by the inferred build, or as it does: tool run build",
      ],
    },
    {
      name: "much for development alone",
      files: native({
        ...lock({
          "": {},
          "node_modules/a": {},
          "node_modules/b": { dev: true },
          "node_modules/a/node_modules/c": { dev: true },
        }),
        "node_modules/a/a.js": "a",
        "node_modules/b/b.js": "b".repeat(10 * 2 ** 20),
        "node_modules/a/node_modules/c/deep/c.js": "c".repeat(5 * 2 ** 20),
      }),
      stderr: [
        "warning: 15 MB of 15 MB are 2 development packages",
        '  exclude them: "postbuild": "npm prune --omit=dev" in hooks, with "clean": "npm install" to restore them',
      ],
    },
    {
      name: "packages that are not installed",
      files: {
        "tool.json": '{ "name": "app" }',
        "app.js": "",
        "package.json": JSON.stringify({
          dependencies: { express: "^5", "@acme/orders": "1", pg: "8", fsevents: "2" },
          devDependencies: { esbuild: "1" },
          optionalDependencies: { fsevents: "2" },
        }),
        "node_modules/pg/package.json": "{}",
        "node_modules/@acme/other/package.json": "{}",
      },
      stderr: [
        "warning: package.json depends on express, @acme/orders, which are not in the deployment",
        "  npm install adds what is missing; what a bundle contains belongs to devDependencies",
      ],
    },
    {
      name: "packages that are left out",
      files: {
        "tool.json": '{ "name": "app" }',
        "app.js": "",
        "package.json": '{ "dependencies": { "@acme/orders": "1" } }',
        "node_modules/@acme/orders/package.json": "{}",
        ".toolignore": "node_modules\n",
      },
      stderr: [
        "warning: package.json depends on @acme/orders, which is not in the deployment",
        "  node_modules/ is left out: line 1 of .toolignore: node_modules",
      ],
    },
    {
      name: "packages of Yarn's archives",
      files: {
        "tool.json": '{ "name": "app" }',
        "app.js": "",
        "package.json": '{ "dependencies": { "@acme/orders": "1" } }',
        ".pnp.cjs": "",
      },
      stderr: [],
    },
    {
      name: "little for development alone",
      files: native({ ...lock({ "node_modules/b": { dev: true } }), "node_modules/b/b.js": "b".repeat(9 * 2 ** 20) }),
      stderr: [],
    },
    {
      name: "a folder that is made to be asked for",
      files: { "tool.json": '{ "name": "site" }', "index.html": "", ".well-known/security.txt": "" },
      stderr: [
        "warning: .well-known/ is excluded: dotfile",
        "  write the line !.well-known into .toolignore to take it along",
      ],
    },
    {
      name: "lines that bring nothing back",
      files: native({
        ".toolignore": "build/\n!build/keep.txt\nlib/*\n!lib/a/\n*.css\n!in/\n!public/\n!empty/\n!*.nothing\n!deep/*.x",
        "build/keep.txt": "",
        "lib/a/b.txt": "",
        "in/a.css": "",
        "in/b.css": "",
        "public/a.css": "",
        "public/a.html": "",
        "empty/": "",
      }),
      stderr: [
        "warning: line 2 of .toolignore, !build/keep.txt, has no effect",
        "  build/ is excluded with everything in it: line 1 of .toolignore: build/",
        "warning: line 6 of .toolignore, !in/, has no effect",
        "  it re-includes the folder in/ but not its contents: write !in/**",
      ],
    },
    { name: "the same of an app", files: native({ ".well-known/security.txt": "" }), stderr: [] },
  ];
  for (const [i, { name, files, code = 0, stderr }] of rows.entries()) {
    const cwd = join(folder, String(i));
    lay(cwd, files);
    for (const [path, file] of Object.entries(files)) {
      if (typeof file === "string" && /[^\0-\x7f]|\0/.test(file)) writeFileSync(join(cwd, path), file, "latin1");
    }
    const outcome = await tool(["build", "--size"], { cwd });
    const lines = outcome.stderr.split("\n").filter((line) => line !== "" && !/^build: |^\d+ files, /.test(line));
    t.same({ code: outcome.code, lines }, { code, lines: stderr }, name);
  }
});

t.test("where it goes", async (t) => {
  const cwd = lay(t.testdir(), { ...NODE_APP, "lib/a.txt": "a".repeat(2048) });
  const zip = archiveOf(cwd);
  t.notOk(existsSync(join(cwd, "out.zip")), "a stdout that leads elsewhere gets it");
  const json = await tool(["build", "--format", "json"], { cwd });
  const { path, bytes, sha256, ...rest } = JSON.parse(json.stdout);
  t.equal(path, join(cwd, "out.zip"));
  t.ok(readFileSync(path).equals(zip));
  t.equal(bytes, zip.length);
  t.equal(sha256, createHash("sha256").update(zip).digest("base64"));
  const unpacked = unzip(zip).map(({ name, content }) => ({ name, bytes: content.length }));
  const unpackedBytes = unpacked.reduce((sum, file) => sum + file.bytes, 0);
  t.same(rest, { stage: "staging", runtime: "nodejs24.x", unpackedBytes, files: 5 });

  rmSync(path);
  const size = await tool(["build", "--size=folders"], { cwd });
  const bySize = [...unpacked].sort((a, b) => b.bytes - a.bytes);
  t.same(
    size.stdout.split("\n").map((line) => line.replace(/^ *[\d.]+ \w+ {2}/, "")),
    [".tool/ (2 files)", "  bootstrap.cjs", "  deployment.json", "lib/ (1 file)", "tool.json", "app.js", ""],
  );
  t.match(size.stdout, /^ +2 KB {2}lib\/ \(1 file\)$/m);
  const flat = (await tool(["build", "--size"], { cwd })).stdout.split("\n").slice(0, -1);
  t.same(
    flat.map((line) => line.trim()),
    bySize.map((file) => `${humanBytes(file.bytes)}  ${file.name}`),
    "each file, largest first",
  );
  const all = await tool(["build", "--size=folders", "--verbose"], { cwd });
  t.match(all.stdout, /^ +2 KB {2}lib\/ \(1 file\)\n +2 KB {4}a\.txt$/m, "every file with --verbose");
  const sizes = JSON.parse((await tool(["build", "--size", "--format", "json"], { cwd })).stdout);
  t.same(sizes.files, bySize);
  t.same(sizes.leftOut, []);
  t.notOk(existsSync(path), "--size writes no archive");

  await t.test("a terminal", { skip: requires("script") }, async (t) => {
    const { stdout } = await shell('script -qec "node $CLI build" /dev/null', {
      cwd,
      env: { CLI: cliPath, TERM: "xterm", NO_COLOR: "1" },
    });
    t.match(stdout.replaceAll("\r", ""), /build: 5 files, [\d.]+ KB \([\d.]+m?s\)\nout\.zip written\n$/);
    t.ok(readFileSync(path).equals(zip));
  });
});

t.test("a command of a build that takes long shows what it writes", async (t) => {
  type Step = BuildEvent | { readonly waitMs: number };
  const begins: Step = { kind: "command", hook: "build", command: "go build -trimpath -ldflags=-s -o server ." };
  const ends: Step = { kind: "commanded", hook: "build", command: "go build", durationMs: 61_000 };
  const writes = (text: string): Step => ({ kind: "output", text });
  const wait = (seconds: number): Step => ({ waitMs: seconds * 1000 });
  const LIVE = "build: go build -trimpath -ldflags=-s -o server .";
  const SHORT = "build: go build -trimpath -ldflags=-…";
  const rows: Record<string, { at: "terminal" | "log" | "json" | "verbose"; steps: Step[]; shown: string[] }> = {
    "its newest line, from five seconds on, each second": {
      at: "terminal",
      steps: [begins, writes("one\ntwo\n"), wait(4.9), wait(0.1), writes("three"), wait(1), wait(1), ends, wait(60)],
      shown: [LIVE, `${SHORT} (5s): two`, `${SHORT} (6s): three`, `${SHORT} (7s): three`, "build: go build (1m 1s)"],
    },
    "the seconds, if it writes nothing": {
      at: "terminal",
      steps: [begins, wait(6), { kind: "packed", files: 1, bytes: 10, durationMs: 5 }],
      shown: [LIVE, `${SHORT} (5s)`, `${SHORT} (6s)`, "build: 1 file, 10 B (5ms)"],
    },
    "colours, carriage returns and blank lines": {
      at: "terminal",
      steps: [begins, writes("10 %\r\u001b[32m20"), writes(" %\u001b[0m\u0007\r\n\n  \n"), wait(5)],
      shown: [LIVE, `${SHORT} (5s): 20 %`],
    },
    "nothing of the command before": {
      at: "terminal",
      steps: [begins, writes("old"), wait(2), begins, wait(5)],
      shown: [LIVE, LIVE, `${SHORT} (5s)`],
    },
    "where lines stay, one each half minute": {
      at: "log",
      steps: [begins, wait(29), writes("compiling\n"), wait(31), ends, wait(600)],
      shown: [
        "build: go build -trimpath -ldflags=-s -o server .",
        "build: still running (30s): compiling",
        "build: still running (1m): compiling",
      ],
    },
    "where lines stay, and it writes nothing": {
      at: "log",
      steps: [begins, wait(30)],
      shown: ["build: go build -trimpath -ldflags=-s -o server .", "build: still running (30s)"],
    },
    "not with --format json": {
      at: "json",
      steps: [begins, writes("compiling\n"), wait(600), ends],
      shown: ["build: go build -trimpath -ldflags=-s -o server ."],
    },
    "with --verbose its output is there already": {
      at: "verbose",
      steps: [begins, wait(600), ends],
      shown: ["build: go build -trimpath -ldflags=-s -o server .", "build: done in 1m 1s"],
    },
  };
  for (const [name, { at, steps, shown }] of Object.entries(rows)) {
    const clock = new TestClock();
    let text = "";
    const write = async (more: string) => {
      text += more;
    };
    const progress = buildProgress({
      io: { stderr: { isTerminal: at === "terminal", columns: 100, color: false, write }, clock, nowMs: clock.nowMs },
      verbose: at === "verbose",
      format: at === "json" ? "json" : undefined,
      say: (line: string) => write(`${line}\n`),
    } as unknown as Context);
    for (const step of steps) {
      if ("waitMs" in step) await clock.advance(step.waitMs);
      else progress.report(step);
    }
    progress.end();
    t.same(clock.timers, [], `${name}: nothing waits any more`);
    const lines = text.split(/[\r\n]|\u001b\[K/).filter((line) => line !== "");
    t.same(lines, shown, name);
  }
});

t.test("what a command writes is passed on as it comes, and kept", async (t) => {
  const io = { stderr: { isTerminal: false }, clock: systemClock, onSignal: () => () => {} };
  let text = "";
  const end = await runInShell(
    io as unknown as Context["io"],
    "printf 'caf\\303'; printf '\\251\\n'; echo no >&2; exit 3",
    {
      directory: t.testdir(),
      env: process.env,
      output: "kept",
      onOutput: (more) => {
        text += more;
      },
    },
  );
  t.equal(end.code, 3);
  for (const one of [text, end.output]) t.same(one.split("\n").sort(), ["", "café", "no"]);
});

t.test("names of files in sizes are one line each, in which all is seen", (t) => {
  const files = [
    { name: "a\u001b[31m\n.js", bytes: 20 },
    { name: "caf\u00e9\u202egpj.exe", bytes: 3 },
  ];
  const names = ["20 B  a\u241b[31m\u240a.js", " 3 B  caf\u00e9\ufffdgpj.exe"];
  t.same(sizesOf(files), names);
  t.same(sizesByFolder(files, { isWhole: false }), names);
  t.end();
});

t.test("sizes by folder", (t) => {
  const many = Array.from({ length: 30 }, (_, i) => ({
    name: `node_modules/p/f${String(i).padStart(2, "0")}.js`,
    bytes: 100 - i,
  }));
  const files = [
    ...many,
    { name: "node_modules/p/deep/a/b.js", bytes: 5000 },
    { name: "lib/x.js", bytes: 10 },
    { name: "empty/", bytes: 0 },
  ];
  t.same(sizesByFolder(files, { isWhole: false }), [
    "7.39 KB  node_modules/ (31 files)",
    "7.39 KB    p/ (31 files)",
    "4.88 KB      deep/ (1 file)",
    "4.88 KB        a/ (1 file)",
    "4.88 KB          b.js",
    ...many.slice(0, 9).map(({ name, bytes }) => `${`${bytes} B`.padStart(7)}      ${name.slice(15)}`),
    "1.66 KB      and 21 more",
    "   10 B  lib/ (1 file)",
    "    0 B  empty/",
  ]);
  t.equal(sizesByFolder(files, { isWhole: true }).length, 4 + 1 + 30 + 2 + 1, "every file");
  t.same(sizesByFolder([], { isWhole: false }), []);
  t.end();
});

t.test("what is being written is left out", async (t) => {
  const cwd = lay(t.testdir(), NODE_APP);
  for (const line of [
    "tool build > app.zip",
    "tool build > app.zip",
    "mkdir -p out && tool build > out/b.zip 2> build.log",
  ]) {
    const { code, stderr } = await shell(line, { cwd });
    t.equal(code, 0, line) || t.comment(stderr);
  }
  const names = (file: string) => listing(readFileSync(join(cwd, file)));
  t.same(names("app.zip"), [...RUNTIME, "app.js", "tool.json"], "the archive itself, written twice");
  t.same(names("out/b.zip"), [...RUNTIME, "app.js", "app.zip", "tool.json"], "in a folder, and what is said");
  t.match(
    (await shell("tool build --verbose 2>&1 > app.zip", { cwd })).stdout,
    /^left out: app\.zip \(the output of this command\)$/m,
  );
});

t.test("other readers", slow(), async (t) => {
  const folder = t.testdir();
  const cwd = lay(join(folder, "app"), {
    ...NODE_APP,
    "bin/run": { text: "#!/bin/sh\n", mode: 0o755 },
    "grüße/😀.txt": "hi",
    "empty/": "",
    link: { link: "bin/run" },
    "text.txt": "text\n".repeat(1000),
  });
  const archives: [string, Buffer, number][] = [["an app", archiveOf(cwd), 9]];
  // One more than 16 bits count: the format's larger record.
  const data = Buffer.from("x");
  for (const count of [65_534, 65_535]) {
    const entries = Array.from({ length: count }, (_, i) => ({
      name: `f/${i}`,
      mode: 0o100644,
      crc32: crc32(data),
      unpackedBytes: 1,
      isDeflated: false,
      data,
    }));
    archives.push([`${count} files`, writeZip(entries), count]);
  }
  for (const [i, [name, zip, count]] of archives.entries()) {
    const path = join(folder, `${i}.zip`);
    writeFileSync(path, zip);
    await t.test(`unzip reads ${name}`, { skip: requires("unzip") }, (t) => {
      t.match(execFileSync("unzip", ["-tqq", path], { encoding: "utf8" }), /^$/);
      const header = execFileSync("unzip", ["-Zh", path], { encoding: "utf8" });
      t.match(header, `number of entries: ${count}`);
      t.end();
    });
    await t.test(`Python reads ${name}`, { skip: requires("python3") }, (t) => {
      const script =
        "import sys,zipfile; z=zipfile.ZipFile(sys.argv[1]); print(z.testzip(), len(z.namelist()), z.infolist()[0].date_time)";
      const read = execFileSync("python3", ["-c", script, path], { encoding: "utf8" });
      t.equal(read, `None ${count} (1980, 1, 1, 0, 0, 0)\n`);
      t.end();
    });
  }
  await t.test("unzip lays out permissions and links", { skip: requires("unzip") }, (t) => {
    execFileSync("unzip", ["-qq", join(folder, "0.zip"), "-d", join(folder, "out")]);
    t.equal(statSync(join(folder, "out/bin/run")).mode & 0o777, 0o755);
    t.equal(statSync(join(folder, "out/text.txt")).mode & 0o777, 0o644);
    t.equal(readlinkSync(join(folder, "out/link")), "bin/run");
    t.equal(readFileSync(join(folder, "out/grüße/😀.txt"), "utf8"), "hi");
    t.ok(statSync(join(folder, "out/empty")).isDirectory());
    t.end();
  });
});

t.test("how the platform runs it", async (t) => {
  const folder = t.testdir();
  const rows: { files: Files; runtime: string; own: boolean; deployment: object; argv?: string[] }[] = [
    {
      files: { "tool.json": '{ "name": "app", "proxy": { "timeout": 20 } }', "app.js": "" },
      runtime: "nodejs24.x",
      own: true,
      deployment: {
        config: { name: "app", proxy: { timeout: 20 }, type: "server" },
        stage: "staging",
        command: "node app.js",
      },
    },
    {
      files: {
        "tool.json":
          '{ "name": "app", "stages": { "production": { "domain": "a.example", "proxy": { "command": "node p.js" } } }, "alerts": [], "dns": {}, "environment": { "SECRET": "1" } }',
        "app.js": "",
        "p.js": "",
      },
      argv: ["-s", "production"],
      runtime: "nodejs24.x",
      own: true,
      deployment: {
        config: { name: "app", proxy: { command: "node p.js" }, type: "server" },
        stage: "production",
        command: "node p.js",
      },
    },
    ...(
      [
        ['{ "start": "next start -p $PORT" }', 'export PATH="$PWD/node_modules/.bin:$PATH"; next start -p $PORT'],
        ['{ "start": "node a.js", "prestart": "node b.js" }', "npm start"],
        ['{ "start": "node a.js", "poststart": "node b.js" }', "npm start"],
        ['{ "start": "node a.js $npm_package_name" }', "npm start"],
      ] as const
    ).map(([scripts, command]) => ({
      files: { "tool.json": '{ "name": "app" }', "package.json": `{ "scripts": ${scripts} }` },
      runtime: "nodejs24.x",
      own: true,
      deployment: { config: { name: "app", type: "server" }, stage: "staging", command },
    })),
    {
      files: {
        "tool.json": '{ "name": "app", "proxy": { "command": "npm start" } }',
        "package.json": '{ "scripts": { "start": "node a.js" } }',
      },
      runtime: "nodejs24.x",
      own: true,
      deployment: {
        config: { name: "app", proxy: { command: "npm start" }, type: "server" },
        stage: "staging",
        command: "npm start",
      },
    },
    {
      files: { "tool.json": '{ "name": "site" }', "index.html": "" },
      runtime: "nodejs24.x",
      own: true,
      deployment: { config: { name: "site", type: "static" }, stage: "staging" },
    },
    {
      files: { "tool.json": '{ "name": "app", "hooks": { "build": "touch server" } }', "main.go": "" },
      runtime: "nodejs24.x",
      own: true,
      deployment: { config: { name: "app", type: "server" }, stage: "staging", command: "./server" },
    },
    {
      files: { "tool.json": '{ "name": "app", "hooks": { "build": "touch server.jar" } }', "pom.xml": "" },
      runtime: "java25",
      own: false,
      deployment: { config: { name: "app", type: "server" }, stage: "staging", command: "java -jar server.jar" },
    },
    {
      files: { "tool.json": '{ "name": "app", "proxy": { "command": "python3 app.py" } }', "app.py": "" },
      runtime: "python3.14",
      own: false,
      deployment: {
        config: { name: "app", proxy: { command: "python3 app.py" }, type: "server" },
        stage: "staging",
        command: "python3 app.py",
        environment: { PYTHONPATH: ".pypath" },
      },
    },
  ];
  for (const [i, { files, runtime, own, deployment, argv = [] }] of rows.entries()) {
    const name = Object.keys(files)[1]!;
    const cwd = lay(join(folder, String(i)), files);
    const { stdout } = await tool(["build", "--format", "json", ...argv], { cwd });
    t.equal(JSON.parse(stdout).runtime, runtime, name);
    const entries = unzip(readFileSync(join(cwd, "out.zip")));
    const find = (path: string) => entries.find((entry) => entry.name === path);
    t.equal(find(".tool/bootstrap.cjs") !== undefined, own, `${name}: the runtime's file`);
    t.same(JSON.parse(String(find(".tool/deployment.json")?.content)), deployment, `${name}: deployment.json`);
  }
});

t.test("the examples as they are deployed", async (t) => {
  const rows: Record<string, { path: string; status: number; body?: RegExp }[]> = {
    "node-server": [
      { path: "/", status: 200, body: /<h1>Orders<\/h1>/ },
      { path: "/assets/app.js", status: 200, body: /querySelectorAll/ },
      { path: "/api/orders/42?fail=1", status: 500 },
      { path: "/order/46", status: 301 },
    ],
    "static-site": [
      { path: "/", status: 200, body: /Field notes/ },
      { path: "/guide/", status: 200, body: /Rivers/ },
      { path: "/tool.json", status: 404 },
      { path: "/.tool/deployment.json", status: 404 },
    ],
  };
  for (const [example, requests] of Object.entries(rows)) {
    const app = await runBuilt(t, join(root, "examples", example));
    for (const { path, status, body } of requests) {
      const response = await ask(app.port, { path });
      t.equal(response.status, status, `${example} ${path}`);
      if (body !== undefined) t.match(response.body.toString(), body, `${example} ${path}: body`);
    }
  }
});

t.test("validators of a deployed file are of its content, as all files have the same time", async (t) => {
  const cwd = lay(t.testdir(), {
    "tool.json": '{ "name": "site", "type": "static" }',
    "index.html": "one",
    "same.html": "one",
    "large.txt": "1".repeat(1_500_000),
  });
  const asker = async () => {
    const { port } = await runBuilt(t, cwd);
    return async (path: string, headers: Record<string, string> = {}) => {
      const response = await ask(port, { path, headers });
      const find = (name: string) => response.headers.find(([header]) => header.toLowerCase() === name)?.[1];
      return { status: response.status, tag: find("etag"), modified: find("last-modified") };
    };
  };
  const before = await asker();
  const first = await before("/");
  t.match(first, { status: 200, tag: /^"[0-9a-f]{16}"$/, modified: undefined });
  t.equal((await before("/same.html")).tag, first.tag);
  const archived = "Tue, 01 Jan 1980 00:00:00 GMT";
  const rows: [Record<string, string>, number][] = [
    [{ "If-None-Match": first.tag! }, 304],
    [{ "If-Modified-Since": archived }, 200],
    [{ "If-Unmodified-Since": "Thu, 01 Jan 1970 00:00:00 GMT" }, 200],
    [{ Range: "bytes=0-0", "If-Range": archived }, 200],
    [{ Range: "bytes=0-0", "If-Range": first.tag! }, 206],
  ];
  for (const [headers, status] of rows) t.equal((await before("/", headers)).status, status, JSON.stringify(headers));
  const large = await before("/large.txt");
  t.match(large.tag, /^"[0-9a-f]{16}"$/);

  writeFileSync(join(cwd, "index.html"), "two");
  writeFileSync(join(cwd, "large.txt"), "2".repeat(1_500_000));
  const after = await asker();
  const second = await after("/", { "If-None-Match": first.tag! });
  t.equal(second.status, 200, "the same size, another content");
  t.not(second.tag, first.tag);
  t.equal((await after("/large.txt", { "If-None-Match": large.tag! })).status, 200);
});
