import { execFile } from "node:child_process";
import { readdirSync, readFileSync, readlinkSync } from "node:fs";
import { platform } from "node:process";
import { promisify } from "node:util";
import { pidsOfGroup } from "./process-group.ts";

/** Called once, after an app failed to start: lsof may be slow, but must end. */
const LSOF_TIMEOUT_MS = 2_000;

/** The TCP ports that the processes of a group listen on, in order. Empty if the system does not say. */
export async function listeningPorts(group: number): Promise<number[]> {
  const ports = platform === "linux" ? portsByProc(group) : await portsByLsof(group);
  return [...new Set(ports)].sort((a, b) => a - b);
}

function portsByProc(group: number): number[] {
  const ports = new Map(["/proc/net/tcp", "/proc/net/tcp6"].flatMap(listeningSockets));
  return pidsOfGroup(group).flatMap((pid) =>
    list(`/proc/${pid}/fd`).flatMap((descriptor) => {
      const target = attempt(() => readlinkSync(`/proc/${pid}/fd/${descriptor}`)) ?? "";
      return ports.get(/^socket:\[(\d+)\]$/.exec(target)?.[1] ?? "") ?? [];
    }),
  );
}

/** proc(5), /proc/net/tcp: local address as hex with the port after the colon, state 0A is LISTEN, field 10 the inode. */
function listeningSockets(table: string): [inode: string, port: number][] {
  const rows = (attempt(() => readFileSync(table, "latin1")) ?? "").split("\n").slice(1);
  return rows
    .map((row) => row.trim().split(/\s+/))
    .filter((columns) => columns[3] === "0A")
    .map((columns) => [columns[9]!, Number.parseInt(columns[1]!.slice(columns[1]!.lastIndexOf(":") + 1), 16)]);
}

async function portsByLsof(group: number): Promise<number[]> {
  try {
    const words = ["-nP", "-a", "-g", String(group), "-iTCP", "-sTCP:LISTEN", "-Fn"];
    const { stdout } = await promisify(execFile)("lsof", words, { timeout: LSOF_TIMEOUT_MS });
    return [...stdout.matchAll(/^n.*:(\d+)$/gm)].map(([, port]) => Number(port));
  } catch {
    return [];
  }
}

const list = (folder: string): string[] => attempt(() => readdirSync(folder)) ?? [];

/** Processes come and go. */
function attempt<T>(read: () => T): T | undefined {
  try {
    return read();
  } catch {
    return undefined;
  }
}
