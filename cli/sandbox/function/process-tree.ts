// A process with all that it started, as one execution environment holds them. The platform stops and ends all of them
// at once; the runtime gives its app a process group of its own, so that a signal to one group does not reach it.
import { execFileSync } from "node:child_process";
import { existsSync, readdirSync, readFileSync } from "node:fs";

/** Sends a signal to a process and everything below it, the process itself first. */
export function signalTree(root: number, signal: NodeJS.Signals): void {
  const processes = listProcesses();
  for (const pid of treeOf(root, processes)) {
    try {
      process.kill(pid, signal);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "ESRCH") throw error;
    }
  }
}

interface Process {
  readonly pid: number;
  readonly parent: number;
}

function treeOf(root: number, processes: readonly Process[]): number[] {
  const below = processes.filter(({ parent }) => parent === root).map(({ pid }) => pid);
  return [root, ...below.flatMap((pid) => treeOf(pid, processes))];
}

function listProcesses(): Process[] {
  if (existsSync("/proc/self/stat")) {
    return readdirSync("/proc").flatMap((name) => (/^\d+$/.test(name) ? statOf(Number(name)) : []));
  }
  const lines = execFileSync("ps", ["-A", "-o", "pid=,ppid="], { encoding: "utf8" }).trim().split("\n");
  return lines.map((line) => {
    const [pid = 0, parent = 0] = line.trim().split(/\s+/).map(Number);
    return { pid, parent };
  });
}

function statOf(pid: number): Process[] {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "latin1");
    const [, parent] = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    return [{ pid, parent: Number(parent) }];
  } catch {
    // It ended meanwhile.
    return [];
  }
}
