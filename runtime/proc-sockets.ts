import { readdirSync, readFileSync, readlinkSync } from "node:fs";

/** The TCP sockets of this machine that listen, by their inodes, with their ports. Empty on systems without /proc. */
export function listeningSockets(): Map<string, number> {
  return new Map(["/proc/net/tcp", "/proc/net/tcp6"].flatMap(listeningIn));
}

/** proc(5), /proc/net/tcp: local address as hex with the port after the colon, state 0A is LISTEN, field 10 the inode. */
function listeningIn(table: string): [inode: string, port: number][] {
  const rows = (readOrUndefined(() => readFileSync(table, "latin1")) ?? "").split("\n").slice(1);
  return rows
    .map((row) => row.trim().split(/\s+/))
    .filter((columns) => columns[3] === "0A")
    .map((columns) => [columns[9]!, Number.parseInt(columns[1]!.slice(columns[1]!.lastIndexOf(":") + 1), 16)]);
}

/** The inodes of the sockets that a process has open. Empty for processes of other users. */
export function socketsOf(pid: number | string): string[] {
  const descriptors = readOrUndefined(() => readdirSync(`/proc/${pid}/fd`)) ?? [];
  return descriptors.flatMap((descriptor) => {
    const target = readOrUndefined(() => readlinkSync(`/proc/${pid}/fd/${descriptor}`)) ?? "";
    return /^socket:\[(\d+)\]$/.exec(target)?.[1] ?? [];
  });
}

/** Undefined for errors: processes come and go, and many belong to other users. */
export function readOrUndefined<T>(read: () => T): T | undefined {
  try {
    return read();
  } catch {
    return undefined;
  }
}
