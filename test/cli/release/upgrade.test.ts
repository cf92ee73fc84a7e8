// tool upgrade, by the real command in an installation, against a Git host over TLS.
import { spawn, spawnSync } from "node:child_process";
import { randomBytes } from "node:crypto";
import {
  chmodSync,
  cpSync,
  existsSync,
  linkSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  realpathSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import t from "tap";
import upgradeSchema from "../../../cli/output/schemas/upgrade.schema.json" with { type: "json" };
import { fillInstaller } from "../../../cli/release/installer.ts";
import { type Receipt, receiptText } from "../../../cli/release/receipt.ts";
import { compareVersions } from "../../../cli/release/version-order.ts";
import { cleanEnv, root, tool } from "../../support/cli.ts";
import { gitHostFaults } from "../../support/git-host-faults.ts";
import { randomOf } from "../../support/random.ts";
import { CERTIFICATE, type ReleaseOptions, SYSTEM, withChangedByte } from "../../support/release-host.ts";
import { requires } from "../../support/require.ts";
import { slow } from "../../support/slow.ts";
import { until } from "../../support/until.ts";
import {
  BUNDLES,
  bin,
  KEYS,
  privateKey,
  release,
  says,
  startUpgradable,
  type Upgradable,
} from "../../support/upgradable.ts";

const TOKEN = "ghp_0123456789abcdefXYZ";
const NAME = SYSTEM.replace("-", "_");
const skip = requires("tar") || requires("xz");

/** Options of a slow test. */
const isSlow = () => (skip === false ? slow() : { skip });

/** The files below a folder but the bundles, with the targets of links. */
function tree(folder: string, below = ""): string[] {
  if (!existsSync(folder)) return [];
  return readdirSync(folder)
    .sort()
    .flatMap((name) => {
      const path = join(folder, name);
      const shown = `${below}${name}`;
      if (lstatSync(path).isSymbolicLink()) return [`${shown} -> ${readlinkSync(path)}`];
      return lstatSync(path).isDirectory() ? tree(path, `${shown}/`) : name.endsWith(".cjs") ? [] : [shown];
    });
}

const of = (version: string) =>
  version === "1.2.3"
    ? ["lib/tool/1.2.3/bin/tool", "lib/tool/1.2.3/lib/release.json"]
    : ["bin/tool", "lib/a.js", "share/man/man1/tool.1"].map((name) => `lib/tool/${version}/${name}`);
const installed = (folder: string, version: string, previous: string) =>
  [
    `bin/tool -> ../lib/tool/${version}/bin/tool`,
    ...of(version),
    ...of(previous),
    "lib/tool/receipt.json",
    `share/man/man1/tool.1 -> ${folder}/lib/tool/${version}/share/man/man1/tool.1`,
  ].sort();

const DONE = "download (TIME)\ninstall (TIME)\n";

t.test("versions are in the order of SemVer, whatever the edition", (t) => {
  const sorted =
    `0.9.9 1.0.0-alpha 1.0.0-alpha.1 1.0.0-alpha.beta 1.0.0-beta 1.0.0-beta.2 1.0.0-beta.11 1.0.0-rc.1 1.0.0 1.2.0
    1.10.0 2.0.0-0 2.0.0`.split(/\s+/);
  for (const [i, a] of sorted.entries())
    for (const [j, b] of sorted.entries())
      for (const [left, right] of [
        [a, b],
        [`${a}-pro`, b],
        [`v${a}`, `${b}-pro`],
      ] as const)
        t.equal(Math.sign(compareVersions(left, right)), Math.sign(i - j), `${left} and ${right}`);
  t.end();
});

t.test("to the newest, to an older one, and back", { skip }, async (t) => {
  const { host, path, upgrade, version } = await startUpgradable(t);
  t.same(await upgrade(["--check"]), {
    code: 1,
    stdout: "tool 1.3.0 can be installed: tool upgrade\n",
    stderr: "",
  });
  const checked = await upgrade(["--check", "--format", "json"]);
  t.same(JSON.parse(checked.stdout), {
    status: "available",
    version: "1.3.0",
    edition: "pro",
    previous: "1.2.3",
    command: "/usr/bin/tool",
  });
  t.same(Object.keys(JSON.parse(checked.stdout)), upgradeSchema.required);
  const planned = await upgrade(["--dry-run"]);
  t.match(
    planned.stdout,
    /^would install tool 1\.3\.0 in place of 1\.2\.3: \/usr\/bin\/tool \(tool_1\.3\.0_\w+\.tar\.xz, \d+ bytes\)\n$/,
  );
  t.equal(planned.code, 0);
  t.equal(version(), "1.2.3-pro", "nothing has changed yet");
  t.same(readdirSync(path("usr/lib/tool")).sort(), ["1.2.3", "receipt.json"]);

  const stdout = "tool 1.3.0 is installed in place of 1.2.3: /usr/bin/tool\n";
  t.same(await upgrade([], { env: { GIT_HOST_TOKEN: TOKEN } }), { code: 0, stdout, stderr: DONE });
  t.equal(version(), "1.3.0-pro");
  t.same(tree(path("usr")), installed(path("usr"), "1.3.0", "1.2.3"));
  const withToken = host.requests.filter(({ authorization }) => authorization !== undefined);
  t.same([...new Set(withToken.map(({ host, authorization }) => `${host} ${authorization}`))], [`api Bearer ${TOKEN}`]);
  const receipt = JSON.parse(readFileSync(path("usr/lib/tool/receipt.json"), "utf8"));
  t.match(receipt, {
    ...{ receipt: 1, version: "1.3.0", edition: "pro", kind: "tool", platform: SYSTEM, origin: host.origin },
    ...{ command: path("usr/bin/tool"), folder: path("usr/lib/tool/1.3.0") },
    links: [path("usr/share/man/man1/tool.1")],
    previous: { version: "1.2.3", folder: path("usr/lib/tool/1.2.3") },
  });
  t.same(Object.keys(receipt.files), ["bin/tool", "lib/a.js", "share/man/man1/tool.1"]);
});

t.test("what a killed run left of links is made, and goes", { skip }, async (t) => {
  const { path, upgrade, version } = await startUpgradable(t);
  t.equal((await upgrade()).code, 0);
  const whole = tree(path("usr"));
  const left = () => {
    // A link is made beside its place, and renamed.
    symlinkSync("../lib/tool/1.3.0/bin/tool", path("usr/bin/tool.new.4194304"));
    symlinkSync(path("usr/lib/tool/1.3.0/share/man/man1/tool.1"), path("usr/share/man/man1/tool.1.new.4194304"));
    writeFileSync(path("usr/lib/tool/.lock.4194304"), "4194305\n");
    writeFileSync(path("usr/lib/tool/.lock"), "4194304\n");
  };
  left();
  // The receipt was written, and the command is the old one.
  rmSync(path("usr/bin/tool"));
  symlinkSync("../lib/tool/1.2.3/bin/tool", path("usr/bin/tool"));
  symlinkSync("/dev/null", path("usr/bin/tool.new.own"));
  t.match(await upgrade(["--check"]), { code: 1, stdout: "tool 1.3.0 can be installed: tool upgrade\n" });
  t.match(await upgrade(), { code: 0, stdout: "tool 1.3.0 is installed in place of 1.2.3: /usr/bin/tool\n" });
  t.equal(version(), "1.3.0-pro");
  t.same(tree(path("usr")), [...whole, "bin/tool.new.own -> /dev/null"].sort());
  // The command that was there runs from elsewhere, and that of the prefix was not linked yet.
  rmSync(path("usr/bin/tool.new.own"));
  rmSync(path("usr/bin/tool"));
  symlinkSync("../usr/lib/tool/1.2.3/bin/tool", path("home/tool"));
  const again = await new Promise<string>((done) => {
    const child = spawn(path("home/tool"), ["upgrade"], {
      env: cleanEnv({ HOME: path("home"), NODE_EXTRA_CA_CERTS: path("authorities.pem") }),
      stdio: ["ignore", "pipe", "inherit"],
    });
    text(child.stdout).then(done);
  });
  t.equal(again.replace(path(""), ""), "tool 1.3.0 is installed: /usr/bin/tool\n");
  t.same(tree(path("usr")), whole);
});

t.test("folders that were made for it stay in the receipt", { skip }, async (t) => {
  const { upgrade, path } = await startUpgradable(t);
  const receipt = () => JSON.parse(readFileSync(path("usr/lib/tool/receipt.json"), "utf8"));
  const folders = [path("usr/bin"), path("usr/lib")];
  const first = receipt();
  writeFileSync(path("usr/lib/tool/receipt.json"), receiptText({ ...first, folders: "/" }));
  t.match(await upgrade(), { code: 1, stderr: /receipt\.json is damaged/ });
  writeFileSync(path("usr/lib/tool/receipt.json"), receiptText({ ...first, folders }));
  t.equal((await upgrade()).code, 0);
  const made = ["usr/share", "usr/share/man", "usr/share/man/man1"].map(path);
  t.same(receipt().folders, [...folders, ...made]);
});

/** As the command of an installed version would, by its own parts: the small archives have no bundles. */
const install = (path: Upgradable["path"], version: string, last = 0) => {
  const archive = path(`tool_${version}_${NAME}.tar.gz`);
  const script = join(root, "dist/test/support/killed-upgrade.js");
  return spawnSync(process.execPath, [script, path("usr"), version, archive, String(last)], { encoding: "utf8" });
};

t.test(
  "killed before each of its steps, the command is the old one or the new one, and the next run completes it",
  { skip },
  async (t) => {
    const { host, path, version } = await startUpgradable(t);
    for (const number of ["1.3.0", "1.4.0"]) {
      const name = `tool_${number}_${NAME}.tar.gz`;
      writeFileSync(path(name), (host.releases.get(number) ?? release(number)).get(name)!);
    }
    t.equal(install(path, "1.3.0").status, 0);
    cpSync(path("usr"), path("begin"), { recursive: true, verbatimSymlinks: true });
    for (let last = 1; ; last++) {
      rmSync(path("usr"), { recursive: true });
      cpSync(path("begin"), path("usr"), { recursive: true, verbatimSymlinks: true });
      const { signal, stdout, stderr } = install(path, "1.4.0", last);
      const step = stdout.trim().split("\n").at(-1);
      t.match(version(), /^1\.[34]\.0-pro$/, `killed before: ${step}`);
      if (signal === null) {
        t.equal(stderr, "");
        t.ok(last > 9, `${last - 1} steps`);
      } else {
        const again = install(path, "1.4.0");
        t.equal(again.status, 0, again.stderr);
      }
      t.equal(version(), "1.4.0-pro");
      t.same(tree(path("usr")), installed(path("usr"), "1.4.0", "1.3.0"), `completed after: ${step}`);
      if (signal === null) break;
    }
  },
);

interface Row {
  readonly name: string;
  readonly words?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  readonly limit?: string;
  readonly prepare?: (world: Upgradable) => unknown;
  readonly code?: number;
  readonly stdout?: string;
  /** The beginning. */
  readonly stderr?: string;
}

const releasing =
  (more: Partial<ReleaseOptions>) =>
  ({ host }: Upgradable) =>
    host.releases.set("1.3.0", release("1.3.0", more));
/** With a sum that is right: what a receipt names is refused for what it is. */
const receiptWith =
  (change: Partial<Receipt>) =>
  ({ path }: Upgradable) => {
    const file = path("usr/lib/tool/receipt.json");
    const { sum: _, ...receipt } = JSON.parse(readFileSync(file, "utf8"));
    writeFileSync(file, receiptText({ ...receipt, ...change }));
  };
const ANEW = "run this again; if it stays so, report it to the project";

const REFUSED: Row[] = [
  ...gitHostFaults({ by: "command", version: "1.3.0", key: privateKey, release: (more) => release("1.3.0", more) }),
  {
    name: "no such version",
    words: ["-t", "9.9.9"],
    stderr: "error: there is no version 9.9.9\n  see the releases of the project, or leave -t out for the newest\n",
  },
  {
    name: "a version that is none",
    words: ["-t", "../x"],
    code: 2,
    stderr: 'error: "../x" is not a version\n  write it as 1.2.3\n',
  },
  {
    name: "a prefix of two lines",
    words: ["--prefix", "a\nb"],
    code: 2,
    stderr: "error: --prefix has a line end or another control character\n  choose another folder\n",
  },
  {
    name: "no network",
    prepare: ({ path }) => {
      const file = path("usr/lib/tool/1.2.3/lib/release.json");
      writeFileSync(file, readFileSync(file, "utf8").replace(/localhost:\d+/, "localhost:4"));
    },
    stderr: "error: the download of https://localhost:4/repos/acme/tool/releases/latest failed: connect ECONNREFUSED",
  },
  {
    name: "a certificate that nobody knows",
    env: { NODE_EXTRA_CA_CERTS: "/dev/null" },
    stderr: "error: the download of https://localhost:PORT/repos/acme/tool/releases/latest failed: ",
  },
  {
    name: "an archive that is longer",
    prepare: releasing({ says: { bytes: 9 } }),
    stderr: `error: tool_1.3.0_${NAME}.tar.xz is not the file that was signed: its size differs\n  ${ANEW}\n`,
  },
  {
    name: "a large archive where there is no room",
    limit: "ulimit -f 512",
    prepare: releasing({ files: { "bin/tool": says("1.3.0"), "lib/large": randomBytes(1_000_000) } }),
    stderr:
      "error: there is no room in /usr/lib/tool\n  make some, then run this again; the version that was there stays\n",
  },
  {
    name: "an archive with a large file where there is no room",
    limit: "ulimit -f 512",
    prepare: releasing({ files: { "bin/tool": says("1.3.0"), "lib/large": Buffer.alloc(1_000_000) } }),
    stderr: `error: tool_1.3.0_${NAME}.tar.xz cannot be unpacked in /usr/lib/tool: `,
  },
  {
    name: "a new version that runs only where it was unpacked",
    prepare: releasing({
      files: { "bin/tool": "#!/bin/sh\ncase $0 in */unpacked/*) echo 1.3.0 ;; *) exit 1 ;; esac\n" },
    }),
    stderr: "error: tool 1.3.0 does not run here: ",
  },
  {
    name: "a new version that says another one",
    prepare: releasing({ files: { "bin/tool": says("1.2.9") } }),
    stderr: "error: the new command says that it is 1.2.9-pro, not 1.3.0\n  report it to the project\n",
  },
  {
    name: "the newest is installed",
    prepare: ({ host }) => host.releases.delete("1.3.0"),
    code: 0,
    stdout: "tool 1.2.3 is installed already: /usr/bin/tool\n",
  },
  {
    name: "the newest is installed, to --check",
    words: ["--check"],
    prepare: ({ host }) => host.releases.delete("1.3.0"),
    code: 0,
    stdout: "tool 1.2.3 is installed already: /usr/bin/tool\n",
  },
  {
    name: "the newest is older",
    prepare: ({ host }) => {
      host.releases.clear();
      host.releases.set("1.1.0", release("1.1.0"));
    },
    code: 0,
    stdout: "tool 1.2.3 is installed already; the newest release is 1.1.0: /usr/bin/tool\n",
  },
  {
    name: "an installation whose files were changed, and is the newest",
    prepare: ({ host, path }) => {
      host.releases.delete("1.3.0");
      rmSync(path("usr/lib/tool/1.2.3/lib/main.cjs.map"), { force: true });
      const file = path("usr/lib/tool/1.2.3/lib/release.json");
      writeFileSync(file, `${readFileSync(file, "utf8")}\n`);
    },
    code: 0,
    stdout: "tool 1.2.3 is installed already: /usr/bin/tool\n",
    stderr: "lib/release.json of it had been changed: the install script of the release installs it anew\n",
  },
  {
    name: "another one at work",
    prepare: ({ path }) => writeFileSync(path("usr/lib/tool/.lock"), `${process.pid}\n`),
    stderr: `error: another installation or upgrade is at work (process ${process.pid})
  wait for it; if there is none, remove /usr/lib/tool/.lock
`,
  },
  {
    name: "a package manager's receipt",
    prepare: ({ path }) =>
      writeFileSync(
        path("usr/lib/tool/receipt.json"),
        JSON.stringify({ receipt: 1, manager: { name: "brew", upgrade: "brew upgrade tool" } }),
      ),
    stderr: "error: this tool was installed by brew\n  brew upgrade tool\n",
  },
  {
    name: "a damaged receipt",
    prepare: ({ path }) => writeFileSync(path("usr/lib/tool/receipt.json"), '{"receipt": 1'),
    stderr: "error: /usr/lib/tool/receipt.json is damaged\n  install tool anew with the install script of a release\n",
  },
  {
    name: "a receipt without its sum",
    prepare: ({ path }) => {
      const file = path("usr/lib/tool/receipt.json");
      const { sum: _, ...receipt } = JSON.parse(readFileSync(file, "utf8"));
      writeFileSync(file, JSON.stringify(receipt));
    },
    stderr: "error: /usr/lib/tool/receipt.json is damaged\n",
  },
  {
    name: "a receipt with the path of another command",
    prepare: ({ path }) => {
      const file = path("usr/lib/tool/receipt.json");
      const receipt = readFileSync(file, "utf8");
      writeFileSync(file, receipt.replace("usr/bin/tool", "usr/bin/t00l"));
    },
    stderr: "error: /usr/lib/tool/receipt.json is damaged\n",
  },
  {
    name: "a receipt that lists files of others",
    prepare: receiptWith({ files: { "../../../etc/passwd": "00" } }),
    stderr: "error: /usr/lib/tool/receipt.json is damaged\n",
  },
  {
    name: "a receipt of a folder elsewhere",
    prepare: receiptWith({ folder: "/etc" }),
    stderr: "error: /usr/lib/tool/receipt.json is damaged\n",
  },
  {
    name: "no receipt",
    prepare: ({ path }) => rmSync(path("usr/lib/tool/receipt.json")),
    stderr: `error: /usr/lib/tool/1.2.3 was not put there by the install script: nothing says which files may be replaced
  tool upgrade --prefix ~/.local installs the newest version there
`,
  },
  {
    name: "a prefix whose command is something else's",
    words: ["--prefix", "~"],
    prepare: ({ path }) => {
      mkdirSync(path("home/bin"));
      writeFileSync(path("home/bin/tool"), "");
    },
    stderr:
      "error: /home/bin/tool exists, and no release of tool put it there\n  remove it, or choose another --prefix\n",
  },
];

t.test("what is refused changes nothing", { skip }, async (t) => {
  for (const { name, words, prepare, code = 1, stdout = "", stderr = "", ...options } of REFUSED) {
    await t.test(name, async (t) => {
      const one = await startUpgradable(t);
      prepare?.(one);
      const before = [...tree(one.path("usr")), ...tree(one.path("home"))];
      const ended = await one.upgrade(words, options);
      const said = ended.stderr.replace(/^(?:(?:download|install) \(TIME\)\n)+/, "");
      t.equal(said.slice(0, stderr.length || undefined), stderr, said);
      t.equal(ended.stdout, stdout);
      t.equal(ended.code, code);
      t.same(
        [...tree(one.path("usr")), ...tree(one.path("home"))].filter((line) => !/ -> .*man1/.test(line)),
        before,
      );
      t.equal(one.version(), "1.2.3-pro");
    });
  }
});

/** Bytes that a mirror changes: all of what is small with 1,000, `npm run fuzz:mirror`. */
const ROUNDS = Number(process.env.MIRROR_ROUNDS ?? 8);

t.test("a mirror that changes a byte", isSlow(), async (t) => {
  const one = await startUpgradable(t);
  const whole = release("1.3.0", { files: { "bin/tool": says("1.3.0"), "lib/large": randomBytes(20_000) } });
  const random = randomOf(1);
  const before = tree(one.path("usr"));
  const refused = async (name: string, changed: Map<string, Buffer>) => {
    one.host.releases.set("1.3.0", changed);
    const { code, stderr } = await one.upgrade();
    t.equal(code, 1, `${name}: ${stderr}`);
    t.match(stderr, /^(?:download \(TIME\)\n)?error: [^\n]+\n {2}[^\n]+\n$/, name);
    t.same(tree(one.path("usr")), before, `${name}: nothing is changed`);
    t.equal(one.version(), "1.2.3-pro", name);
  };
  for (const file of [`tool_1.3.0_${NAME}.tar.xz`, "RELEASE", "RELEASE.ed25519"]) {
    const { length } = whole.get(file)!;
    const isArchive = file.startsWith("tool");
    for (let i = 0; i < (isArchive ? ROUNDS : Math.min(ROUNDS, length)); i++) {
      const at = isArchive || length > ROUNDS ? random.below(length) : i;
      const byte = 1 + random.below(255);
      await refused(`${file}, byte ${at} ^ ${byte}`, withChangedByte(whole, file, at, byte));
    }
  }
  const archive = `tool_1.3.0_${NAME}.tar.xz`;
  const { length } = whole.get(archive)!;
  for (let bytes = 0; bytes < length; bytes += Math.max(1_024, Math.floor(length / ROUNDS)))
    await refused(`the first ${bytes} bytes`, new Map([...whole, [archive, whole.get(archive)!.subarray(0, bytes)]]));
});

t.test("a byte of the receipt changed: refused, by the command and the removal", isSlow(), async (t) => {
  const { path, upgrade, version } = await startUpgradable(t);
  const file = path("usr/lib/tool/receipt.json");
  const receipt = readFileSync(file);
  const random = randomOf(2);
  const count = Math.min(3 * ROUNDS, receipt.length);
  for (let i = 0; i < count; i++) {
    const at = receipt.length > count ? random.below(receipt.length) : i;
    const changed = Buffer.from(receipt);
    changed[at]! ^= 1 + random.below(255);
    writeFileSync(file, changed);
    const before = tree(path("usr"));
    const name = `byte ${at} of ${JSON.stringify(receipt.toString("latin1", at - 10, at + 10))} is ${changed[at]}`;
    const { code, stderr } = await upgrade();
    t.equal(code, 1, name);
    t.match(stderr, /^error: .*receipt\.json is damaged\n {2}install tool anew .*\n$/, name);
    t.same(tree(path("usr")), before, `${name}: nothing is changed`);
  }
  writeFileSync(file, receipt);
  t.equal((await upgrade()).code, 0);
  t.equal(version(), "1.3.0-pro");
});

t.test("an older version only if it is named, and said", { skip }, async (t) => {
  const { host, upgrade, version } = await startUpgradable(t);
  host.releases.set("1.1.0", release("1.1.0"));
  t.same(await upgrade(["-t", "v1.1.0"]), {
    code: 0,
    stdout: "tool 1.1.0 is installed in place of 1.2.3: /usr/bin/tool\n",
    stderr: `1.1.0 is older than 1.2.3, which is replaced by it\n${DONE}`,
  });
  t.equal(version(), "1.1.0-pro");
});

t.test("changed files are replaced, kept with the version before, and named", { skip }, async (t) => {
  const { path, upgrade } = await startUpgradable(t);
  writeFileSync(
    path("usr/lib/tool/1.2.3/bin/tool"),
    `${readFileSync(path("usr/lib/tool/1.2.3/bin/tool"), "utf8")}# own\n`,
  );
  const { code, stderr } = await upgrade();
  t.equal(code, 0);
  t.equal(stderr, `${DONE}bin/tool of 1.2.3 had been changed: /usr/lib/tool/1.2.3 keeps them until the next upgrade\n`);
  t.match(readFileSync(path("usr/lib/tool/1.2.3/bin/tool"), "utf8"), /# own/);
});

t.test("another prefix gets an installation of its own", { skip }, async (t) => {
  const { path, upgrade, version } = await startUpgradable(t);
  t.same(await upgrade(["--prefix", "~/.local"]), {
    code: 0,
    stdout: "tool 1.3.0 is installed: /home/.local/bin/tool\n",
    stderr: DONE,
  });
  t.equal(version(), "1.2.3-pro");
  t.equal(spawnSync(path("home/.local/bin/tool"), ["version"], { encoding: "utf8" }).stdout, "1.3.0-pro\n");
});

t.test("a prefix that had none: the folders that it made go with it", { skip: skip || requires("curl") }, async (t) => {
  const { host, path, upgrade } = await startUpgradable(t);
  const script = readFileSync(join(root, "cli/release/install.sh"), "utf8");
  writeFileSync(path("install.sh"), fillInstaller(script, { origin: host.origin, edition: "pro", keys: KEYS }));
  for (const prefix of ["home/.local", "home/deep/er/commands"]) {
    t.equal((await upgrade(["--prefix", path(prefix)])).code, 0);
    const receipt = JSON.parse(readFileSync(path(`${prefix}/lib/tool/receipt.json`), "utf8"));
    t.ok(receipt.folders.includes(path(prefix)), prefix);
    const env = cleanEnv({ HOME: path("home"), BINDIR: path(`${prefix}/bin`) });
    const removed = spawnSync("sh", [path("install.sh"), "--uninstall"], { env, encoding: "utf8" });
    t.equal(removed.status, 0, removed.stderr);
    t.same(readdirSync(path("home"), { recursive: true }), [], prefix);
  }
  host.releases.set("1.3.0", release("1.3.0", { files: { "bin/tool": "#!/bin/sh\nexit 1\n" } }));
  t.equal((await upgrade(["--prefix", path("home/.local")])).code, 1);
  t.same(readdirSync(path("home"), { recursive: true }), [], "also when it could not be installed");
});

for (const umask of ["077", "000"]) {
  t.test(`a umask of ${umask} does not count`, { skip }, async (t) => {
    const { path, upgrade } = await startUpgradable(t);
    t.equal((await upgrade([], { limit: `umask ${umask}` })).code, 0);
    const mode = (name: string) => (statSync(path(`usr/${name}`)).mode & 0o777).toString(8);
    for (const folder of ["", "/bin", "/lib", "/share/man/man1"])
      t.equal(mode(`lib/tool/1.3.0${folder}`), "755", folder);
    for (const file of ["/bin/tool", "/lib/a.js"]) t.equal(mode(`lib/tool/1.3.0${file}`), "755", file);
    t.equal(mode("share/man/man1"), "755");
    t.equal(mode("lib/tool/receipt.json"), "644");
  });
}

t.test("programs of the folder that it is called in are not run", { skip }, async (t) => {
  const { path, upgrade } = await startUpgradable(t);
  mkdirSync(path("here"));
  for (const name of ["tar", "xz", "gzip"])
    writeFileSync(path(`here/${name}`), `#!/bin/sh\necho ran >'${path("ran")}'\n`, { mode: 0o755 });
  const { code, stderr } = await upgrade([], { cwd: path("here"), env: { PATH: `.:here::${process.env.PATH}` } });
  t.equal(code, 0, stderr);
  t.notOk(existsSync(path("ran")));
});

t.test("neither HOME nor TMPDIR is needed", { skip }, async (t) => {
  const { upgrade, version } = await startUpgradable(t);
  t.equal((await upgrade([], { limit: "unset HOME", env: { TMPDIR: "/dev/null/tmp" } })).code, 0);
  t.equal(version(), "1.3.0-pro");
});

t.test("a man page that cannot be linked is said, and the version is installed", { skip }, async (t) => {
  const { path, upgrade, version } = await startUpgradable(t);
  writeFileSync(path("usr/share"), "");
  t.same(await upgrade(), {
    code: 0,
    stdout: "tool 1.3.0 is installed in place of 1.2.3: /usr/bin/tool\n",
    stderr: `${DONE}/usr/share/man/man1/tool.1 stays as it is: mkdir failed (ENOTDIR)\n`,
  });
  t.equal(version(), "1.3.0-pro");
});

t.test("a folder that may not be written to", { skip }, async (t) => {
  // Root may write everywhere, and the user who may not might not reach the folder of the tests.
  const folder = realpathSync(mkdtempSync(join(tmpdir(), "tool-upgrade-")));
  t.teardown(() => rmSync(folder, { recursive: true, force: true }));
  chmodSync(folder, 0o755);
  for (const name of ["usr", "home"]) mkdirSync(join(folder, name));
  const { path, upgrade, version } = await startUpgradable(t, folder);
  const isRoot = process.getuid?.() === 0;
  if (!isRoot) spawnSync("chmod", ["a-w", path("usr/lib/tool")]);
  const { code, stderr } = await upgrade([], isRoot ? { uid: 65_534 } : {});
  t.equal(code, 1);
  t.equal(
    stderr,
    `error: /usr/lib/tool is not writable
  run sudo tool upgrade, or tool upgrade --prefix ~/.local, which installs it for you alone
`,
  );
  t.equal(version(), "1.2.3-pro");
});

t.test("of two at once the second says so, and an interrupted one leaves nothing", { skip }, async (t) => {
  const { host, path, upgrade, version } = await startUpgradable(t);
  let pid = 0;
  let isDownloading = false;
  host.instead = (at, response) => {
    if (!/\.tar/.test(at)) return false;
    response.writeHead(200, { "content-length": "100000" }).write("x");
    isDownloading = true;
    return true;
  };
  const first = upgrade([], { onStart: (started) => (pid = started) });
  await until("the download", () => isDownloading);
  const second = await upgrade();
  t.match(second.stderr, `error: another installation or upgrade is at work (process ${pid})\n`);
  t.equal(second.code, 1);
  process.kill(pid, "SIGINT");
  const { code, stderr } = await first;
  t.equal(code, 130);
  t.match(stderr, "interrupted: the version that was there stays\n");
  t.same(readdirSync(path("usr/lib/tool")).sort(), ["1.2.3", "receipt.json"]);
  t.equal(version(), "1.2.3-pro");
});

t.test("what no release installed names the command that upgrades it", { skip }, async (t) => {
  const source = await tool(["upgrade"]);
  t.same(source, {
    ...{ code: 1, signal: null, stdout: "" },
    stderr: "error: this tool runs from its sources\n  git pull && npm ci && npm run build\n",
  });
  const folder = join(t.testdir({}), "node_modules/tool/dist/bin");
  mkdirSync(join(folder, "commands"), { recursive: true });
  for (const name of BUNDLES) linkSync(join(bin, name), join(folder, name));
  const npm = (words: string[]) => tool(["upgrade", ...words], { path: join(folder, "cli.cjs") });
  // A bare name would be that of a stranger's package in a registry.
  const says = (file: string) =>
    `error: this tool was installed by npm\n  install the package of the release that you want by its address: npm install --global .../${file}\n`;
  t.equal((await npm([])).stderr, says("tool-VERSION.tgz"));
  t.equal((await npm(["-t", "1.2.3"])).stderr, says("tool-1.2.3.tgz"));
});

t.test(
  "the install script and the command understand each other's receipts",
  { skip: skip || requires("curl") },
  async (t) => {
    const { host, path, upgrade, version } = await startUpgradable(t);
    const script = readFileSync(join(root, "cli/release/install.sh"), "utf8").replace(
      "'/usr/local'",
      `'${path("usr")}'`,
    );
    writeFileSync(path("install.sh"), fillInstaller(script, { origin: host.origin, edition: "pro", keys: KEYS }));
    const run = (words: readonly string[], env: Record<string, string> = {}) =>
      new Promise<number | null>((done) => {
        const child = spawn("sh", [path("install.sh"), ...words], {
          env: cleanEnv({ CURL_CA_BUNDLE: CERTIFICATE, HOME: path("home"), ...env }),
          stdio: "ignore",
        });
        child.once("close", done);
      });
    t.equal((await upgrade()).code, 0);
    host.releases.set("1.4.0", release("1.4.0"));
    t.equal(await run([], { VERSION: "1.4.0" }), 0);
    t.equal(version(), "1.4.0-pro");
    t.same(
      tree(path("usr")).filter((line) => !line.startsWith("lib/tool/1.2.3/")),
      installed(path("usr"), "1.4.0", "1.3.0"),
    );
    t.notOk(existsSync(path("usr/lib/tool/1.2.3")), "the one before the last is gone");
    const archive = `tool_1.3.0_${NAME}.tar.gz`;
    writeFileSync(path(archive), host.releases.get("1.3.0")!.get(archive)!);
    t.equal(install(path, "1.3.0").status, 0, "by the parts of the command");
    t.equal(version(), "1.3.0-pro");
    t.same(tree(path("usr")), installed(path("usr"), "1.3.0", "1.4.0"));
    t.equal(await run(["--uninstall"]), 0);
    t.same(tree(path("usr")), []);
  },
);

t.test(
  "a prefix with blanks, quotes and backslashes, for the script and the command in turn",
  { skip: skip || requires("curl") },
  async (t) => {
    const { host, path, upgrade } = await startUpgradable(t);
    const prefix = path(`a "b" 'c' \\d \\" $(e) *`);
    const script = readFileSync(join(root, "cli/release/install.sh"), "utf8");
    writeFileSync(path("install.sh"), fillInstaller(script, { origin: host.origin, edition: "pro", keys: KEYS }));
    const run = (...words: string[]) =>
      new Promise<string>((done) => {
        const env = cleanEnv({ CURL_CA_BUNDLE: CERTIFICATE, HOME: path("home"), BINDIR: join(prefix, "bin") });
        const child = spawn("sh", [path("install.sh"), ...words], { env, stdio: ["ignore", "ignore", "pipe"] });
        let said = "";
        child.stderr.setEncoding("utf8").on("data", (text: string) => {
          said += text;
        });
        child.once("close", (code) => done(`${code} ${said.split("\n")[0]}`));
      });
    const receipt = () => JSON.parse(readFileSync(join(prefix, "lib/tool/receipt.json"), "utf8"));
    host.releases.set("1.4.0", release("1.4.0"));
    t.equal((await upgrade(["--prefix", prefix, "-t", "1.3.0"])).code, 0);
    host.releases.clear();
    host.releases.set("1.4.0", release("1.4.0"));
    t.match(await run(), /^0 downloading /);
    t.match(await run(), /^0 tool 1\.4\.0 is installed already: /);
    t.match(receipt(), { version: "1.4.0", folder: join(prefix, "lib/tool/1.4.0"), previous: { version: "1.3.0" } });
    t.equal(spawnSync(join(prefix, "bin/tool"), { encoding: "utf8" }).stdout, "1.4.0-pro\n");
    t.match(await run("--uninstall"), /^0 tool is removed: /);
    t.same(tree(prefix), []);
  },
);
