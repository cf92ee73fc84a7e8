import { readdirSync, readFileSync } from "node:fs";

/** The processes that run SQL for this one, with their resident memory, as Linux tells it (proc(5)). */
export const sqlProcesses = () => childrenOf("sql-process");

/** Those that answer queries which may take long over a single text. */
export const engineProcesses = () => childrenOf("engine-process");

function childrenOf(name: string): { readonly pid: number; readonly bytes: number }[] {
  return readdirSync("/proc").flatMap((pid) => {
    if (!/^\d+$/.test(pid)) return [];
    try {
      const status = readFileSync(`/proc/${pid}/status`, "utf8");
      const isOurs = /^PPid:\s+(\d+)$/m.exec(status)?.[1] === String(process.pid);
      if (!isOurs || !readFileSync(`/proc/${pid}/cmdline`, "utf8").includes(name)) return [];
      return [{ pid: Number(pid), bytes: Number(/^VmRSS:\s+(\d+) kB$/m.exec(status)?.[1] ?? 0) * 1024 }];
    } catch {
      // It has ended meanwhile.
      return [];
    }
  });
}

export const CANNOT_SEE_PROCESSES = process.platform === "linux" ? false : "needs /proc";
