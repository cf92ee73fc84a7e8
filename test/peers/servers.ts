// The emulators that are compared with: from PyPI, in a virtual environment that is kept between runs.
import { spawn, spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { anyPort } from "../../runtime/port.ts";
import { root } from "../support/cli.ts";
import { until } from "../support/until.ts";

/** Pinned: what they do differently is a list that is compared. */
const PACKAGES = ["ministack==1.5.33", "moto[server]==5.2.5"];

const environment = join(root, "node_modules/.cache/peers");

/** Installs what is missing; the reason where it cannot be. */
export function installPeers(): string | undefined {
  const python = join(environment, "bin/python");
  if (!existsSync(python)) {
    const made = spawnSync("python3", ["-m", "venv", environment], { encoding: "utf8" });
    if (made.status !== 0) return `no Python with venv (Debian: apt-get install python3-venv)`;
  }
  const installed = spawnSync(python, ["-m", "pip", "install", "--quiet", "--disable-pip-version-check", ...PACKAGES], {
    encoding: "utf8",
  });
  return installed.status === 0
    ? undefined
    : `pip install ${PACKAGES.join(" ")}: ${installed.stderr.trim().split("\n").pop()}`;
}

export const sitePackages = () => {
  const result = spawnSync(
    join(environment, "bin/python"),
    ["-c", "import sysconfig; print(sysconfig.get_path('purelib'))"],
    { encoding: "utf8" },
  );
  return result.stdout.trim();
};

interface Test {
  teardown(handler: () => Promise<void>): void;
}

export type Peer = "ministack" | "moto";

/** Runs until the test ends; gives its address. */
export async function startPeer(t: Test, peer: Peer): Promise<string> {
  const port = await anyPort();
  const cwd = mkdtempSync(join(tmpdir(), `${peer}-`));
  const [program, args] = peer === "moto" ? ["moto_server", ["-p", String(port)]] : ["ministack", []];
  const child = spawn(join(environment, "bin", program as string), args as string[], {
    cwd,
    detached: true,
    stdio: "ignore",
    env: {
      PATH: process.env.PATH,
      HOME: cwd,
      TMPDIR: cwd,
      GATEWAY_PORT: String(port),
      MINISTACK_ACCOUNT_ID: "123456789012",
    },
  });
  t.teardown(async () => {
    const ended = new Promise<void>((resolve) => child.once("exit", () => resolve()));
    if (child.exitCode === null && child.signalCode === null) {
      process.kill(-child.pid!, "SIGKILL");
      await ended;
    }
    rmSync(cwd, { recursive: true, force: true });
  });
  const url = `http://127.0.0.1:${port}`;
  await until(`${peer} on ${url}`, () =>
    fetch(url).then(
      () => true,
      () => false,
    ),
  );
  return url;
}
