// VS Code for the Web: the oldest that the extension supports, from npm, in a page of loopback. Nothing of the extension
// runs outside of the browser there.
import { fork } from "node:child_process";
import { existsSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { cleanEnv, root } from "./cli.ts";
import { installPackages } from "./code-server.ts";
import { requires } from "./require.ts";
import { until } from "./until.ts";

const VSCODE_WEB = "1.91.1";
/** Microsoft's server of that page, with an extension for a folder whose changes stay in the page. */
const TEST_WEB = "0.0.81";
const cache = process.env.TOOL_VSCODE_WEB ?? join(root, "node_modules/.cache/vscode-web");
/** Written last, so that an interrupted installation is done again. */
const stamp = join(cache, `installed-${VSCODE_WEB}-${TEST_WEB}`);

export interface VscodeWeb {
  readonly url: string;
  stop(): Promise<void>;
}

/** Why VS Code for the Web cannot be run here, or false; with TOOL_TEST_REQUIRE=all what is missing is installed or fails. */
export function requiresVscodeWeb(): string | false {
  const chromium = requires("chromium");
  if (chromium !== false || process.env.TOOL_TEST_REQUIRE === "all" || existsSync(stamp)) return chromium;
  return `VS Code for the Web is not installed here (TOOL_TEST_REQUIRE=all gets vscode-web ${VSCODE_WEB} from npm, 110 MB on disk)`;
}

function installVscodeWeb(): void {
  if (existsSync(stamp)) return;
  rmSync(cache, { recursive: true, force: true });
  installPackages(cache, ["--ignore-scripts", `vscode-web@${VSCODE_WEB}`, `@vscode/test-web@${TEST_WEB}`]);
  writeFileSync(stamp, "");
}

/** In a browser it would save by itself, as the browser may end at any time. */
const SETTINGS = { "files.autoSave": "off", "workbench.startupEditor": "none" };

/** Serves VS Code with one extension, of which `extension` is the folder, and a folder to open, which gets settings. */
export async function startVscodeWeb(extension: string, folder: string): Promise<VscodeWeb> {
  installVscodeWeb();
  // There is no other place for settings.
  mkdirSync(join(folder, ".vscode"));
  writeFileSync(join(folder, ".vscode/settings.json"), JSON.stringify(SETTINGS));
  // Its command takes no port but a certain one.
  const script = join(cache, "serve.cjs");
  writeFileSync(
    script,
    `const { runServer } = require("@vscode/test-web/out/server/main.js");
    const [location, extension, folderMountPath] = process.argv.slice(2);
    const config = { build: { type: "static", location }, extensionPaths: [extension], folderMountPath, esm: false };
    runServer("127.0.0.1", 0, config).then((server) => {
      const tell = () => process.send(server.address().port);
      server.listening ? tell() : server.once("listening", tell);
    });
    process.once("disconnect", () => process.exit());`,
  );
  const build = join(cache, "node_modules/vscode-web/dist");
  const child = fork(script, [build, extension, folder], { env: cleanEnv({}), execArgv: [], stdio: "ignore" });
  let port: number | undefined;
  child.once("message", (message) => {
    port = message as number;
  });
  const listening = await until("the port of VS Code for the Web", () => {
    if (child.exitCode !== null) throw new Error(`its server ended with ${child.exitCode}`);
    return port;
  });
  return {
    // By this name, as each extension has an origin of its own below it.
    url: `http://localhost:${listening}`,
    async stop() {
      child.kill();
      await until("its end", () => child.exitCode !== null || child.signalCode !== null);
    },
  };
}
