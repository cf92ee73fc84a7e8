import { statSync } from "node:fs";
import { type FileHandle, open } from "node:fs/promises";
import { crc32 } from "node:zlib";
import type { Clock } from "../../../grammar/units/clock.ts";
import { errorCode } from "../durable.ts";

/**
 * The facts that change if a file is written to or replaced. Not the time of its inode's change: hard links, which SQL
 * makes, change that.
 */
export interface Stamp {
  readonly size: number;
  /** Nanoseconds since 1970, as digits. */
  readonly mtime: string;
  /** Digits: inodes of some file systems are beyond 2^53. */
  readonly inode: string;
}

/** The checksums of a segment's file, and when they were right. Changes when the file is read again. */
export interface Integrity {
  /** CRC-32 of the whole file. Undefined for segments of format 1 until they were read once. */
  sum: number | undefined;
  /** CRC-32 of the Parquet footer, with its length and mark. */
  footerSum: number | undefined;
  /** The file as it was when all of it had that sum. */
  stamp: Stamp | undefined;
  /** When that was, in milliseconds since 1970. */
  checkedMs: number;
}

/** Undefined if there is no such file; throws any other error of the system. */
export function stampOf(path: string): Stamp | undefined {
  const stat = statSync(path, { bigint: true, throwIfNoEntry: false });
  if (stat === undefined) return undefined;
  return { size: Number(stat.size), mtime: String(stat.mtimeNs), inode: String(stat.ino) };
}

export const isSame = (a: Stamp | undefined, b: Stamp | undefined) =>
  a !== undefined && b !== undefined && a.size === b.size && a.mtime === b.mtime && a.inode === b.inode;

/** Bytes read at once: their checksum takes a third of a millisecond. */
const CHUNK_BYTES = 1024 * 1024;

/** How fast a file is read at most. */
export interface Pace {
  readonly bytesPerSecond: number;
  readonly clock: Clock;
}

/** How a whole file is read. Without a pace it is as fast as the disk. */
export interface ReadOptions {
  readonly pace?: Pace | undefined;
  readonly signal?: AbortSignal;
}

/** CRC-32 of a file. */
export async function checksumOfFile(path: string, { pace, signal }: ReadOptions = {}): Promise<number> {
  const handle = await open(path, "r");
  try {
    const buffer = Buffer.allocUnsafe(CHUNK_BYTES);
    let sum = 0;
    for (;;) {
      const beganMs = pace?.clock.monotonicMs() ?? 0;
      const { bytesRead } = await handle.read(buffer, 0, buffer.length);
      if (bytesRead === 0) return sum;
      sum = crc32(buffer.subarray(0, bytesRead), sum);
      signal?.throwIfAborted();
      if (pace === undefined) continue;
      const leftMs = (bytesRead / pace.bytesPerSecond) * 1000 - (pace.clock.monotonicMs() - beganMs);
      if (leftMs > 1) await pace.clock.sleep(leftMs, signal, { isBackground: true });
    }
  } finally {
    await handle.close();
  }
}

export interface Footer {
  /** Length of the part that says where everything is. */
  readonly bytes: number;
  readonly sum: number;
}

/** The footer of a Parquet file: its last 8 bytes are the length and the mark. Undefined if the file is not Parquet. */
export async function footerOf(path: string, size: number): Promise<Footer | undefined> {
  const handle = await open(path, "r");
  try {
    const end = await readAt(handle, size - END_BYTES, END_BYTES);
    if (end === undefined || end.toString("latin1", 4) !== MARK) return undefined;
    const bytes = end.readUInt32LE(0);
    const footer = await readAt(handle, size - END_BYTES - bytes, bytes + END_BYTES);
    return footer && { bytes, sum: crc32(footer) };
  } finally {
    await handle.close();
  }
}

const END_BYTES = 8;
const MARK = "PAR1";

async function readAt(handle: FileHandle, at: number, length: number): Promise<Buffer | undefined> {
  if (at < 0) return undefined;
  const buffer = Buffer.allocUnsafe(length);
  const { bytesRead } = await handle.read(buffer, 0, length, at);
  return bytesRead === length ? buffer : undefined;
}

/** The problem of a file, to be read after its name. */
export type Fault = "is missing" | "is damaged" | `cannot be read (${string})`;

interface CheckOptions extends ReadOptions {
  readonly nowMs: number;
}

/** Reads a whole file and compares it with its checksums. Updates `integrity` if the file is whole. */
export async function faultOf(
  path: string,
  bytes: number,
  integrity: Integrity,
  options: CheckOptions,
): Promise<Fault | undefined> {
  try {
    const look = await lookAtEnd(path, bytes, integrity);
    if (!look.ok) return look.problems[0];
    const sum = await checksumOfFile(path, options);
    if (sum !== (integrity.sum ?? sum)) return "is damaged";
    // It may have been written to while it was read.
    if (!isSame(look.value.stamp, stampOf(path))) return faultOf(path, bytes, integrity, options);
    Object.assign(integrity, { sum, ...look.value, checkedMs: options.nowMs });
    return undefined;
  } catch (error) {
    return unreadable(error);
  }
}

/** Checks size and footer, which show whether a file was cut or replaced, without reading all of it; notes the footer. */
export async function quickFaultOf(path: string, bytes: number, integrity: Integrity): Promise<Fault | undefined> {
  try {
    const look = await lookAtEnd(path, bytes, integrity);
    if (!look.ok) return look.problems[0];
    integrity.footerSum = look.value.footerSum;
    // Nothing more is known of a file of format 1; changes from now on are noticed.
    if (integrity.sum === undefined) integrity.stamp = look.value.stamp;
    return undefined;
  } catch (error) {
    return unreadable(error);
  }
}

type EndOfFile =
  | { readonly ok: true; readonly value: { readonly stamp: Stamp; readonly footerSum: number } }
  | { readonly ok: false; readonly problems: readonly [Fault] };

async function lookAtEnd(path: string, bytes: number, integrity: Integrity): Promise<EndOfFile> {
  const stamp = stampOf(path);
  if (stamp === undefined) return { ok: false, problems: ["is missing"] };
  if (stamp.size !== bytes) return { ok: false, problems: ["is damaged"] };
  const footer = await footerOf(path, bytes);
  if (footer === undefined || footer.sum !== (integrity.footerSum ?? footer.sum))
    return { ok: false, problems: ["is damaged"] };
  return { ok: true, value: { stamp, footerSum: footer.sum } };
}

/** The fault that the error of a system call means; throws any other error. */
export function unreadable(error: unknown): Fault {
  const code = errorCode(error);
  if (code === "ENOENT") return "is missing";
  if (UNREADABLE.has(code)) return `cannot be read (${code})`;
  throw error;
}

/** Failures of one file. Those of the process, such as too many open files, say nothing about it. */
const UNREADABLE: ReadonlySet<string> = new Set(["EACCES", "EPERM", "EIO", "EISDIR", "ELOOP", "ENOTDIR", "EINVAL"]);
