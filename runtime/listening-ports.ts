import { execFile } from "node:child_process";
import { platform } from "node:process";
import { promisify } from "node:util";
import { listeningSockets, socketsOf } from "./proc-sockets.ts";
import { pidsOfGroup } from "./process-group.ts";

/** Called once, after an app failed to start: lsof may be slow, but must end. */
const LSOF_TIMEOUT_MS = 2_000;

/** The TCP ports that the processes of a group listen on, in order. Empty if the system does not say. */
export async function listeningPorts(group: number): Promise<number[]> {
  const ports = platform === "linux" ? portsByProc(group) : await portsByLsof(group);
  return [...new Set(ports)].sort((a, b) => a - b);
}

function portsByProc(group: number): number[] {
  const ports = listeningSockets();
  return pidsOfGroup(group).flatMap((pid) => socketsOf(pid).flatMap((inode) => ports.get(inode) ?? []));
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
