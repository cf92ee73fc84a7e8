/**
 * Commands that need process groups, a POSIX shell, permission bits of files, symbolic links that everyone may make or
 * synced folders, none of which Windows has. All other commands work there.
 */
const NOT_ON_WINDOWS: ReadonlySet<string> = new Set([
  "deploy",
  "start",
  "build",
  "run",
  "sandbox",
  "sandbox status",
  "sandbox start",
  "sandbox stop",
  "sandbox mail",
  "sandbox reset",
  "service init",
  "service start",
  "service token",
  "service owner",
  "service sign-in",
  "service check",
  "service backup",
  "service restore",
  "service migrate",
  "team",
  "team status",
  "team login",
  "team switch",
  "team logout",
  "team add",
  "team members ls",
  "team members add",
  "team members role",
  "team members link",
  "team members rm",
  "team ci",
  "team ci ls",
  "team ci rm",
  "upgrade",
]);

/** Why a command does not run on this platform, and what to do; undefined if it does. Pure. */
export function refusedHere(
  platform: NodeJS.Platform,
  command: string,
): { readonly message: string; readonly hint: string } | undefined {
  if (platform !== "win32" || !NOT_ON_WINDOWS.has(command)) return undefined;
  return {
    message: `tool ${command} does not run on Windows`,
    hint: "use WSL: wsl --install, then install Node and tool there; tool validate and the editor work on Windows",
  };
}
