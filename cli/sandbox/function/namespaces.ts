// A function's view of this machine, where the kernel lets a user make namespaces: in /proc its own processes alone,
// and in place of some folders empty ones. util-linux makes them; without it, or where the kernel refuses, functions run
// as every other process of this user does.
import { accessSync, constants } from "node:fs";
import { resolve } from "node:path";

/** How a function is started in namespaces of its own. Paths are absolute. */
export interface Namespaces {
  /** The program `unshare`, by name or path. */
  readonly unshare: string;
  /** Folders that are empty for the function. */
  readonly hides: readonly string[];
  /** Folders that it sees as they are, also in one of those; five at most. */
  readonly keeps: readonly string[];
  /** A file that may be made, and removed. */
  readonly table: string;
}

export interface FunctionCommand {
  readonly command: readonly [string, ...string[]];
  readonly directory: string;
  readonly env: NodeJS.ProcessEnv;
}

/**
 * Runs in namespaces of users, mounts and processes, in which it is root; its children are the first that are in the one of
 * processes. Its own process stays outside, so that the function is not process 1, which the kernel keeps from most
 * signals, and its end can be repeated as it was.
 *
 * - The first child is process 1, and ends orphans. It is there until the daemon is gone or kills it, and all others with it.
 * - What is kept is opened before it is hidden. The working directory is entered anew, as the old one may lead out.
 * - The function is in a further namespace of users: there it has its own user again, and not even root may unmount what
 *   hides a folder.
 *
 * Standard error is the daemon's end of a pipe: reasons of a failure, "ready", and then what `unshare` says if it cannot
 * repeat how the function ended. The function's own standard error is descriptor 3 until then. No variable is assigned, as
 * the function may have one of the same name.
 */
function setupScript(keeps: number): string {
  const descriptors = Array.from({ length: keeps }, (_, i) => 4 + i);
  return `
(exec <&2 2> /dev/null; until cat; do :; done) > /dev/null 3>&- &
exec ${descriptors.map((descriptor, i) => `${descriptor}< "$\{${3 + i}}"`).join(" ")}
mount -c -a -T "$1" || exit
cd "$2" || exit
shift ${2 + keeps}
exec "$0" --user --map-user=${process.getuid?.()} --map-group=${process.getgid?.()} --fork --kill-child -- \\
  sh -c '${START_SCRIPT}' sh "$@" ${descriptors.map((descriptor) => `${descriptor}<&-`).join(" ")}
`;
}

/** A session of its own, as without namespaces, and of a shell's variables none. */
const START_SCRIPT = `
echo ready >&2
exec 2>&3 3>&-
exec setsid env -u _ -u OLDPWD -u PWD -u SHLVL "$@"
`;

/** Variables with which programs and shells do something else: the programs of the setup do not get them. */
const STEERING =
  /^(?:BASH.*|CDPATH|ENV|GCONV_PATH|GLIBC_.*|IFS|LD_.*|LIBMOUNT_.*|LOCPATH|MALLOC_.*|OLDPWD|OPTIND|PATH|PPID|PS4|PWD|SHELLOPTS|SHLVL|_)$/;

export interface Spawned {
  readonly program: string;
  readonly args: readonly string[];
  readonly env: NodeJS.ProcessEnv;
}

/** Gives the program that starts a command in namespaces, once the file has the table of mounts. */
export function inNamespaces(
  { command, directory, env }: FunctionCommand,
  { unshare, keeps, table }: Namespaces,
): Spawned {
  const variables = Object.entries(env).filter(([, value]) => value !== undefined);
  const isSteering = ([name]: [string, unknown]) => STEERING.test(name);
  const [program, ...programArgs] = command;
  // `env` would take such a program for a variable.
  const byShell = program.includes("=") ? ["sh", "-c", 'exec "$0" "$@"'] : [];
  return {
    program: unshare,
    args: [
      ...["--user", "--map-root-user", "--mount", "--pid", "--", "sh", "-c", setupScript(keeps.length), unshare],
      ...[table, directory, ...keeps],
      ...variables.filter(isSteering).map(([name, value]) => `${name}=${value}`),
      ...[...byShell, program, ...programArgs],
    ],
    env: { PATH: process.env.PATH, ...Object.fromEntries(variables.filter((variable) => !isSteering(variable))) },
  };
}

/**
 * In the form of fstab(5). A hidden folder that is not there is a failure: it may come back. What is written in place of one is
 * in memory, where there is little room.
 */
export function mountsOf({ hides, keeps }: Namespaces): string {
  const isCovered = (folder: string) => hides.some((other) => folder.startsWith(`${other}/`));
  const hidden = hides.filter((folder) => !isCovered(folder));
  return [
    "tool /proc proc nosuid,nodev,noexec",
    ...hidden.map((folder) => `tool ${escaped(folder)} tmpfs size=64k,mode=755`),
    ...keeps.map((folder, i) => `/proc/self/fd/${4 + i} ${escaped(folder)} none bind,X-mount.mkdir`),
    "",
  ].join("\n");
}

/** White space beyond ASCII ends no field. */
const escaped = (path: string) =>
  path.replace(/[ \t\n\v\f\r\\#]/g, (one) => `\\${one.charCodeAt(0).toString(8).padStart(3, "0")}`);

/** Whether a program of a path can be executed: if not, its start fails with the system's reason, and needs no namespaces. */
export function isExecutable(program: string, directory: string): boolean {
  if (!program.includes("/")) return true;
  try {
    accessSync(resolve(directory, program), constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
