import { readFileSync } from "node:fs";
import type { Socket } from "node:net";

/** Bytes that were written to a connection of this machine and that its other end has not read. Linux alone; 0 elsewhere. */
export function unreadBytes({ localPort, remotePort }: Socket): number {
  let bytes = 0;
  for (const line of ["tcp", "tcp6"].flatMap(connections)) {
    const [, local = "", remote = "", , queues = ""] = line.trim().split(/\s+/);
    const [own, other] = [portOf(local), portOf(remote)];
    const [sent = 0, received = 0] = queues.split(":").map((digits) => Number.parseInt(digits, 16));
    if (own === localPort && other === remotePort) bytes += sent;
    if (own === remotePort && other === localPort) bytes += received;
  }
  return bytes;
}

const portOf = (address: string) => Number.parseInt(address.split(":")[1] ?? "", 16);

/** Lines of proc_net(5), without the titles. */
function connections(protocol: string): string[] {
  try {
    return readFileSync(`/proc/net/${protocol}`, "latin1").split("\n").slice(1);
  } catch {
    return [];
  }
}
