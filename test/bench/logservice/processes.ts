// The memory and processor time that a process and those that it started use, as /proc tells: Linux only.
import { readdirSync, readFileSync } from "node:fs";
import { commandOf } from "../../support/processes.ts";

const TICKS_PER_SECOND = 100;
/** A merge of segments takes longer than this, and its memory stays for a moment. */
const LOOK_EVERY_MS = 100;

/** Bytes of memory that were held at once at most, by the service, by its flusher and by all of its processes. */
export interface Memory {
  readonly service: number;
  readonly flusher: number;
  readonly together: number;
}

/** Watches the memory of a process and its children until it is stopped. Pages that they share count for each. */
export class MemoryWatch {
  readonly #pid: number;
  readonly #timer: NodeJS.Timeout;
  #most: Memory = { service: 0, flusher: 0, together: 0 };

  constructor(pid: number) {
    this.#pid = pid;
    this.#timer = setInterval(() => this.look(), LOOK_EVERY_MS);
    this.#timer.unref();
  }

  get most(): Memory {
    return this.#most;
  }

  /** Returns the memory that is held now. */
  look(): Memory {
    const service = residentBytes(this.#pid);
    const children = childrenOf(this.#pid);
    const sum = (pids: readonly number[]) => pids.reduce((total, pid) => total + residentBytes(pid), 0);
    const flusher = sum(children.filter((pid) => commandOf(pid).includes("flusher-process")));
    const together = service + sum(children);
    const most = this.#most;
    this.#most = {
      service: Math.max(most.service, service),
      flusher: Math.max(most.flusher, flusher),
      together: Math.max(most.together, together),
    };
    return { service, flusher, together };
  }

  stop(): void {
    clearInterval(this.#timer);
  }
}

/** Seconds of processor time, of a process itself and of its children, running or ended. */
export function processorSeconds(pid: number): { readonly own: number; readonly children: number } {
  const [own, ended] = times(pid);
  const running = childrenOf(pid).reduce((sum, child) => sum + times(child)[0], 0);
  return { own, children: ended + running };
}

function times(pid: number): readonly [own: number, endedChildren: number] {
  const stat = read(pid, "stat");
  // The name in parentheses may hold anything; the state after it is field 3 of proc(5).
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  const seconds = (field: number) => Number(fields[field - 3] ?? 0) / TICKS_PER_SECOND;
  return [seconds(14) + seconds(15), seconds(16) + seconds(17)];
}

function childrenOf(pid: number): number[] {
  let threads: string[] = [];
  try {
    threads = readdirSync(`/proc/${pid}/task`);
  } catch {
    return [];
  }
  return threads.flatMap((thread) =>
    read(pid, `task/${thread}/children`).trim().split(" ").filter(Boolean).map(Number),
  );
}

function residentBytes(pid: number): number {
  return Number(/^VmRSS:\s+(\d+) kB$/m.exec(read(pid, "status"))?.[1] ?? 0) * 1024;
}

/** Empty where the process has ended meanwhile. */
function read(pid: number, name: string): string {
  try {
    return readFileSync(`/proc/${pid}/${name}`, "utf8");
  } catch {
    return "";
  }
}
