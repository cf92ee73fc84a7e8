// A process with all that it started, as one execution environment holds them. The platform stops and ends all of them
// at once; the runtime gives its app a process group of its own, so that a signal to one group does not reach it.
import { execFileSync } from "node:child_process";
import { existsSync, readdirSync, readFileSync, readlinkSync } from "node:fs";

export interface Process {
  readonly pid: number;
  readonly parent: number;
  readonly group: number;
}

/** Stops a process and everything below it. Returns whom to continue: nobody of them starts another meanwhile. */
export function stopTree(root: number): number[] {
  const stopped = new Set<number>();
  // One that was not stopped yet may have started another.
  for (;;) {
    const running = below(root).filter((pid) => !stopped.has(pid));
    if (running.length === 0) return [...stopped];
    for (const pid of running) stopped.add(pid);
    signal(running, "SIGSTOP");
  }
}

export function continueProcesses(pids: readonly number[]): void {
  signal(pids, "SIGCONT");
}

/**
 * Ends a process, everything below it, and what is left in their process groups after its parent ended. On Linux also what
 * left these, if it works in the folder for its temporary files or has that as TMPDIR, which nobody else has.
 */
export function killTree(root: number, temporary: string): void {
  stopTree(root);
  const processes = listProcesses();
  const members = new Set(membersOf(root, processes));
  for (const { pid } of processes) {
    if (hasVariable(pid, `TMPDIR=${temporary}`) || worksIn(pid, temporary)) members.add(pid);
  }
  signal([...members], "SIGKILL");
}

/** On Linux, ends whoever works in a folder or below it, which is nobody else's. */
export function killWorkersIn(folder: string): void {
  if (!existsSync("/proc/self/cwd")) return;
  // One that is found may just have started another.
  for (let round = 0; round < 2; round += 1) {
    const pids = listProcesses().map(({ pid }) => pid);
    const matches = pids.filter((pid) => pid !== process.pid && worksIn(pid, folder));
    if (matches.length === 0) return;
    signal(matches, "SIGKILL");
  }
}

/** The folder is a real path. */
function worksIn(pid: number, folder: string): boolean {
  try {
    return `${readlinkSync(`/proc/${pid}/cwd`)}/`.startsWith(`${folder}/`);
  } catch {
    // As below.
    return false;
  }
}

function hasVariable(pid: number, variable: string): boolean {
  try {
    return readFileSync(`/proc/${pid}/environ`, "latin1").split("\0").includes(variable);
  } catch {
    // It ended meanwhile, is somebody else's, or there is no /proc.
    return false;
  }
}

/** A process and everything below it, itself first; itself alone if it is gone. */
export function below(root: number): number[] {
  const tree = [root];
  try {
    for (const pid of tree) tree.push(...childrenOf(pid));
    return tree;
  } catch {
    // No /proc, or one without lists of children.
    return treeOf(root, listProcesses());
  }
}

/** Throws if Linux does not say. A tenth of the time that reading all processes takes. */
function childrenOf(pid: number): number[] {
  let threads: string[];
  try {
    threads = readdirSync(`/proc/${pid}/task`);
  } catch (error) {
    if (!existsSync("/proc/self/task")) throw error;
    return [];
  }
  return threads.flatMap((thread) => {
    try {
      const list = readFileSync(`/proc/${pid}/task/${thread}/children`, "latin1");
      return list.split(" ").filter(Boolean).map(Number);
    } catch (error) {
      if (existsSync(`/proc/${pid}/task/${thread}/stat`)) throw error;
      return [];
    }
  });
}

function treeOf(root: number, processes: readonly Process[]): number[] {
  const children = processes.filter(({ parent }) => parent === root).map(({ pid }) => pid);
  return [root, ...children.flatMap((pid) => treeOf(pid, processes))];
}

/** The root leads a session of its own, so that nobody else is in a group of these. */
function membersOf(root: number, processes: readonly Process[]): number[] {
  const pids = new Set(treeOf(root, processes));
  const groups = new Set([root, ...processes.filter(({ pid }) => pids.has(pid)).map(({ group }) => group)]);
  for (const { pid, group } of processes) if (groups.has(group)) pids.add(pid);
  return [...pids];
}

/** On Linux. */
export function signalChildren(pid: number, name: NodeJS.Signals): void {
  let children: readonly number[];
  try {
    children = childrenOf(pid);
  } catch {
    // A kernel without lists of children.
    children = listProcesses().flatMap((one) => (one.parent === pid ? one.pid : []));
  }
  signal(children, name);
}

function signal(pids: readonly number[], name: NodeJS.Signals): void {
  for (const pid of pids) {
    try {
      process.kill(pid, name);
    } catch (error) {
      // It ended meanwhile, or became somebody else's by a program that changes the user.
      if (!/^(ESRCH|EPERM)$/.test((error as NodeJS.ErrnoException).code ?? "")) throw error;
    }
  }
}

function listProcesses(): Process[] {
  if (existsSync("/proc/self/stat")) {
    return readdirSync("/proc").flatMap((name) => (/^\d+$/.test(name) ? statOf(Number(name)) : []));
  }
  const lines = execFileSync("ps", ["-A", "-o", "pid=,ppid=,pgid="], { encoding: "utf8" }).trim().split("\n");
  return lines.map((line) => {
    const [pid = 0, parent = 0, group = 0] = line.trim().split(/\s+/).map(Number);
    return { pid, parent, group };
  });
}

function statOf(pid: number): Process[] {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "latin1");
    const [, parent, group] = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    return [{ pid, parent: Number(parent), group: Number(group) }];
  } catch {
    // It ended meanwhile.
    return [];
  }
}
