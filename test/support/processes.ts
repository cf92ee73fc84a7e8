// The memory and files that processes hold, as /proc tells: Linux only.
import { readdirSync, readFileSync, readlinkSync } from "node:fs";
import { isRunning } from "./cli.ts";

/** All that run with this text in the environment that they began with: whatever became of their parents. */
export function processesWith(mark: string): number[] {
  const pids = readdirSync("/proc").filter((name) => /^\d+$/.test(name));
  return pids.map(Number).filter((pid) => isRunning(pid) && environmentOf(pid).includes(mark));
}

function environmentOf(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/environ`, "latin1");
  } catch {
    return "";
  }
}

/** Its words, as ps shows them. */
export function commandOf(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, "utf8").replaceAll("\0", " ").trim();
  } catch {
    return "";
  }
}

/** Bytes that it has read so far, from whatever it was: proc(5), rchar. */
export function bytesReadBy(pid: number): number {
  return Number(/^rchar: (\d+)$/m.exec(readFileSync(`/proc/${pid}/io`, "utf8"))?.[1]);
}

export function socketsOf(pid: number): number {
  return descriptorsOf(pid).filter((target) => target.startsWith("socket:")).length;
}

/** Returns the target of each open descriptor. */
export function descriptorsOf(pid: number): string[] {
  const directory = `/proc/${pid}/fd`;
  return readdirSync(directory).flatMap((descriptor) => {
    try {
      return [readlinkSync(`${directory}/${descriptor}`)];
    } catch {
      // The one that this listing itself needed, or one that was closed meanwhile.
      return [];
    }
  });
}

/** Bytes of memory that it holds now, or the most that it ever held. */
export function residentBytes(pid: number, which: "now" | "most" = "now"): number {
  const status = readFileSync(`/proc/${pid}/status`, "utf8");
  const line = which === "now" ? /^VmRSS:\s+(\d+) kB$/m : /^VmHWM:\s+(\d+) kB$/m;
  return Number(line.exec(status)?.[1]) * 1024;
}
