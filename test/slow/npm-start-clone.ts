// `npm start` as a new user runs it, in a fresh clone of the last commit: it installs, builds and serves. Finds files that were not
// committed, and steps that the README lacks.
import { spawn, spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import t from "tap";
import { anyPort } from "../../runtime/port.ts";
import { root } from "../support/cli.ts";
import { processesWith } from "../support/processes.ts";
import { until } from "../support/until.ts";

const isClone = existsSync(join(root, ".git"));
const skip = process.platform !== "linux" ? "needs /proc" : isClone ? false : "this folder is no clone";

t.test("npm start in a fresh clone", { skip }, async (t) => {
  const folder = mkdtempSync(join(tmpdir(), "npm-start-clone-"));
  t.teardown(() => rmSync(folder, { recursive: true, force: true, maxRetries: 5 }));
  const clone = join(folder, "tool");
  t.equal(git(["clone", "--quiet", root, clone]), "");
  const processes = () => processesWith(`NPM_START_CLONE=${folder}`);
  t.teardown(() => {
    for (const pid of processes()) process.kill(pid, "SIGKILL");
  });

  // npm keeps its settings and its cache: how fast a registry answers is nothing that is tested here.
  const child = spawn("npm", ["start"], {
    cwd: clone,
    env: {
      ...process.env,
      NPM_START_CLONE: folder,
      XDG_STATE_HOME: join(folder, "state"),
      XDG_CONFIG_HOME: join(folder, "config"),
      TOOL_APP_ADDRESS: `127.0.0.1:${await anyPort()}`,
      TOOL_SERVICE_ADDRESS: `127.0.0.1:${await anyPort()}`,
    },
    stdio: ["ignore", "pipe", "pipe"],
    detached: true,
  });
  let output = "";
  const ended = new Promise<void>((resolve) => child.once("close", () => resolve()));
  const serves = new Promise<string | undefined>((resolve) => {
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding("utf8").on("data", (text: string) => {
        output += text;
        const address = /answers at (\S+)/.exec(output)?.[1];
        if (address !== undefined) resolve(address);
      });
    }
    // Not bounded by a time: installing and building take as long as the machine and the registry need.
    void ended.then(() => resolve(undefined));
  });

  const address = await serves;
  if (address === undefined) return t.fail("it serves", { output });
  const response = await fetch(address);
  t.equal(response.status, 200, "the app answers");
  t.match(await response.text(), /<html/, "with its page");
  const service = /log service at (\S+)/.exec(output)?.[1];
  t.equal((await fetch(`${service}/`)).status, 200, "the log service answers");

  // As Ctrl-C does it, to all of the group.
  process.kill(-child.pid!, "SIGINT");
  await ended;
  await until("the end of all", () => processes().length === 0);
  t.equal(git(["-C", clone, "status", "--porcelain"]), "", "nothing is left that git does not ignore");
  // Tests would find half of a build if one of them prepared the project while others run.
  const again = spawnSync(process.execPath, ["cli/bootstrap.mjs", "prepare"], { cwd: clone, encoding: "utf8" });
  t.equal(again.stdout + again.stderr, "", "all is installed and built");
});

/** The output of both streams. */
function git(words: readonly string[]): string {
  const { stdout, stderr } = spawnSync("git", words, { encoding: "utf8" });
  return stdout + stderr;
}
