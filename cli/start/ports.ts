import { readdirSync, readFileSync } from "node:fs";
import { createServer } from "node:net";
import { listeningSockets, readOrUndefined, socketsOf } from "../../runtime/proc-sockets.ts";

/** The first free port above `port`; undefined if there is none among the next `tries`. */
export async function nextFreePort(host: string, port: number, tries: number): Promise<number | undefined> {
  for (let next = port + 1; next <= Math.min(65535, port + tries); next++) {
    if (await isFree(host, next)) return next;
  }
  return undefined;
}

function isFree(host: string, port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once("error", () => resolve(false));
    server.listen({ host, port, exclusive: true }, () => server.close(() => resolve(true)));
  });
}

/**
 * The name and pid of the process that listens on a TCP port of this machine, according to /proc. Undefined on other
 * systems, and for processes of other users.
 */
export function portOwner(port: number): { readonly name: string; readonly pid: number } | undefined {
  const sockets = listeningSockets();
  const isOnPort = (inode: string) => sockets.get(inode) === port;
  if (![...sockets.keys()].some(isOnPort)) return undefined;
  const pids = (readOrUndefined(() => readdirSync("/proc")) ?? []).filter((name) => /^\d+$/.test(name));
  const pid = pids.find((pid) => socketsOf(pid).some(isOnPort));
  if (pid === undefined) return undefined;
  return {
    name: readOrUndefined(() => readFileSync(`/proc/${pid}/comm`, "utf8"))?.trim() ?? "a process",
    pid: Number(pid),
  };
}
