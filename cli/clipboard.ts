import { spawn } from "node:child_process";
import { access, constants } from "node:fs/promises";
import { delimiter, join } from "node:path";
import type { Io } from "./io.ts";
import { withoutSecrets } from "./without-secrets.ts";

/** Whether there is a command that reaches a clipboard. Whether that takes a text is only known by trying. */
export async function hasClipboard({ env, platform }: Io): Promise<boolean> {
  // Windows looks in other folders, too, and always has its command.
  if (platform === "win32") return true;
  const folders = (env.PATH ?? "").split(delimiter).filter((folder) => folder !== "");
  for (const [command] of commandsFor(env, platform)) {
    for (const folder of folders) {
      const isThere = await access(join(folder, command!), constants.X_OK).then(
        () => true,
        () => false,
      );
      if (isThere) return true;
    }
  }
  return false;
}

/** Puts a text on the clipboard. False if there is none, or no command that reaches it. */
export async function copyToClipboard({ env, platform }: Io, text: string): Promise<boolean> {
  for (const [command, ...args] of commandsFor(env, platform)) {
    if (await fed(command!, args, { env, text })) return true;
  }
  return false;
}

function commandsFor(env: Io["env"], platform: Io["platform"]): string[][] {
  if (platform === "darwin") return [["pbcopy"]];
  if (platform === "win32") return [["clip"]];
  return [
    ...(env.WAYLAND_DISPLAY ? [["wl-copy"]] : []),
    ...(env.DISPLAY
      ? [
          ["xclip", "-selection", "clipboard"],
          ["xsel", "--clipboard", "--input"],
        ]
      : []),
  ];
}

function fed(
  command: string,
  args: readonly string[],
  { env, text }: { readonly env: Io["env"]; readonly text: string },
): Promise<boolean> {
  return new Promise((resolve) => {
    // These programs stay in the background to serve the text, and would keep our streams open.
    const child = spawn(command, args, { env: withoutSecrets(env), stdio: ["pipe", "ignore", "ignore"] });
    child.once("error", () => resolve(false));
    child.once("exit", (code) => resolve(code === 0));
    child.stdin.on("error", () => {});
    child.stdin.end(text);
  });
}
