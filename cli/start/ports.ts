import { readdirSync, readFileSync, readlinkSync } from "node:fs";
import { createServer } from "node:net";

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
 * The name and pid of the process that listens on a TCP port of this machine, according to /proc. Undefined on other systems, and
 * for processes of other users.
 */
export function portOwner(port: number): { readonly name: string; readonly pid: number } | undefined {
  const sockets = new Set(["/proc/net/tcp", "/proc/net/tcp6"].flatMap((table) => listeningInodes(table, port)));
  if (sockets.size === 0) return undefined;
  for (const pid of list("/proc").filter((name) => /^\d+$/.test(name))) {
    for (const descriptor of list(`/proc/${pid}/fd`)) {
      const target = attempt(() => readlinkSync(`/proc/${pid}/fd/${descriptor}`)) ?? "";
      const inode = /^socket:\[(\d+)\]$/.exec(target)?.[1];
      if (inode === undefined || !sockets.has(inode)) continue;
      const name = attempt(() => readFileSync(`/proc/${pid}/comm`, "utf8"))?.trim() ?? "a process";
      return { name, pid: Number(pid) };
    }
  }
  return undefined;
}

/** proc(5), /proc/net/tcp: local address in hex with the port after the colon, state 0A is LISTEN, field 10 is the inode. */
function listeningInodes(table: string, port: number): string[] {
  const rows = (attempt(() => readFileSync(table, "utf8")) ?? "").split("\n").slice(1);
  const suffix = `:${port.toString(16).toUpperCase().padStart(4, "0")}`;
  return rows
    .map((row) => row.trim().split(/\s+/))
    .filter((columns) => columns[1]?.endsWith(suffix) && columns[3] === "0A")
    .map((columns) => columns[9]!);
}

const list = (folder: string): string[] => attempt(() => readdirSync(folder)) ?? [];

/** Undefined for errors: processes come and go, and many belong to other users. */
function attempt<T>(read: () => T): T | undefined {
  try {
    return read();
  } catch {
    return undefined;
  }
}
