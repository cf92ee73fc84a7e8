import { spawn } from "node:child_process";
import type { Io } from "./io.ts";
import { withoutSecrets } from "./without-secrets.ts";

/** Opens a URL or a file in the browser. False if there is no display, or no command that opens it. */
export async function openInBrowser({ env, platform }: Io, target: string): Promise<boolean> {
  if (platform === "darwin") return starts("open", [target], env);
  // The empty argument is the window's title; without it `start` takes a quoted URL for the title.
  if (platform === "win32") return starts("cmd", ["/c", "start", "", target], env);
  if (!env.DISPLAY && !env.WAYLAND_DISPLAY) return false;
  return starts("xdg-open", [target], env);
}

function starts(command: string, args: readonly string[], env: Io["env"]): Promise<boolean> {
  return new Promise((resolve) => {
    const child = spawn(command, args, { env: withoutSecrets(env), stdio: "ignore", detached: true });
    child.once("error", () => resolve(false));
    child.once("spawn", () => {
      child.unref();
      resolve(true);
    });
  });
}
