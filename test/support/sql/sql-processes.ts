import { readdirSync, readFileSync } from "node:fs";

/** The processes that run SQL for this one, with their resident memory, as Linux tells it (proc(5)). */
export function sqlProcesses(): { readonly pid: number; readonly bytes: number }[] {
  return readdirSync("/proc").flatMap((name) => {
    if (!/^\d+$/.test(name)) return [];
    try {
      const status = readFileSync(`/proc/${name}/status`, "utf8");
      const isOurs = /^PPid:\s+(\d+)$/m.exec(status)?.[1] === String(process.pid);
      if (!isOurs || !readFileSync(`/proc/${name}/cmdline`, "utf8").includes("sql-process")) return [];
      return [{ pid: Number(name), bytes: Number(/^VmRSS:\s+(\d+) kB$/m.exec(status)?.[1] ?? 0) * 1024 }];
    } catch {
      // It has ended meanwhile.
      return [];
    }
  });
}

export const CANNOT_SEE_PROCESSES = process.platform === "linux" ? false : "needs /proc";
