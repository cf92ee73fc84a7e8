// VS Code as a server: code-server from npm under its own Node, installed once into a folder that stays, and started with
// nothing of the machine that runs the tests.
import { spawn, spawnSync } from "node:child_process";
import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { cleanEnv, cliPath, root } from "./cli.ts";
import { requires } from "./require.ts";
import { until } from "./until.ts";
import { withoutLoaders } from "./without-loaders.ts";

const CODE_SERVER = "4.139.1";
/** The only line of Node that this code-server runs on. */
const NODE = "24";
const cache = process.env.TOOL_CODE_SERVER ?? join(root, "node_modules/.cache/code-server");
/** Written last, so that an interrupted installation is done again. */
const stamp = join(cache, `installed-${CODE_SERVER}`);
const node = join(cache, "node/node_modules/node/bin/node");
const entry = join(cache, "server/node_modules/code-server/out/node/entry.js");

export interface CodeServer {
  readonly url: string;
  readonly pid: number;
  output(): string;
  /** The processes of this VS Code, of its extensions and of everything that was started in it, as `pid command line`. */
  processes(): string[];
  /** Ends it and everything that was started in it; gives what did not end by itself. A second call finds nothing to do. */
  stop(): Promise<string[]>;
}

/** Why VS Code cannot be run here, or false; with TOOL_TEST_REQUIRE=all what is missing is installed or fails. */
export function requiresCodeServer(): string | false {
  const chromium = requires("chromium");
  if (chromium !== false || process.env.TOOL_TEST_REQUIRE === "all" || existsSync(stamp)) return chromium;
  return `VS Code is not installed here (TOOL_TEST_REQUIRE=all gets code-server ${CODE_SERVER} from npm, 900 MB on disk)`;
}

/** Installs code-server where it is not there yet. Nothing is compiled: no script of a package is run but Node's own. */
function installCodeServer(): void {
  if (existsSync(stamp)) return;
  rmSync(cache, { recursive: true, force: true });
  installPackages(join(cache, "node"), [`node@${NODE}`]);
  const server = join(cache, "server");
  installPackages(server, ["--ignore-scripts", `code-server@${CODE_SERVER}`]);
  // The package's own installation script would do these two, and compile.
  const vscode = join(server, "node_modules/code-server/lib/vscode");
  for (const folder of [vscode, join(vscode, "extensions")])
    installPackages(folder, ["--ignore-scripts", "--omit=dev"]);
  writeFileSync(stamp, "");
}

/** `npm install` in a folder of its own. */
export function installPackages(folder: string, args: readonly string[]): void {
  mkdirSync(folder, { recursive: true });
  if (!existsSync(join(folder, "package.json"))) writeFileSync(join(folder, "package.json"), '{"private":true}');
  const { status, stderr, error } = spawnSync(
    ...withoutLoaders("npm", ["install", "--no-audit", "--no-fund", "--silent", ...args]),
    {
      cwd: folder,
      encoding: "utf8",
      stdio: ["ignore", "ignore", "pipe"],
    },
  );
  if (status !== 0) throw new Error(`npm install ${args.join(" ")}: ${error?.message ?? stderr}`);
}

/** Settings against the parts that a fresh VS Code shows over the text, and against data that leaves the machine. */
const SETTINGS = {
  "workbench.startupEditor": "none",
  "workbench.secondarySideBar.defaultVisibility": "hidden",
  "chat.disableAIFeatures": true,
  "telemetry.telemetryLevel": "off",
  "update.mode": "none",
  "extensions.autoUpdate": false,
  "extensions.autoCheckUpdates": false,
  "extensions.ignoreRecommendations": true,
  "workbench.enableExperiments": false,
  "workbench.settings.enableNaturalLanguageSearch": false,
  "workbench.tips.enabled": false,
  // In a browser it would save by itself, as the browser may end at any time.
  "files.autoSave": "off",
  "remote.autoForwardPorts": false,
  "git.enabled": false,
  "json.schemaDownload.enable": false,
  "window.commandCenter": false,
  "files.simpleDialog.enable": true,
  "terminal.integrated.defaultProfile.linux": "sh",
  "terminal.integrated.profiles.linux": { sh: { path: "/bin/sh" } },
};

/** Looks in a row that find no process. */
const LOOKS = 5;

