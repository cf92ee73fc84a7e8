import { spawn } from "node:child_process";
import type { Io } from "./io.ts";

/** Opens an address or a file in the browser. False where there is no display, or no command that opens things. */
export async function openInBrowser({ env, platform }: Io, target: string): Promise<boolean> {
  if (platform === "darwin") return starts("open", [target]);
  // The empty word is the title of a window; without it a quoted address would be.
  if (platform === "win32") return starts("cmd", ["/c", "start", "", target]);
  if (!env.DISPLAY && !env.WAYLAND_DISPLAY) return false;
  return starts("xdg-open", [target]);
}

function starts(command: string, args: readonly string[]): Promise<boolean> {
  return new Promise((resolve) => {
    const child = spawn(command, args, { stdio: "ignore", detached: true });
    child.once("error", () => resolve(false));
    child.once("spawn", () => {
      child.unref();
      resolve(true);
    });
  });
}
