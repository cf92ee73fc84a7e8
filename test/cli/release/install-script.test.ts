// install.sh as people run it: by the shells and programs that systems have, against a Git host over TLS.
import { spawn, spawnSync } from "node:child_process";
import { generateKeyPairSync, randomBytes } from "node:crypto";
import {
  cpSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import t from "tap";
import { fillInstaller } from "../../../cli/release/installer.ts";
import { pinnedKeyOf } from "../../../cli/release/statement.ts";
import { root } from "../../support/cli.ts";
import { startConnectProxy } from "../../support/connect-proxy.ts";
import { answering, breaking, gitHostFaults, withoutEnd } from "../../support/git-host-faults.ts";
import { hostileArchives } from "../../support/hostile-archives.ts";
import { randomOf } from "../../support/random.ts";
import {
  CERTIFICATE,
  type ReleaseHost,
  type ReleaseOptions,
  releaseOf,
  releaseOfAll,
  resign,
  SYSTEM,
  startReleaseHost,
  withChangedByte,
} from "../../support/release-host.ts";
import { requires } from "../../support/require.ts";
import { slow } from "../../support/slow.ts";

const SOURCE = readFileSync(join(root, "cli/release/install.sh"), "utf8");
const { privateKey } = generateKeyPairSync("ed25519");
const another = generateKeyPairSync("ed25519").privateKey;
const KEYS = [pinnedKeyOf(another), pinnedKeyOf(privateKey)];
/** The end of an archive's name. */
const NAME = SYSTEM.replace("-", "_");
const TOKEN = "ghp_0123456789abcdefXYZ";

const command = (version: string) => `#!/bin/sh
[ -z "\${GIT_HOST_TOKEN-}" ] || exit 9
echo ${version}-pro
`;
const release = (version: string, more: Partial<ReleaseOptions> = {}) =>
  releaseOf({
    version,
    key: privateKey,
    files: {
      "bin/tool": command(version),
      "lib/release.json": "{}",
      "lib/a file (1).js": version,
      "share/man/man1/tool.1": ".TH tool 1",
      "share/completions/_tool": "#compdef tool",
    },
    ...more,
  });

interface Ended {
  readonly code: number | null;
  readonly stderr: string;
}

interface World {
  readonly host: ReleaseHost;
  /** A folder of the test's own. */
  readonly path: (name: string) => string;
  /** Runs the script; `PREFIX` of it is the folder usr. */
  run(words?: readonly string[], options?: RunOptions): Promise<Ended>;
}

interface RunOptions {
  readonly shell?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  readonly cwd?: string;
  readonly script?: (text: string) => string;
  /** Edition that the script is of; free if the release has both. */
  readonly edition?: string;
  /** Told the process, which leads a group of its own. */
  readonly onStart?: (pid: number) => void;
}

async function world(t: Tap): Promise<World> {
  const folder = t.testdir({ usr: {}, home: {}, tmp: {}, certificate: `ca_certificate = ${CERTIFICATE}\n` });
  const path = (name: string) => join(folder, name);
  const host = await startReleaseHost(t);
  host.releases.set("1.2.3", release("1.2.3"));
  return {
    host,
    path,
    run(
      words = [],
      {
        shell = [where("dash")],
        env = {},
        cwd = folder,
        script = (text: string) => text,
        edition = "pro",
        onStart = () => {},
      } = {},
    ) {
      const filled = fillInstaller(SOURCE, { origin: host.origin, edition, keys: KEYS });
      writeFileSync(path("install.sh"), script(filled.replace("PREFIX='/usr/local'", `PREFIX='${path("usr")}'`)));
      const [program, ...first] = shell;
      const child = spawn(program!, [...first, path("install.sh"), ...words], {
        cwd,
        detached: true,
        stdio: ["ignore", "ignore", "pipe"],
        env: {
          PATH: `${process.env.PATH}:${path("usr/bin")}`,
          HOME: path("home"),
          TMPDIR: path("tmp"),
          CURL_CA_BUNDLE: CERTIFICATE,
          WGETRC: path("certificate"),
          ...env,
        },
      });
      onStart(child.pid!);
      let stderr = "";
      child.stderr.setEncoding("utf8").on("data", (text: string) => {
        stderr += text;
      });
      return new Promise((done) => {
        child.once("close", (code) =>
          done({
            code,
            stderr: stderr
              .replaceAll(folder, "")
              .replaceAll(/:\d{4,5}\b/g, ":PORT")
              .replace("File size limit exceeded\n", ""),
          }),
        );
      });
    },
  };
}

interface Tap {
  testdir(files: Record<string, string | Record<string, never>>): string;
  teardown(handler: () => Promise<void>): void;
}

/** The files below a folder, with the targets of links. */
function tree(folder: string, below = ""): string[] {
  if (!existsSync(folder)) return [];
  return readdirSync(folder)
    .sort()
    .flatMap((name) => {
      const path = join(folder, name);
      const shown = `${below}${name}`;
      if (lstatSync(path).isSymbolicLink()) return [`${shown} -> ${readlinkSync(path)}`];
      return statSync(path).isDirectory() ? tree(path, `${shown}/`) : [shown];
    });
}

const version = (path: string) => spawnSync(path, ["version"], { encoding: "utf8" }).stdout?.trim();

/** Programs that the script needs besides a downloader, a verifier and an unpacker. */
const NEEDED =
  `awk cat cp cut dirname find grep ldd ln mkdir mktemp mv ps readlink rm rmdir sed sha256sum sh sort tail tar tr
  head sleep uname wc xargs`.split(/\s+/);

/** Programs that BusyBox has, if it is here. */
const APPLETS = spawnSync("busybox", ["--list"], { encoding: "utf8" }).stdout?.split("\n").filter(Boolean) ?? [];

/** A folder that has these programs alone; `own` are scripts, and those of `applets` are BusyBox'. */
function programs(
  folder: string,
  names: readonly string[],
  own: Readonly<Record<string, string>> = {},
  applets: readonly string[] = [],
): string {
  mkdirSync(folder);
  for (const name of names) symlinkSync(where(applets.includes(name) ? "busybox" : name), join(folder, name));
  for (const [name, text] of Object.entries(own)) {
    rmSync(join(folder, name), { force: true });
    writeFileSync(join(folder, name), `#!/bin/sh\n${text}\n`, { mode: 0o755 });
  }
  return folder;
}

const places = new Map<string, string>();
function where(name: string): string {
  const place = places.get(name) ?? spawnSync("sh", ["-c", `command -v ${name}`], { encoding: "utf8" }).stdout.trim();
  places.set(name, place);
  return place;
}

/** The files of a version, below the prefix. */
const filesOf = (number: string) =>
  ["bin/tool", "lib/a file (1).js", "lib/release.json", "share/completions/_tool", "share/man/man1/tool.1"].map(
    (name) => `lib/tool/${number}/${name}`,
  );

const installed = (number: string, folder: string) => [
  `bin/tool -> ../lib/tool/${number}/bin/tool`,
  ...filesOf(number),
  "lib/tool/receipt.json",
  `share/man/man1/tool.1 -> ${folder}/lib/tool/${number}/share/man/man1/tool.1`,
  `share/zsh/site-functions/_tool -> ${folder}/lib/tool/${number}/share/completions/_tool`,
];

const needs = (...names: string[]) => names.map((name) => requires(name)).find((reason) => reason !== false) ?? false;

const MACHINES: [name: string, shell: string[], has: string[]][] = [
  ["dash, curl, ssh-keygen and xz", ["dash"], ["curl", "ssh-keygen", "xz", "gzip"]],
  ["bash, GNU wget, openssl and gzip", ["bash"], ["wget", "openssl", "gzip"]],
  ["BusyBox and curl", ["busybox", "sh"], ["curl", "ssh-keygen"]],
];

for (const [name, shell, has] of MACHINES) {
  t.test(`${name}: installed, again, anew, and removed`, { skip: needs(shell[0]!, ...has) }, async (t) => {
    const { host, run, path } = await world(t);
    const isBusybox = shell[0] === "busybox";
    const folder = programs(path("programs"), isBusybox ? has : [...NEEDED, ...has]);
    if (isBusybox) {
      for (const applet of APPLETS.filter((applet) => !has.includes(applet)))
        symlinkSync(where("busybox"), join(folder, applet));
    }
    const machine = { shell: [where(shell[0]!), ...shell.slice(1)] };
    const env = { PATH: `${folder}:${path("usr/bin")}` };
    const ending = isBusybox || has.includes("xz") ? "xz" : "gz";
    const says = (number: string) =>
      `downloading tool_${number}_${NAME}.tar.${ending} (0 MB)\ntool ${number} is installed: /usr/bin/tool\n`;
    t.same(await run([], { ...machine, env }), { code: 0, stderr: says("1.2.3") });
    t.equal(version(path("usr/bin/tool")), "1.2.3-pro");
    t.same(tree(path("usr")), installed("1.2.3", path("usr")));
    t.same(await run([], { ...machine, env }), { code: 0, stderr: "tool 1.2.3 is installed already: /usr/bin/tool\n" });
    t.same(tree(path("usr")), installed("1.2.3", path("usr")));

    host.releases.set("1.3.0", release("1.3.0"));
    t.same(await run([], { ...machine, env: { ...env, VERSION: "v1.3.0" } }), { code: 0, stderr: says("1.3.0") });
    t.equal(version(path("usr/bin/tool")), "1.3.0-pro");
    const both = [...installed("1.3.0", path("usr")), ...filesOf("1.2.3")];
    t.same(tree(path("usr")).sort(), both.sort(), "the version before stays");
    host.releases.set("1.4.0", release("1.4.0"));
    t.same(await run([], { ...machine, env: { ...env, VERSION: "1.4.0-pro" } }), { code: 0, stderr: says("1.4.0") });
    t.same(tree(path("usr")).sort(), [...installed("1.4.0", path("usr")), ...filesOf("1.3.0")].sort());
    t.equal(JSON.parse(readFileSync(path("usr/lib/tool/receipt.json"), "utf8")).previous.version, "1.3.0");
    t.same(
      host.requests.filter(({ authorization }) => authorization !== undefined),
      [],
    );
    writeFileSync(path("usr/bin/own"), "");
    t.same(await run(["--uninstall"], { ...machine, env }), { code: 0, stderr: "tool is removed: /usr/bin/tool\n" });
    t.same(tree(path("usr")), ["bin/own"]);
    t.same(readdirSync(path("tmp")), []);
    t.equal((await run(["--uninstall"], { ...machine, env })).code, 1, "there is nothing to remove");
  });
}

/** A release with both editions, each with its own version. */
const both = (version: string, own: string, more: Partial<ReleaseOptions> = {}) =>
  releaseOfAll([
    { version, key: privateKey, files: { "bin/tool": command(version) } },
    { version, key: privateKey, edition: "free", own, files: { "bin/tool": `#!/bin/sh\necho ${own}\n` }, ...more },
  ]);

t.test(
  "of both editions the free one, unless another is there or asked for",
  { skip: needs("dash", "xz") },
  async (t) => {
    const { host, path, run } = await world(t);
    host.releases.clear();
    host.releases.set("1.2.3", both("1.2.3", "1.0.4"));
    const says = (name: string, named: string) => ({
      code: 0,
      stderr: `downloading ${name}_${NAME}.tar.xz (0 MB)\ntool ${named} is installed: /usr/bin/tool\n`,
    });
    const receipt = () => JSON.parse(readFileSync(path("usr/lib/tool/receipt.json"), "utf8"));
    const free = (env: Record<string, string> = {}) => run([], { edition: "free", env });
    t.same(await free(), says("tool-free_1.0.4", "1.0.4 (free)"));
    t.equal(version(path("usr/bin/tool")), "1.0.4");
    t.match(receipt(), { version: "1.0.4", edition: "free", folder: path("usr/lib/tool/free-1.0.4") });
    t.same(await free(), { code: 0, stderr: "tool 1.0.4 (free) is installed already: /usr/bin/tool\n" });
    t.same(await free({ EDITION: "pro", VERSION: "1.2.3-pro" }), says("tool_1.2.3", "1.2.3"));
    t.equal(version(path("usr/bin/tool")), "1.2.3-pro");
    t.match(receipt(), { version: "1.2.3", edition: "pro", previous: { folder: path("usr/lib/tool/free-1.0.4") } });
    host.releases.clear();
    host.releases.set("1.3.0", both("1.3.0", "1.3.0"));
    t.same(await free(), says("tool_1.3.0", "1.3.0"), "what tool upgrade has changed stays");
    t.same(await free({ EDITION: "free" }), says("tool-free_1.3.0", "1.3.0 (free)"), "the same number of each");
    t.equal(version(path("usr/bin/tool")), "1.3.0");
    t.same(readdirSync(path("usr/lib/tool")).sort(), ["1.3.0", "free-1.3.0", "receipt.json"]);
    t.equal((await run(["--uninstall"])).code, 0);
    t.same(tree(path("usr")), []);
    // A receipt is not believed to name anything else.
    mkdirSync(path("usr/lib/tool"), { recursive: true });
    writeFileSync(path("usr/lib/tool/receipt.json"), '{ "edition": "../x" }');
    const { code, stderr } = await free();
    t.equal(code, 0);
    t.equal(
      stderr,
      `/usr/lib/tool/receipt.json is damaged: the version is installed anew\n${says("tool-free_1.3.0", "1.3.0 (free)").stderr}`,
    );
  },
);

for (const downloader of ["curl", "wget"]) {
  const skip = needs("dash", "xz", "ssh-keygen", downloader);
  t.test(`${downloader} gives the token to the Git host alone, and in no argument`, { skip }, async (t) => {
    const { host, run, path } = await world(t);
    const own = { [downloader]: `printf '%s\\n' "$@" >>'${path("arguments")}'\nexec ${where(downloader)} "$@"` };
    const folder = programs(path("programs"), [...NEEDED, "xz", "ssh-keygen"], own);
    const { code, stderr } = await run([], { env: { PATH: folder, GIT_HOST_TOKEN: TOKEN } });
    t.equal(code, 0, stderr);
    t.notMatch(readFileSync(path("arguments"), "utf8"), TOKEN);
    const at = (host_: string) => host.requests.filter((request) => request.host === host_);
    t.same([...new Set(at("api").map(({ authorization }) => authorization))], [`Bearer ${TOKEN}`]);
    t.same(
      at("files").map(({ authorization }) => authorization),
      [undefined, undefined, undefined],
      "RELEASE, its signature and the archive",
    );
  });

  t.test(`${downloader} through a proxy, which is told the hosts alone`, { skip }, async (t) => {
    const { host, run, path } = await world(t);
    const proxy = await startConnectProxy(t);
    const PATH = programs(path("programs"), [...NEEDED, "xz", "ssh-keygen", downloader]);
    const { code, stderr } = await run([], { env: { PATH, https_proxy: proxy.url, GIT_HOST_TOKEN: TOKEN } });
    t.equal(code, 0, stderr);
    t.equal(version(path("usr/bin/tool")), "1.2.3-pro");
    const api = new URL(host.origin).host;
    const hosts = proxy.connects.map(({ to }) => (to === api ? "its API" : to.replace(/\d+$/, "PORT")));
    t.same([...new Set(hosts)], ["its API", "127.0.0.1:PORT"]);
    t.equal(hosts.length, host.requests.length, "each request is through it");
    t.notMatch(JSON.stringify(proxy.connects), TOKEN);
  });
}

interface Row {
  readonly name: string;
  readonly words?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  /** The programs of the machine beside those that it needs. */
  readonly has?: readonly string[];
  readonly own?: Readonly<Record<string, string>>;
  readonly script?: (text: string) => string;
  /** A line of shell before the script. */
  readonly limit?: string;
  readonly prepare?: (world: World) => unknown;
  /** 1 if absent. */
  readonly code?: number;
  /** The beginning. */
  readonly stderr: string;
}

const uname = (system: string, machine: string) => ({
  uname: `if [ "$1" = -s ]; then echo ${system}; else echo ${machine}; fi`,
});
const releasing =
  (more: Partial<ReleaseOptions>) =>
  ({ host }: World) =>
    host.releases.set("1.2.3", release("1.2.3", more));
const receipt = (path: World["path"], name: string, text: string) => {
  mkdirSync(path("usr/lib/tool"), { recursive: true });
  writeFileSync(path(`usr/lib/tool/${name}`), text);
};

/** The archive comes a byte at a time, and never ends. */
const dripping: Row["prepare"] = ({ host }) => {
  host.instead = (path, response) => {
    if (!/^\/download.*\.tar/.test(path)) return false;
    response.writeHead(200, { "content-length": "100000" });
    const drops = setInterval(() => response.write("x"), 50);
    response.once("close", () => clearInterval(drops));
    return true;
  };
};
/** Waits for a second where it waits for a minute, once. */
const impatient = (text: string) => text.replace("slow_seconds=60", "slow_seconds=1").replace("--retry 2", "--retry 0");

const DOWNLOADING = `downloading tool_1.2.3_${NAME}.tar.xz (0 MB)\n`;
const LATEST = "https://localhost:PORT/repos/acme/tool/releases/latest";
const API = /^\/releases/;
const NPM =
  "  tool runs there on a Node of your own: npm install --global with the address of the release's tool-VERSION.tgz\n";
const NOT_SIGNED = `error: the signature of the release 1.2.3 is wrong
  do not install it; download this script anew, and if it stays so, report it to the project
`;
const NO_LIBRARY =
  "node: error while loading shared libraries: libatomic.so.1: cannot open shared object file: No such file or directory";
const strangers = { key: generateKeyPairSync("ed25519").privateKey };

const REFUSED: Row[] = [
  {
    name: "an edition that there is not",
    env: { EDITION: "Pro" },
    stderr: "error: EDITION is neither pro nor free: Pro\n  leave it out for pro, or what is installed\n",
  },
  {
    name: "an edition that the release has not",
    env: { EDITION: "free" },
    stderr: "error: the release 1.2.3 has no free edition\n  choose another VERSION or EDITION\n",
  },
  {
    name: "a free edition for another system",
    env: { EDITION: "free" },
    prepare: ({ host }) => host.releases.set("1.2.3", both("1.2.3", "1.0.4", { says: { system: "aix-ppc64" } })),
    stderr: `error: the release 1.2.3 has no archive for ${SYSTEM}\n`,
  },
  {
    name: "a free edition that says that it is Pro",
    env: { EDITION: "free" },
    prepare: ({ host }) =>
      host.releases.set("1.2.3", both("1.2.3", "1.0.4", { files: { "bin/tool": "#!/bin/sh\necho 1.0.4-pro\n" } })),
    stderr: `downloading tool-free_1.0.4_${NAME}.tar.xz (0 MB)
error: the new command says that it is 1.0.4-pro, not 1.0.4 (free)
  report it to the project
`,
  },
  ...gitHostFaults({ by: "script", version: "1.2.3", key: privateKey, release: (more) => release("1.2.3", more) }),
  {
    name: "a token of two lines",
    env: { GIT_HOST_TOKEN: `${TOKEN}\nx: y` },
    stderr: `error: GIT_HOST_TOKEN has characters that no token has
  set it to the token alone, without quotes and line ends
`,
  },
  {
    name: "no such version",
    env: { VERSION: "9.9.9" },
    stderr:
      "error: there is no version 9.9.9\n  see the releases of the project, or leave VERSION out for the newest\n",
  },
  {
    name: "a version that is none",
    env: { VERSION: "../x" },
    stderr: "error: VERSION is not a version: ../x\n  write it as 1.2.3\n",
  },
  {
    name: "a tag that is a path",
    prepare: answering(API, 200, '{"tag_name":"v.."}'),
    stderr: "error: the Git host names no version\n  run this again later\n",
  },
  {
    name: "another version than the one asked for",
    env: { VERSION: "1.2.2" },
    prepare: answering(API, 200, '{"tag_name":"v1.2.1"}'),
    stderr: "error: version 1.2.2 was asked for, and the Git host names 1.2.1\n  run this again later\n",
  },
  {
    name: "a certificate that nobody knows, with curl",
    env: { CURL_CA_BUNDLE: "/etc/ssl/certs/ca-certificates.crt" },
    stderr: `error: the download of ${LATEST} failed: curl: `,
  },
  {
    name: "a certificate that nobody knows, with wget",
    has: ["wget", "ssh-keygen", "xz"],
    env: { WGETRC: "/dev/null" },
    stderr: `error: the download of ${LATEST} failed: `,
  },
  {
    name: "a transfer that breaks, with wget",
    has: ["wget", "ssh-keygen", "xz"],
    prepare: breaking,
    stderr: `${DOWNLOADING}error: `,
  },
  {
    name: "an archive that drips, with curl",
    prepare: dripping,
    script: impatient,
    stderr: `${DOWNLOADING}error: the download of https://localhost:PORT/download/v1.2.3/tool_1.2.3_${NAME}.tar.xz failed: curl: (28) Operation too slow`,
  },
  {
    name: "an archive that drips, with wget",
    has: ["wget", "ssh-keygen", "xz"],
    prepare: dripping,
    script: impatient,
    stderr: `${DOWNLOADING}error: the download of https://localhost:PORT/download/v1.2.3/tool_1.2.3_${NAME}.tar.xz failed: less than 1024 bytes a second came for 1 seconds
  check the network, then run this again
`,
  },
  {
    name: "an archive without end, with wget",
    has: ["wget", "ssh-keygen", "xz"],
    prepare: withoutEnd(/\.tar/),
    stderr: `${DOWNLOADING}error: the download of https://localhost:PORT/download/v1.2.3/tool_1.2.3_${NAME}.tar.xz failed: `,
  },
  {
    name: "a signature by another key, for openssl",
    has: ["curl", "openssl", "xz"],
    prepare: releasing(strangers),
    stderr: NOT_SIGNED,
  },
  {
    name: "a wrong signature with --no-signature on a machine that can verify",
    words: ["--no-signature"],
    prepare: releasing(strangers),
    stderr: NOT_SIGNED,
  },
  {
    name: "a statement of two versions",
    prepare: ({ host }) =>
      resign(host.releases.get("1.2.3")!, "tool-release 1\nversion 1.2.3\nversion 1.2.2\n", privateKey),
    stderr: "error: version 1.2.3 was asked for, and what is signed is 1.2.3\n1.2.2\n",
  },
  {
    name: "a release without --cli",
    words: ["--cli"],
    stderr: `error: the release 1.2.3 has no archive for ${SYSTEM}\n`,
  },
  {
    name: "no program that verifies",
    has: ["curl", "xz"],
    stderr: `error: no program here verifies the signature of the release
  install openssh-client (8.1 or newer) or openssl (3 or newer); --no-signature goes on without
`,
  },
  {
    name: "programs that are too old to verify",
    has: ["curl", "xz"],
    own: { openssl: "echo OpenSSL 1.1.1w", "ssh-keygen": "echo 'unknown option -- Y' >&2; exit 1" },
    stderr: "error: no program here verifies the signature of the release\n",
  },
  {
    name: "no downloader",
    has: ["ssh-keygen", "xz"],
    stderr: "error: there is neither curl nor wget\n  install curl, then run this again\n",
  },
  {
    name: "BusyBox' wget",
    has: ["ssh-keygen", "xz"],
    own: { wget: "echo 'BusyBox v1.35.0 multi-call binary.' >&2; exit 1" },
    stderr: `error: the wget of this system does not check certificates
  install curl or GNU wget, then run this again
`,
  },
  {
    name: "nothing that unpacks",
    has: ["curl", "ssh-keygen"],
    stderr: "error: there is neither xz nor gzip\n  install xz-utils, then run this again\n",
  },
  {
    name: "FreeBSD",
    own: uname("FreeBSD", "amd64"),
    stderr: `error: there is no release of tool for FreeBSD\n${NPM}`,
  },
  {
    name: "a processor of 32 bits",
    own: uname("Linux", "armv7l"),
    stderr: `error: there is no release of tool for linux on armv7l\n${NPM}`,
  },
  {
    name: "Git Bash",
    own: uname("MINGW64_NT-10.0", "x86_64"),
    stderr: "error: this script does not install on Windows\n  download the .zip of the release, or use WSL\n",
  },
  {
    name: "musl",
    own: { ldd: "echo 'musl libc (x86_64)' >&2; exit 1" },
    stderr: `error: this system has musl, and the releases of tool need glibc\n${NPM}`,
  },
  {
    name: "a system without a library of Node",
    prepare: releasing({ files: { "bin/tool": `#!/bin/sh\necho '${NO_LIBRARY}' >&2\nexit 127\n` } }),
    stderr: `${DOWNLOADING}error: this system lacks the library libatomic.so.1, which tool 1.2.3 needs
  install it as root, then run this again: apt-get install libatomic1, or dnf install libatomic
`,
  },
  {
    name: "an archive of another version",
    prepare: releasing({ files: { "bin/tool": command("1.2.2") } }),
    stderr: `${DOWNLOADING}error: the new command says that it is 1.2.2-pro, not 1.2.3\n  report it to the project\n`,
  },
  {
    name: "an archive with a large file where there is no room",
    limit: "ulimit -f 64",
    prepare: releasing({ files: { "bin/tool": command("1.2.3"), "lib/large": Buffer.alloc(1_000_000) } }),
    stderr: `${DOWNLOADING}error: tool_1.2.3_${NAME}.tar.xz cannot be unpacked in /usr/lib/tool: `,
  },
  {
    name: "a large archive where there is no room",
    limit: "ulimit -f 64",
    prepare: releasing({ files: { "bin/tool": command("1.2.3"), "lib/large": randomBytes(1_000_000) } }),
    stderr: `${DOWNLOADING.replace("0 MB", "1 MB")}error: the download of https://127.0.0.1:PORT/`,
  },
  {
    name: "a command that npm put there",
    prepare: ({ path }) => {
      mkdirSync(path("usr/bin"));
      symlinkSync("../lib/node_modules/tool/dist/bin/cli.cjs", path("usr/bin/tool"));
    },
    stderr: `error: /usr/bin/tool exists, and this script did not install it
  remove it, or set BINDIR to another folder
`,
  },
  {
    name: "a BINDIR that cannot be written to",
    env: { BINDIR: "install.sh/bin" },
    stderr: "error: /install.sh/bin is not writable\n  run this as root, or set BINDIR to a folder of yours\n",
  },
  {
    name: "a BINDIR of two lines",
    env: { BINDIR: "a\nb/bin" },
    stderr: `error: the path of the command's folder has a line end or another control character
  set BINDIR to another folder
`,
  },
  {
    name: "a TMPDIR that is not there",
    env: { TMPDIR: "/dev/null/tmp" },
    stderr: "mktemp: ",
  },
  {
    name: "no HOME, and a prefix that is not writable",
    script: (text) => text.replace(/^PREFIX=.*/m, "PREFIX='/dev/null'").replace("prepare\n", "prepare\n  unset HOME\n"),
    stderr:
      "error: /dev/null is not writable, and HOME is not set\n  run this as root, or set BINDIR to a folder of yours\n",
  },
  {
    name: "another one at work",
    prepare: ({ path }) => receipt(path, ".lock", `${process.pid}\n`),
    stderr: `error: another installation or upgrade is at work (process ${process.pid})
  wait for it; if there is none, remove /usr/lib/tool/.lock
`,
  },
  {
    name: "one that a package manager installed",
    prepare: ({ path }) =>
      receipt(
        path,
        "receipt.json",
        JSON.stringify({ receipt: 1, manager: { name: "brew", upgrade: "brew upgrade tool" } }),
      ),
    stderr: "error: tool was installed by brew\n  use that: brew upgrade tool\n",
  },
  { name: "an unknown option", words: ["--force"], code: 2, stderr: "error: unknown option --force\n" },
  {
    name: "the script of the sources",
    script: () => SOURCE,
    stderr: `error: this script is a part of a release, which fills in where to download from
  take install.sh of a release
`,
  },
  {
    name: "half of the script",
    script: (text) => text.slice(0, text.lastIndexOf('main "$@"') - 10),
    code: 2,
    stderr: "",
  },
];

const skip = needs("dash", "curl", "wget", "ssh-keygen", "openssl", "xz");

for (const words of [["dash"], ["bash"], ["busybox", "sh"]]) {
  const missing = skip || requires(words[0]!);
  const options = missing !== false || words[0] === "dash" ? { skip: missing } : slow();
  t.test(`what is refused leaves nothing behind, by ${words[0]}`, options, async (t) => {
    const shell = [where(words[0]!), ...words.slice(1)];
    for (const { name, has = ["curl", "ssh-keygen", "openssl", "xz", "gzip"], own, ...row } of REFUSED) {
      await t.test(name, async (t) => {
        const one = await world(t);
        row.prepare?.(one);
        const before = tree(one.path("usr"));
        const applets = words[0] === "busybox" ? APPLETS.filter((name) => NEEDED.includes(name)) : [];
        const PATH = programs(one.path("programs"), [...NEEDED, ...has], own, applets);
        const { limit, script } = row;
        const { code, stderr } = await one.run(row.words, {
          shell: limit === undefined ? shell : ["/bin/sh", "-c", `${limit}; exec "$@"`, "sh", ...shell],
          env: { PATH, ...row.env },
          ...(script && { script }),
        });
        t.equal(code, row.code ?? 1, stderr);
        t.equal(stderr.slice(0, row.stderr.length), row.stderr, stderr);
        t.same(tree(one.path("usr")), before);
        t.same(readdirSync(one.path("tmp")), []);
      });
    }
  });
}

const UNPACKERS: [shell: string[], ending: string][] = [
  [["dash"], "xz"],
  [["bash"], "gz"],
  [["busybox", "sh"], "xz"],
];

for (const [[program = "", ...words], ending] of UNPACKERS) {
  const skip = needs(program, "xz", "gzip");
  t.test(`an archive with what no release has, signed as it may be, by ${program}`, { skip }, (t) => {
    const folder = t.testdir({
      tmp: {},
      archives: {},
      outside: { own: "own" },
      usr: { lib: { tool: { own: "own" } } },
    });
    const path = (name: string) => join(folder, name);
    const PATH = path("programs");
    if (program === "busybox") {
      mkdirSync(PATH);
      for (const applet of APPLETS) symlinkSync(where("busybox"), join(PATH, applet));
    } else programs(PATH, [...NEEDED, "xz", "gzip"]);
    const name = `tool_1.2.3_${NAME}`;
    const unpack = (archive: Buffer, bound = "") => {
      const steps = `prepare
library='${path("usr/lib/tool")}' name=${name}.tar.${ending} ending=.tar.${ending} own=1.2.3 named=1.2.3 edition=pro
unpacker=${ending === "xz" ? "xz" : "gzip"} summer=sha256sum ${bound}
temporary=$(mktemp -d "$TMPDIR/XXXXXX")
cp '${path("archive")}' "$temporary/$name"
unpack
`;
      const filled = fillInstaller(SOURCE, { origin: "https://localhost", edition: "pro", keys: KEYS });
      writeFileSync(path("archive"), archive);
      writeFileSync(path("install.sh"), filled.replace('main "$@"\n', steps));
      const env = { PATH, TMPDIR: path("tmp") };
      return spawnSync(where(program), [...words, path("install.sh")], { encoding: "utf8", env, cwd: path("tmp") });
    };
    const archive = (more: Partial<ReleaseOptions>) => release("1.2.3", more).get(`${name}.tar.${ending}`)!;
    const before = tree(folder).filter((line) => !/^(?:archive|install\.sh)$/.test(line));
    const nothingElse = (name: string) => {
      const now = tree(folder).filter((line) => !/^(?:archive|install\.sh)$/.test(line));
      t.same(now, before, `${name}: nothing is left, and nothing else is changed`);
      t.equal(statSync(path("outside/own")).nlink, 1, name);
    };
    for (const { name, more } of hostileArchives(path("outside"))) {
      const { status, stderr } = unpack(archive({ more }));
      t.match(
        stderr,
        /^error: \S+ has an entry that no archive of a release has: [ -~]+\n {2}report it to the project and install nothing\n$/,
        name,
      );
      t.equal(status, 1, name);
      nothingElse(name);
    }
    const large = unpack(
      archive({ files: { "bin/tool": command("1.2.3"), "lib/a": Buffer.alloc(2_000_000) } }),
      "most_unpacked_bytes=1000000",
    );
    t.match(large.stderr, / unpacks to more than 1 MB\n {2}report it to the project and install nothing\n$/);
    nothingElse("more than it may");
    const whole = unpack(archive({}));
    t.same([whole.status, whole.stderr], [0, ""], "one that is as it has to be");
    t.end();
  });
}

/** Bytes that a mirror changes: all of what is small with 1,000, `npm run fuzz:mirror`. */
const ROUNDS = Number(process.env.MIRROR_ROUNDS ?? 8);

/** The bytes of a signature, whatever its lines are. */
const signatureOf = (text: Buffer) =>
  Buffer.from(/-----BEGIN SSH SIGNATURE-----([^-]*)/.exec(text.toString("latin1"))?.[1] ?? "", "base64");

t.test("a mirror that changes a byte", skip === false ? slow() : { skip }, async (t) => {
  const one = await world(t);
  t.equal((await one.run()).code, 0);
  const whole = release("1.3.0", { files: { "bin/tool": command("1.3.0"), "lib/large": randomBytes(20_000) } });
  const random = randomOf(3);
  const before = tree(one.path("usr"));
  for (const [file, has] of [
    [`tool_1.3.0_${NAME}.tar.xz`, "openssl"],
    ["RELEASE", "ssh-keygen"],
    ["RELEASE", "openssl"],
    ["RELEASE.sig", "ssh-keygen"],
    ["RELEASE.ed25519", "openssl"],
  ] as const) {
    const { length } = whole.get(file)!;
    const PATH = one.path(`with-${has}`);
    if (!existsSync(PATH)) programs(PATH, [...NEEDED, "curl", "xz", has]);
    const isArchive = file.startsWith("tool");
    for (let i = 0; i < (isArchive ? ROUNDS : Math.min(ROUNDS, length)); i++) {
      const at = isArchive || length > ROUNDS ? random.below(length) : i;
      const changed = withChangedByte(whole, file, at, 1 + random.below(255));
      one.host.releases.set("1.3.0", changed);
      const { code, stderr } = await one.run([], { env: { PATH, VERSION: "1.3.0" } });
      const name = `${file}, byte ${at} is ${changed.get(file)![at]}, with ${has}`;
      if (code === 0) {
        // A line end of the armor that is another blank, say.
        t.equal(file, "RELEASE.sig", `${name}: ${stderr}`);
        t.same(signatureOf(changed.get(file)!), signatureOf(whole.get(file)!), `${name}: the same signature`);
        t.equal((await one.run([], { env: { VERSION: "1.2.3" } })).code, 0);
        rmSync(one.path("usr/lib/tool/1.3.0"), { recursive: true });
        continue;
      }
      t.match(stderr, /^(?:downloading [^\n]+\n)?error: [^\n]+\n {2}[^\n]+\n$/, name);
      t.same(tree(one.path("usr")), before, `${name}: nothing is changed`);
      t.equal(version(one.path("usr/bin/tool")), "1.2.3-pro", name);
      t.same(readdirSync(one.path("tmp")), [], name);
    }
  }
});

/** Bytes of a receipt that are changed: with 1,000, `npm run fuzz:mirror`, all of them. */
const DAMAGES = 3 * Number(process.env.MIRROR_ROUNDS ?? 1);

t.test("a damaged receipt: nothing that it lists is linked or removed", { skip }, async (t) => {
  const { host, run, path } = await world(t);
  const file = path("usr/lib/tool/receipt.json");
  t.equal((await run()).code, 0);
  const before = tree(path("usr"));
  const receipt = readFileSync(file);
  const random = randomOf(4);
  const damages: [name: string, text: Buffer | string][] = [
    ["another command", receipt.toString().replace("usr/bin/tool", "usr/bin/t00l")],
    ["another link", receipt.toString().replace("man1/tool.1", "man1/t00l.1")],
    ["without its sum", receipt.toString().replace(/,\n {2}"sum".*/, "")],
    ["cut", receipt.subarray(0, -3)],
    ["more behind it", `${receipt}\n`],
    ["empty", ""],
  ];
  for (let i = 0; i < Math.min(DAMAGES, receipt.length); i++) {
    const at = receipt.length > DAMAGES ? random.below(receipt.length) : i;
    const changed = Buffer.from(receipt);
    changed[at]! ^= 1 + random.below(255);
    damages.push([`byte ${at} is ${changed[at]}`, changed]);
  }
  for (const [name, text] of damages) {
    writeFileSync(file, text);
    const { code, stderr } = await run(["--uninstall"]);
    t.equal(code, 1, name);
    t.match(stderr, /^error: .*receipt\.json is damaged\n {2}install the same version again, then remove it\n$/, name);
    t.same(tree(path("usr")), before, `${name}: nothing is changed`);
  }
  const { code, stderr } = await run();
  t.equal(code, 0);
  t.match(stderr, /^\S+receipt\.json is damaged: the version is installed anew\ndownloading /);
  t.same(tree(path("usr")), before);
  // Which folders it had made nothing tells any more.
  const { folders: _, sum: __, ...listed } = JSON.parse(receipt.toString());
  t.match(JSON.parse(readFileSync(file, "utf8")), listed);
  host.releases.set("1.3.0", release("1.3.0"));
  t.equal((await run([], { env: { VERSION: "1.3.0" } })).code, 0);
  t.equal((await run(["--uninstall"])).code, 0);
  t.same(tree(path("usr")), []);
});

t.test("without a verifier it goes on if it is told to", { skip }, async (t) => {
  const { run, path } = await world(t);
  const PATH = programs(path("programs"), [...NEEDED, "curl", "xz"]);
  const { code, stderr } = await run(["--no-signature"], { env: { PATH } });
  t.match(stderr, /^warning: the signature of the release is not verified, only the sums that it names\n/);
  t.equal(code, 0);
  t.equal(version(path("usr/bin/tool")), "1.2.3-pro");
});

t.test("a release without .tar.xz, on a machine with xz", { skip }, async (t) => {
  const { host, run, path } = await world(t);
  const files = host.releases.get("1.2.3")!;
  const lines = files.get("RELEASE")!.toString().split("\n");
  resign(files, lines.filter((line) => !line.endsWith(".tar.xz")).join("\n"), privateKey);
  const stderr = `${DOWNLOADING.replace(".xz", ".gz")}tool 1.2.3 is installed: /usr/bin/tool\n`;
  t.same(await run(), { code: 0, stderr });
  t.equal(version(path("usr/bin/tool")), "1.2.3-pro");
});

t.test("the folders that it made go with it", { skip }, async (t) => {
  const { host, run, path } = await world(t);
  const folders = () => readdirSync(path("."), { recursive: true, encoding: "utf8" }).sort();
  mkdirSync(path("usr/share/man"), { recursive: true });
  await t.test("when it is removed, also after an upgrade", async (t) => {
    writeFileSync(path("install.sh"), "");
    const before = folders();
    t.equal((await run()).code, 0);
    host.releases.set("1.3.0", release("1.3.0"));
    t.equal((await run([], { env: { VERSION: "1.3.0" } })).code, 0);
    t.same(await run(["--uninstall"]), { code: 0, stderr: "tool is removed: /usr/bin/tool\n" });
    t.same(folders(), before);
  });
  await t.test("when nothing could be installed", async (t) => {
    const before = folders();
    host.instead = (at, response) => /\.tar/.test(at) && !!response.writeHead(500).end();
    t.equal((await run()).code, 1);
    host.instead = undefined;
    t.same(folders(), before);
  });
  await t.test("but not one that has something of the person", async (t) => {
    t.equal((await run([], { env: { BINDIR: "deep/er/bin" } })).code, 0);
    writeFileSync(path("deep/er/bin/own"), "");
    t.equal((await run(["--uninstall"], { env: { BINDIR: path("deep/er/bin") } })).code, 0);
    t.same(readdirSync(path("deep"), { recursive: true, encoding: "utf8" }).sort(), ["er", "er/bin", "er/bin/own"]);
  });
});

t.test(
  "a man page of something else, which is gone later: the next run makes no link that nothing removes",
  { skip },
  async (t) => {
    const { run, path } = await world(t);
    mkdirSync(path("usr/share/man/man1"), { recursive: true });
    writeFileSync(path("usr/share/man/man1/tool.1"), "");
    t.equal((await run()).code, 0);
    rmSync(path("usr/share/man/man1/tool.1"));
    t.equal((await run()).code, 0);
    t.equal((await run(["--uninstall"])).code, 0);
    t.same(tree(path("usr")), []);
  },
);

t.test("where it goes", { skip }, async (t) => {
  await t.test("the prefix is not writable: a folder of the person", async (t) => {
    const { run, path } = await world(t);
    rmSync(path("usr"), { recursive: true });
    writeFileSync(path("usr"), "");
    t.same(await run(), {
      code: 0,
      stderr: `/usr is not writable: tool is installed for you alone, in /home/.local (for all: run this as root)
${DOWNLOADING}tool 1.2.3 is installed: /home/.local/bin/tool
add it to PATH, in ~/.profile or the like: export PATH="/home/.local/bin:$PATH"
`,
    });
    t.equal(version(path("home/.local/bin/tool")), "1.2.3-pro");
    t.equal((await run(["--uninstall"])).code, 0);
    t.same(tree(path("home")), []);
  });
  await t.test("BINDIR ends in /bin: the rest is beside it", async (t) => {
    const { run, path } = await world(t);
    t.equal((await run([], { env: { BINDIR: "a b/bin/" } })).code, 0);
    t.equal(version(path("a b/bin/tool")), "1.2.3-pro");
    t.same(tree(path("a b")), installed("1.2.3", path("a b")));
    t.equal((await run(["--uninstall"], { env: { BINDIR: path("a b/bin") } })).code, 0);
    t.same(tree(path("a b")), []);
  });
  await t.test("another BINDIR: the rest is in .tool there", async (t) => {
    const { run, path } = await world(t);
    t.equal((await run([], { env: { BINDIR: path("commands") } })).code, 0);
    t.same(
      tree(path("commands")).filter((line) => !line.startsWith(".tool/1.2.3/")),
      [".tool/receipt.json", "tool -> .tool/1.2.3/bin/tool"],
    );
    t.equal(version(path("commands/tool")), "1.2.3-pro");
    t.equal((await run(["--uninstall"], { env: { BINDIR: path("commands") } })).code, 0);
    t.same(tree(path("commands")), []);
  });
  await t.test("bin is a link to a folder elsewhere", async (t) => {
    const { run, path } = await world(t);
    mkdirSync(path("deep/er/bin"), { recursive: true });
    symlinkSync(path("deep/er/bin"), path("usr/bin"));
    t.equal((await run()).code, 0);
    t.equal(version(path("usr/bin/tool")), "1.2.3-pro");
  });
});

t.test("a hostile folder, PATH, CDPATH, IFS and umask", { skip }, async (t) => {
  const { run, path } = await world(t);
  mkdirSync(path("here"));
  for (const name of ["curl", "awk", "mktemp", "uname", "tar"])
    writeFileSync(join(path("here"), name), `#!/bin/sh\necho ran >'${path("ran")}'\n`, { mode: 0o755 });
  const env = { PATH: `.:${process.env.PATH}::here:${path("usr/bin")}`, CDPATH: path("here"), IFS: "/.o" };
  const shell = ["/bin/sh", "-c", 'umask 077; exec "$@"', "sh", where("dash")];
  const stderr = `${DOWNLOADING}tool 1.2.3 is installed: /usr/bin/tool\n`;
  t.same(await run([], { cwd: path("here"), env, shell }), { code: 0, stderr });
  t.notOk(existsSync(path("ran")));
  for (const folder of ["bin", "lib", "lib/tool", "lib/tool/1.2.3", "share/man/man1"])
    t.equal(statSync(path(`usr/${folder}`)).mode & 0o777, 0o755, folder);
  t.equal(statSync(path("usr/lib/tool/receipt.json")).mode & 0o777, 0o644);
});

t.test("what is unpacked is on the disk before the link leads to it", { skip }, async (t) => {
  const { host, run, path } = await world(t);
  t.equal((await run()).code, 0);
  for (const number of ["1.3.0", "1.4.0"]) host.releases.set(number, release(number));
  const recorder = (refuses: string) => ({
    sync: `printf '%s, while the command is %s\\n' "$*" "$(readlink '${path("usr/bin/tool")}')" >>'${path("told")}'\n${refuses}`,
  });
  const rows: [name: string, refuses: string, version: string, paths: (folder: string) => string[]][] = [
    [
      "a sync of files",
      "",
      "1.3.0",
      (folder) => [...filesOf("1.3.0").map((file) => path(`usr/${file}`)), folder, path("usr/lib/tool")],
    ],
    ["a sync that takes no files", "[ $# = 0 ]", "1.4.0", () => []],
    // 1.3.0 is the version before: the command is the unpacked one while that is replaced.
    ["a version in place of its own", "", "1.3.0", () => []],
  ];
  for (const [name, refuses, version, paths] of rows) {
    const PATH = programs(path(name), [...NEEDED, "curl", "ssh-keygen", "xz"], recorder(refuses));
    const before = readlinkSync(path("usr/bin/tool"));
    t.equal((await run([], { env: { PATH, VERSION: version } })).code, 0, name);
    const lines = readFileSync(path("told"), "utf8").trimEnd().split("\n");
    rmSync(path("told"));
    const untilThen = lines.filter((line) => line.endsWith(`, while the command is ${before}`));
    if (name === "a version in place of its own") t.match(untilThen[0], /\/bin\/tool\b/, `${name}: ${lines}`);
    else t.same(untilThen, lines, name);
    const synced = lines.map((line) => line.split(", while")[0]!);
    if (refuses !== "") t.equal(synced.at(-1), "", `${name}: all that there is`);
    for (const one of paths(path(`usr/lib/tool/${version}`)))
      t.ok(
        synced.some((line) => ` ${line} `.includes(` ${one} `)),
        `${name}: ${one}`,
      );
  }
});

t.test("a damaged installation is replaced", { skip }, async (t) => {
  const { run, path, host } = await world(t);
  t.equal((await run()).code, 0);
  writeFileSync(path("usr/lib/tool/1.2.3/lib/release.json"), "damaged");
  rmSync(path("usr/bin/tool"));
  t.same(await run(), { code: 0, stderr: `${DOWNLOADING}tool 1.2.3 is installed: /usr/bin/tool\n` });
  t.same(tree(path("usr")), installed("1.2.3", path("usr")));
  t.equal(version(path("usr/bin/tool")), "1.2.3-pro");

  // An archive of another kind has the same folder.
  host.releases.set("1.2.3", release("1.2.3", { kind: "tool-cli", files: { "bin/tool": command("1.2.3") } }));
  t.equal((await run(["--cli"])).code, 0);
  t.same(readdirSync(path("usr/lib/tool/1.2.3")), ["bin"]);
  t.equal(version(path("usr/bin/tool")), "1.2.3-pro");

  writeFileSync(path("usr/lib/tool/1.2.3/own"), "");
  t.same(await run(["--uninstall"]), {
    code: 0,
    stderr: "left: /usr/lib/tool has files that this script did not put there\ntool is removed: /usr/bin/tool\n",
  });
  t.same(tree(path("usr/lib")), ["tool/1.2.3/own"]);
});

t.test(
  "interrupted, it leaves nothing; what is left of one that was killed goes with the next",
  { skip },
  async (t) => {
    for (const signal of ["SIGINT", "SIGTERM", "SIGKILL"] as const) {
      await t.test(signal, async (t) => {
        const { run, host, path } = await world(t);
        let group = 0;
        host.instead = (at, response) => {
          if (!/\.tar/.test(at)) return false;
          response.writeHead(200, { "content-length": "100000" }).write("x", () => process.kill(-group, signal));
          return true;
        };
        const { code } = await run([], { onStart: (pid) => (group = pid) });
        if (signal === "SIGKILL") t.same(tree(path("usr")), ["lib/tool/.lock"]);
        else {
          t.equal(code, signal === "SIGINT" ? 130 : 143);
          t.same(tree(path("usr")), []);
          t.same(readdirSync(path("tmp")), []);
        }
        host.instead = undefined;
        mkdirSync(path("usr/lib/tool/.new.x/y"), { recursive: true });
        writeFileSync(path("usr/lib/tool/.lock.4194304"), "4194305\n");
        t.equal((await run()).code, 0);
        t.same(tree(path("usr")), installed("1.2.3", path("usr")));
      });
    }
  },
);

/** The programs by which the script changes folders. */
const CHANGING = "cp ln mkdir mv rm rmdir xargs".split(" ");

t.test(
  "killed before each change once it has unpacked, the command is the old one or the new one",
  skip === false ? slow() : { skip },
  async (t) => {
    const { host, run, path } = await world(t);
    t.equal((await run()).code, 0);
    host.releases.set("1.3.0", release("1.3.0"));
    cpSync(path("usr"), path("begin"), { recursive: true, verbatimSymlinks: true });
    const unpacked = `'${path("usr/lib/tool")}'/.new.*/tool_1.3.0_${NAME}/bin/tool`;
    const killing = (name: string) => `calls=$(cat '${path("calls")}')
if [ -e ${unpacked} ] || [ "$calls" != 0 ]; then
  calls=$((calls + 1))
  printf '%s\\n' "$calls" >'${path("calls")}'
  [ "$calls" != "$(cat '${path("last")}')" ] || { printf '${name} %s' "$*" >'${path("before")}'; kill -KILL 0; }
fi
exec ${where(name)} "$@"`;
    const own = Object.fromEntries(CHANGING.map((name) => [name, killing(name)]));
    const PATH = programs(path("programs"), [...NEEDED, "curl", "ssh-keygen", "xz"], own);
    const wanted = [...installed("1.3.0", path("usr")), ...filesOf("1.2.3")].sort();
    const versions = new Set<string>();
    for (let last = 1; ; last++) {
      rmSync(path("usr"), { recursive: true });
      cpSync(path("begin"), path("usr"), { recursive: true, verbatimSymlinks: true });
      writeFileSync(path("calls"), "0");
      writeFileSync(path("last"), `${last}`);
      writeFileSync(path("before"), "");
      const { code, stderr } = await run([], { env: { PATH, VERSION: "1.3.0" } });
      const step = readFileSync(path("before"), "utf8");
      t.match(version(path("usr/bin/tool")), /^1\.[23]\.[03]-pro$/, `killed before: ${step}`);
      versions.add(version(path("usr/bin/tool")));
      if (step === "") {
        t.equal(code, 0, stderr);
        t.ok(last > 9, `${last - 1} changes`);
      } else t.equal((await run([], { env: { VERSION: "1.3.0" } })).code, 0, `completed after: ${step}`);
      t.equal(version(path("usr/bin/tool")), "1.3.0-pro");
      t.same(tree(path("usr")).sort(), wanted, `completed after: ${step}`);
      if (step === "") break;
    }
    t.same([...versions].sort(), ["1.2.3-pro", "1.3.0-pro"]);
  },
);

t.test("shellcheck has nothing to say", { skip: requires("shellcheck") }, (t) => {
  const { stdout } = spawnSync("shellcheck", ["-s", "sh", join(root, "cli/release/install.sh")], { encoding: "utf8" });
  t.equal(stdout, "");
  t.end();
});