export interface CodeServerOptions {
  /** A folder of its own, for the user's data, home and extensions. */
  readonly dir: string;
  readonly vsix: string;
  /** Whether folders are asked about before they are trusted; without it all are. */
  readonly trust?: boolean;
  readonly settings?: Readonly<Record<string, unknown>>;
  /** More variables for it and for everything that is started in it. */
  readonly env?: Readonly<Record<string, string>>;
}

/** Starts VS Code with one extension, and `tool` on its path; installs it first if need be. Resolves once it answers. */
export async function startCodeServer({
  dir,
  vsix,
  trust = false,
  settings,
  env: more,
}: CodeServerOptions): Promise<CodeServer> {
  installCodeServer();
  const home = join(dir, "home");
  const bin = join(dir, "bin");
  const data = join(dir, "data");
  mkdirSync(home, { recursive: true });
  mkdirSync(join(data, "User"), { recursive: true });
  mkdirSync(bin, { recursive: true });
  writeFileSync(join(data, "User/settings.json"), JSON.stringify({ ...SETTINGS, ...settings }));
  writeFileSync(join(bin, "tool"), `#!/bin/sh\nexec "${process.execPath}" "${cliPath}" "$@"\n`);
  chmodSync(join(bin, "tool"), 0o755);
  // VS Code asks a login shell for the variables, and that sets the path again.
  writeFileSync(join(home, ".profile"), `export PATH="${bin}:$PATH"\n`);

  const env = cleanEnv({
    HOME: home,
    LANG: "C.UTF-8",
    SHELL: "/bin/sh",
    // The processes that are started in it inherit this, and are found by it.
    TOOL_CLIENT: dir,
    ...more,
  });
  const where = [
    "--user-data-dir",
    data,
    "--extensions-dir",
    join(dir, "extensions"),
    "--config",
    join(dir, "config.yaml"),
  ];
  const install = spawnSync(...withoutLoaders(node, [entry, ...where, "--install-extension", vsix]), {
    env,
    encoding: "utf8",
  });
  if (install.status !== 0) throw new Error(`the extension was not installed: ${install.stdout}${install.stderr}`);

  const argv = [
    ...[entry, ...where, "--bind-addr", "127.0.0.1:0", "--auth", "none"],
    ...["--disable-telemetry", "--disable-update-check", "--disable-getting-started-override"],
    ...(trust ? [] : ["--disable-workspace-trust"]),
  ];
  const child = spawn(...withoutLoaders(node, argv), { env, stdio: ["ignore", "pipe", "pipe"] });
  let output = "";
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding("utf8").on("data", (text: string) => {
      output += text;
    });
  }
  const processes = () => processesWith(`TOOL_CLIENT=${dir}`);
  const kill = (lines: readonly string[]) => {
    for (const line of lines) {
      try {
        process.kill(Number.parseInt(line, 10), "SIGKILL");
      } catch (error) {
        // It has ended meanwhile.
        if ((error as NodeJS.ErrnoException).code !== "ESRCH") throw error;
      }
    }
  };
  /** The environment of a process that is just being started cannot be read, so that one look is not enough. */
  const untilNone = (what: string) => {
    let looks = 0;
    return until(what, () => {
      looks = processes().length === 0 ? looks + 1 : 0;
      return looks === LOOKS;
    });
  };
  // Where the test is ended before its own end.
  const last = () => kill(processes());
  process.once("exit", last);
  const stop = async () => {
    child.kill("SIGTERM");
    await untilNone("the end of VS Code").catch(() => {});
    const left = processes();
    kill(left);
    await untilNone("the end of all its processes");
    process.off("exit", last);
    // One that was not found would hold them, and this process with them.
    child.stdout.destroy();
    child.stderr.destroy();
    return left;
  };
  try {
    const url = await until("VS Code's address", () => {
      if (child.exitCode !== null) throw new Error(`VS Code ended: ${output}`);
      return /HTTP server listening on (http:\/\/127\.0\.0\.1:\d+)/.exec(output)?.[1];
    });
    await until("VS Code's health", async () => (await fetch(`${url}/healthz`)).ok);
    return { url, pid: child.pid!, output: () => output, processes, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

/** proc(5): the running processes whose environment holds this variable, as `pid command line`. */
function processesWith(variable: string): string[] {
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .flatMap((pid) => {
      try {
        if (!readFileSync(`/proc/${pid}/environ`, "utf8").split("\0").includes(variable)) return [];
        return [`${pid} ${readFileSync(`/proc/${pid}/cmdline`, "utf8").split("\0").join(" ").trim()}`];
      } catch {
        return []; // It has ended meanwhile, or belongs to somebody else.
      }
    });
}
