// A person on another machine, from installing to removing: node dist/test/machine/debian.js --root DIR --releases DIR
//
// Prints a line for each step, and ends with 1 at the first that went wrong. It needs root, and changes nothing outside of a
// copy of the root in --work (default: beside it). README.md says how the root and the releases are made.
import { type ChildProcess, execFileSync, spawn, spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { once } from "node:events";
import { cpSync, lstatSync, readdirSync, readFileSync, readlinkSync, rmSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { text } from "node:stream/consumers";
import { parseArgs } from "node:util";
import { CERTIFICATE, startReleaseHost } from "../support/release-host.ts";
import { until } from "../support/until.ts";
import { type Day, daysOf, LEFT, PERSON } from "./days.ts";

/** For the process in a network of its own, where only the Git host is. */
const IS_ALONE = "TOOL_MACHINE_ALONE";

/** A root that programs run in, with processes of its own. */
class Machine {
  readonly #root: string;
  readonly #first: ChildProcess;

  constructor(root: string) {
    this.#root = root;
    // The first process takes the exit codes of those whose parents have ended, as that of a system does.
    const begin = `set -e
mount --bind "$1" "$1"
mount -t proc none "$1/proc"
mount --rbind /dev "$1/dev"
exec chroot "$1" sh -c 'while sleep 1; do :; done'`;
    const words = ["--mount", "--pid", "--fork", "--kill-child", "sh", "-c", begin, "begin", root];
    this.#first = spawn("unshare", words, { stdio: "inherit" });
  }

  /** Runs a script as a user who has just signed in. */
  async run(user: string, script: string) {
    const home = user === "root" ? "/root" : `/home/${user}`;
    const path = [...(user === "root" ? [] : [`${home}/.local/bin`]), "/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin"];
    const env = [`HOME=${home}`, `USER=${user}`, `PATH=${path.join(":")}`, "LANG=C.UTF-8"];
    const { pid } = this.#first;
    const first = await until("the first process", () => {
      return readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8").trim() || undefined;
    });
    const words = [`--target=${first}`, "--mount", "--pid", "--", "chroot", `--userspec=${user}:${user}`, this.#root];
    const shell = ["env", "-i", ...env, "sh", "-c", `cd && { ${script}\n} 2>&1`];
    const child = spawn("nsenter", [...words, ...shell], { stdio: ["ignore", "pipe", "inherit"] });
    const [said, [code]] = await Promise.all([text(child.stdout), once(child, "exit") as Promise<[number | null]>]);
    return { code, said };
  }

  stop(): void {
    this.#first.kill("SIGKILL");
  }
}

/** All below a folder but what the system keeps in memory: folders, links, and files with their sums. */
function listed(root: string, folder = ""): string[] {
  return readdirSync(join(root, folder)).flatMap((name) => {
    const path = `${folder}/${name}`;
    if (/^\/(?:proc|dev|sys)\/|^\/tmp\/?$/.test(`${path}/`)) return [];
    const stats = lstatSync(join(root, path));
    if (stats.isSymbolicLink()) return [`${path} -> ${readlinkSync(join(root, path))}`];
    if (stats.isDirectory()) return [`${path}/`, ...listed(root, path)];
    return stats.isFile()
      ? [
          `${path} ${createHash("sha1")
            .update(readFileSync(join(root, path)))
            .digest("hex")}`,
        ]
      : [];
  });
}

/** Lives a day; how much of it went wrong. */
async function live(machine: Machine, root: string, { title, steps }: Day): Promise<number> {
  console.log(`\n${title}`);
  const before = new Set(listed(root));
  let wrong = 0;
  for (const { what, script, user = PERSON, code: wanted = 0, says = /^/ } of steps) {
    const { code, said } = await machine.run(user, script);
    const isRight = code === wanted && says.test(said);
    console.log(`${isRight ? "ok   " : "WRONG"} ${what}${isRight ? "" : `: ended with ${code}\n${said}`}`);
    if (!isRight) wrong++;
  }
  const after = listed(root);
  const kept = after.filter((line) => !before.has(line));
  const lost = [...before].filter((line) => !after.includes(line));
  const strange = [
    ...kept.filter((line) => !LEFT.some(({ path }) => line.startsWith(path) || path.startsWith(line))),
    ...lost.map((line) => `gone: ${line}`),
  ];
  for (const { path, what } of LEFT) {
    if (kept.some((line) => line.startsWith(path))) console.log(`left  ${path}: ${what}`);
  }
  for (const line of strange) console.log(`WRONG left or changed: ${line}`);
  return wrong + strange.length;
}

async function main(): Promise<void> {
  const path = { type: "string" } as const;
  const { values } = parseArgs({ options: { root: path, releases: path, work: path } });
  if (values.root === undefined || values.releases === undefined)
    throw new Error("--root and --releases are missing: README.md says how they are made");
  if (process.env[IS_ALONE] === undefined) {
    const words = ["--net", "sh", "-c", 'ip link set lo up && exec "$@"', "sh", process.execPath];
    const { status } = spawnSync("unshare", [...words, import.meta.filename, ...process.argv.slice(2)], {
      stdio: "inherit",
      env: { ...process.env, [IS_ALONE]: "1" },
    });
    process.exitCode = status ?? 1;
    return;
  }
  const work = resolve(values.work ?? `${values.root}.work`);
  rmSync(work, { recursive: true, force: true });
  execFileSync("cp", ["-a", values.root, work]);
  cpSync(CERTIFICATE, join(work, "usr/local/share/ca-certificates/git-host.crt"));
  writeFileSync(join(work, "etc/hosts"), "127.0.0.1 localhost\n");

  const versions = readdirSync(values.releases)
    .filter((name) => /^v\d/.test(name))
    .sort()
    .reverse();
  const newest = join(values.releases, versions[0]!);
  const origin = /^ORIGIN='(.*)'$/m.exec(readFileSync(join(newest, "install.sh"), "utf8"))![1]!;
  const ends: (() => Promise<void>)[] = [];
  const host = await startReleaseHost({ teardown: (end) => ends.push(end) }, Number(new URL(origin).port));
  for (const version of versions) {
    const files = readdirSync(join(values.releases, version));
    host.releases.set(
      version.slice(1),
      new Map(files.map((name) => [name, readFileSync(join(values.releases!, version, name))])),
    );
  }
  const machine = new Machine(work);
  try {
    const made = await machine.run("root", `update-ca-certificates && useradd --create-home ${PERSON}`);
    if (made.code !== 0) throw new Error(made.said);
    let wrong = 0;
    for (const day of daysOf(host.pages)) wrong += await live(machine, work, day);
    process.exitCode = wrong > 0 ? 1 : 0;
  } finally {
    machine.stop();
    for (const end of ends) await end();
  }
}
await main();
