// The memory of an execution environment: sampled while it works, as the platform's own limit, a control group, is seldom
// allowed to a user, and a limit of addresses (RLIMIT_AS) breaks V8, which reserves many more than it uses.

import { execFile } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { promisify } from "node:util";
import type { Clock, Timer } from "../../../grammar/units/clock.ts";
import { below } from "./process-tree.ts";

/** Between two samples: at a gigabyte in a second, what is allocated before the limit is seen. */
const INTERVAL_MS = 100;
/** Between the samples at the end of requests, which may be short and many. */
const MIN_INTERVAL_MS = 20;
/** Resident memory has to grow by so much before the shares are read again, which takes a millisecond and more. */
const GROWTH_BYTES = 1024 * 1024;
/** A sample of thousands of processes takes long, in which nothing else is served: so many times as long is the pause after it. */
const PAUSE_FACTOR = 9;

export class MemoryMeter {
  readonly #pid: number;
  readonly #limitBytes: number;
  readonly #onExceeded: () => void;
  readonly #clock: Clock;
  #timer: Timer | undefined;
  #sampledAt = Number.NEGATIVE_INFINITY;
  #pausesUntil = Number.NEGATIVE_INFINITY;
  #residentBytes = 0;
  /** The most that was seen. */
  peakBytes = 0;

  constructor(pid: number, limitBytes: number, onExceeded: () => void, clock: Clock) {
    this.#clock = clock;
    this.#pid = pid;
    this.#limitBytes = limitBytes;
    this.#onExceeded = onExceeded;
  }

  start(): void {
    const sample = () => {
      if (this.#clock.monotonicMs() >= this.#pausesUntil) void this.#trySample();
    };
    this.#timer ??= this.#clock.every(INTERVAL_MS, sample, { isBackground: true });
  }

  /** Takes a last sample, unless there was one just now. */
  async stop(): Promise<void> {
    if (this.#timer === undefined) return;
    this.end();
    if (this.#clock.monotonicMs() - this.#sampledAt >= MIN_INTERVAL_MS) await this.#trySample();
  }

  /** Stops without a sample: nobody is there any more. */
  end(): void {
    this.#timer?.stop();
    this.#timer = undefined;
  }

  /** If no file can be opened, the next sample tells. */
  async #trySample(): Promise<void> {
    await this.#sample().catch(() => {});
    const nowMs = this.#clock.monotonicMs();
    this.#pausesUntil = nowMs + PAUSE_FACTOR * (nowMs - this.#sampledAt);
  }

  async #sample(): Promise<void> {
    this.#sampledAt = this.#clock.monotonicMs();
    const pids = below(this.#pid);
    const hasProc = existsSync("/proc/self/status");
    const residentBytes = hasProc ? sumOf(pids, residentBytesOf) : await residentBytesByPs(pids);
    // Pages that several processes share count for each here, so that the shares are less.
    if (residentBytes <= this.#limitBytes && residentBytes < this.#residentBytes + GROWTH_BYTES) return;
    this.#residentBytes = Math.max(residentBytes, this.#residentBytes);
    const usedBytes = hasProc ? sumOf(pids, shareBytesOf) : residentBytes;
    this.peakBytes = Math.max(this.peakBytes, Math.min(usedBytes, this.#limitBytes));
    if (usedBytes > this.#limitBytes) this.#onExceeded();
  }
}

/** One that ended meanwhile has none. */
function sumOf(pids: readonly number[], bytesOf: (pid: number) => number): number {
  return pids.reduce((sum, pid) => {
    try {
      return sum + bytesOf(pid);
    } catch {
      return sum;
    }
  }, 0);
}

function residentBytesOf(pid: number): number {
  const kib = /^VmRSS:\s+(\d+) kB/m.exec(readFileSync(`/proc/${pid}/status`, "latin1"))?.[1];
  return Number(kib ?? 0) * 1024;
}

/** The resident pages of a process, and of those that others have too its share. */
function shareBytesOf(pid: number): number {
  try {
    const kib = /^Pss:\s+(\d+) kB/m.exec(readFileSync(`/proc/${pid}/smaps_rollup`, "latin1"))?.[1];
    if (kib !== undefined) return Number(kib) * 1024;
  } catch {
    // Older than Linux 4.14, or not allowed.
  }
  return residentBytesOf(pid);
}

async function residentBytesByPs(pids: readonly number[]): Promise<number> {
  // Fails if all have ended.
  const { stdout } = await promisify(execFile)("ps", ["-o", "rss=", "-p", pids.join(",")]).catch(() => ({
    stdout: "",
  }));
  return stdout.split("\n").reduce((sum, line) => sum + Number(line) * 1024, 0);
}
