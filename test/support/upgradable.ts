// An installation of a release that `tool upgrade` finds: a small one, whose bundles are those of the build.
import { spawn, spawnSync } from "node:child_process";
import { createHash, generateKeyPairSync } from "node:crypto";
import { copyFileSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { type Receipt, receiptText } from "../../cli/release/receipt.ts";
import { pinnedKeyOf } from "../../cli/release/statement.ts";
import { cleanEnv, cliPath } from "./cli.ts";
import {
  CERTIFICATE,
  type ReleaseHost,
  type ReleaseOptions,
  releaseOf,
  SYSTEM,
  startReleaseHost,
} from "./release-host.ts";

/** The key that signs the releases. */
export const { privateKey } = generateKeyPairSync("ed25519");
/** The keys that the installation trusts. */
export const KEYS = [pinnedKeyOf(generateKeyPairSync("ed25519").publicKey), pinnedKeyOf(privateKey)];

export const release = (version: string, more: Partial<ReleaseOptions> = {}) =>
  releaseOf({
    version,
    key: privateKey,
    files: { "bin/tool": says(version), "lib/a.js": version, "share/man/man1/tool.1": ".TH tool 1" },
    ...more,
  });
/** A command that only says its version, and that the token did not reach it. */
export const says = (version: string) => `#!/bin/sh\n[ -z "\${GIT_HOST_TOKEN-}" ] || exit 9\necho ${version}-pro\n`;

/** The folder of the bundles that are built. */
export const bin = dirname(cliPath);
/** The bundles that the command loads. */
export const BUNDLES = [
  "cli.cjs",
  "main.cjs",
  ...readdirSync(join(bin, "commands")).map((name) => `commands/${name}`),
].filter((name) => /^[^/]*$|\/(?:upgrade|shared-\w+)\.cjs$/.test(name));

export interface Upgradable {
  readonly host: ReleaseHost;
  readonly path: (name: string) => string;
  /** Runs `tool upgrade ...words` of the installation. */
  upgrade(words?: readonly string[], options?: UpgradeOptions): Promise<Ended>;
  /** The version that the command says. */
  version(): string;
}

interface UpgradeOptions {
  readonly env?: Readonly<Record<string, string>>;
  readonly uid?: number;
  readonly limit?: string;
  readonly cwd?: string;
  readonly onStart?: (pid: number) => void;
}

interface Ended {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

interface Test {
  testdir(files: Record<string, Record<string, never>>): string;
  teardown(handler: () => Promise<void>): void;
}

/** The prefix usr with version 1.2.3, whose bundles are those of the build, and a Git host that has 1.2.3 and 1.3.0. */
export async function startUpgradable(t: Test, folder = t.testdir({ usr: {}, home: {} })): Promise<Upgradable> {
  const path = (name: string) => join(folder, name);
  const host = await startReleaseHost(t);
  host.releases.set("1.3.0", release("1.3.0"));
  host.releases.set("1.2.3", release("1.2.3"));
  const installed = path("usr/lib/tool/1.2.3");
  const files: Record<string, string> = {
    "bin/tool": `#!/bin/sh
[ "$1" != version ] || { echo 1.2.3-pro; exit 0; }
exec '${process.execPath}' "$(dirname "$(readlink -f "$0")")/../lib/cli.cjs" "$@"
`,
    "lib/release.json": JSON.stringify({
      version: "1.2.3",
      edition: "pro",
      origin: host.origin,
      keys: KEYS,
      platform: SYSTEM,
      kind: "tool",
    }),
  };
  for (const name of ["bin", "lib/commands"]) mkdirSync(join(installed, name), { recursive: true });
  for (const [name, text] of Object.entries(files)) writeFileSync(join(installed, name), text, { mode: 0o755 });
  for (const name of BUNDLES) copyFileSync(join(bin, name), join(installed, "lib", name));
  copyFileSync(CERTIFICATE, path("authorities.pem"));
  const sums = Object.fromEntries(
    [...Object.keys(files), ...BUNDLES.map((name) => `lib/${name}`)].map((name) => [
      name,
      createHash("sha256")
        .update(readFileSync(join(installed, name)))
        .digest("hex"),
    ]),
  );
  mkdirSync(path("usr/bin"));
  symlinkSync("../lib/tool/1.2.3/bin/tool", path("usr/bin/tool"));
  const receipt: Receipt = {
    ...{ version: "1.2.3", edition: "pro", kind: "tool", platform: SYSTEM, origin: host.origin },
    ...{ command: path("usr/bin/tool"), folder: installed, links: [], files: sums },
  };
  writeFileSync(path("usr/lib/tool/receipt.json"), receiptText(receipt));
  return {
    host,
    path,
    upgrade(words = [], { env = {}, uid, limit = ":", cwd = folder, onStart = () => {} } = {}) {
      const child = spawn("sh", ["-c", `${limit}; exec "$@"`, "sh", path("usr/bin/tool"), "upgrade", ...words], {
        cwd,
        env: cleanEnv({ HOME: path("home"), NODE_EXTRA_CA_CERTS: path("authorities.pem"), ...env }),
        stdio: ["ignore", "pipe", "pipe"],
        ...(uid !== undefined && { uid }),
      });
      onStart(child.pid!);
      const said = { stdout: "", stderr: "" };
      for (const name of ["stdout", "stderr"] as const)
        child[name].setEncoding("utf8").on("data", (text: string) => {
          said[name] += text;
        });
      const plain = (text: string) =>
        text
          .replaceAll(folder, "")
          .replaceAll(/:\d{4,5}\b/g, ":PORT")
          .replaceAll(/ \([\d.]+m?s\)$/gm, " (TIME)");
      return new Promise((done) => {
        child.once("close", (code) => done({ code, stdout: plain(said.stdout), stderr: plain(said.stderr) }));
      });
    },
    version: () => spawnSync(path("usr/bin/tool"), ["version"], { encoding: "utf8" }).stdout?.trim(),
  };
}
