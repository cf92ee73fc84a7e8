import { type ChildProcess, spawn } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import type { Duplex, Readable } from "node:stream";

/** How a command ended. `error` if it could not be started at all. */
export interface Exit {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly error?: Error;
}

/** A shell command with everything that it starts, as one process group. */
export interface ProcessGroup {
  /** Process id of the shell, which is the id of the group; undefined if it could not be started. */
  readonly pid: number | undefined;
  readonly stdout: Readable | null;
  readonly stderr: Readable | null;
  /** The shell ended. Processes that it started may still live. */
  readonly exited: Promise<Exit>;
  /** How the shell ended, once it did. */
  readonly exit: Exit | undefined;
  /** The shell ended and no process holds its output open: the group is gone. */
  readonly closed: Promise<void>;
  /** Asks the whole group to end. */
  terminate(): void;
  /** Ends the whole group. Safe at any time, also when the group is gone. */
  kill(): void;
  /** True while the group has a process, even one that is about to exit. A zombie does not count. */
  isThere(): boolean;
}

/**
 * Runs beside the command, in its group, and ends the group when the process that started it is gone: descriptor 3 is
 * a pipe whose other end only that process holds, so that even after its kill -9 the read below returns. TERM goes to
 * the whole group at an orderly stop: the watchdog must outlive it, for a stop can be interrupted by a kill -9 as well.
 * `exec` makes the command's shell the leader of the group, in place of this one.
 */
const START = [
  `( { trap "" TERM; read -r _; kill -TERM 0; sleep 1; kill -KILL 0; } <&3 >/dev/null 2>&1 & )`,
  `exec 3<&-`,
  `exec sh -c "$1"`,
].join("\n");

export function startGroup(command: string, options: { cwd: string; env: NodeJS.ProcessEnv }): ProcessGroup {
  const child = spawn("sh", ["-c", START, "sh", command], {
    cwd: options.cwd,
    env: options.env,
    // A session and group of its own: a Ctrl-C on the terminal reaches the supervisor alone, which ends it in order.
    detached: true,
    stdio: ["ignore", "pipe", "pipe", "pipe"],
  });
  // Nothing is written to the watchdog's pipe; it breaks when the group is killed.
  (child.stdio[3] as Duplex | null)?.on("error", () => {});

  let exit: Exit | undefined;
  const exited = new Promise<Exit>((resolve) => {
    const end = (how: Exit) => {
      exit ??= how;
      resolve(exit);
    };
    child.once("exit", (code, signal) => end({ code, signal }));
    child.once("error", (error) => end({ code: null, signal: null, error }));
  });
  const closed = new Promise<void>((resolve) => {
    child.once("error", () => resolve());
    whenOutputEnds(child, resolve);
  });
  return {
    pid: child.pid,
    stdout: child.stdout,
    stderr: child.stderr,
    exited,
    get exit() {
      return exit;
    },
    closed,
    terminate: () => void signalGroup(child.pid, "SIGTERM"),
    kill: () => void signalGroup(child.pid, "SIGKILL"),
    isThere: () => signalGroup(child.pid, 0) && !isDefunct(child.pid!),
  };
}

/** ChildProcess's own "close" event waits for the watchdog's pipe too, which stays open until the group is killed. */
function whenOutputEnds(child: ChildProcess, done: () => void): void {
  let waiting = 3;
  const one = () => {
    waiting -= 1;
    if (waiting === 0) done();
  };
  child.once("exit", one);
  child.stdout?.once("close", one);
  child.stderr?.once("close", one);
}

/** Returns whether a process was there to get the signal; 0 only asks. */
function signalGroup(pid: number | undefined, signal: NodeJS.Signals | 0): boolean {
  if (pid === undefined) return false;
  try {
    return process.kill(-pid, signal);
  } catch (error) {
    // ESRCH: no process is left. EPERM: what macOS says of a group of zombies.
    const { code } = error as NodeJS.ErrnoException;
    if (code !== "ESRCH" && code !== "EPERM") throw error;
    return false;
  }
}

/**
 * Has all of the group ended, and only waits for its parent to hear of it? The watchdog is nobody's child but the first
 * process's, and in many a container that one listens late or never. Linux alone can tell.
 */
function isDefunct(group: number): boolean {
  try {
    return pidsOfGroup(group).length === 0;
  } catch {
    return false;
  }
}

/** The running processes of a group, from Linux's /proc; throws if there is none. */
export function pidsOfGroup(group: number): string[] {
  return readdirSync("/proc").filter((name) => /^\d+$/.test(name) && isAliveIn(group, name));
}

function isAliveIn(group: number, pid: string): boolean {
  try {
    // proc(5): after the name, which may contain anything, the 1st field is the state, the 3rd the group, the 18th the
    // threads.
    const stat = readFileSync(`/proc/${pid}/stat`, "latin1");
    const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    // The first thread of a process can have ended while others have not.
    return Number(fields[2]) === group && !(fields[0] === "Z" && Number(fields[17]) <= 1);
  } catch {
    return false;
  }
}
