import { hash as hashOf } from "node:crypto";
import { closeSync, fstatSync, openSync, readSync, type Stats } from "node:fs";
import { setImmediate as turn } from "node:timers/promises";
import { crc32, deflateRaw, deflateRawSync } from "node:zlib";
import type { Clock } from "../../grammar/units/clock.ts";
import { type FoundFile, unreadableFile } from "./collect.ts";
import type { DeflateCache, PackedContent } from "./deflate-cache.ts";
import type { BuildProblem } from "./problem.ts";
import type { ArchiveEntry } from "./zip.ts";

/** A file of the artifact that the build generates. */
export interface MadeFile {
  readonly kind: "made";
  readonly name: string;
  readonly bytes: number;
  readonly content: Buffer;
  readonly isExecutable: boolean;
}

/** Measured on node_modules: level 9 takes twice the time of 6 and saves half a percent. */
const LEVEL = 6;

/**
 * Smaller contents are deflated in the main thread, as passing them to another takes longer: twice as fast for node_modules.
 */
const THREAD_BYTES = 64 * 1024;

/** Size of the shared read buffer. Most files fit, so that they need no garbage-collected buffer each. */
const READ_BYTES = 512 * 1024;

/** Limit of contents that wait for a thread. More take memory and are not faster. */
const MAX_WAITING_BYTES = 64 << 20;

/** How long reading may block the process from handling signals, and threads from getting their next content. */
const TURN_MS = 5;

/** How often a file is read if it changes meanwhile. */
const READ_TRIES = 3;

export interface Deflated {
  readonly entries: readonly ArchiveEntry[];
  readonly problems: readonly BuildProblem[];
}

/** Reads all files and deflates those that are not in the cache, in Node's thread pool. */
export async function deflateFiles(
  files: readonly (FoundFile | MadeFile)[],
  cache: DeflateCache,
  { onProgress, clock }: { readonly onProgress: (done: number) => void; readonly clock: Clock },
): Promise<Deflated> {
  const entries: ArchiveEntry[] = [];
  const problems: BuildProblem[] = [];
  const used = new Map<string, PackedContent>();
  const room = Buffer.allocUnsafeSlow(READ_BYTES);
  const waiting = new Map<string, Promise<PackedContent>>();
  let waitingBytes = 0;
  let turnedMs = clock.monotonicMs();
  for (const [i, file] of files.entries()) {
    const read = contentOf(file, room);
    if (!read.ok) {
      problems.push(...read.problems);
      continue;
    }
    const content = read.value;
    const mode = modeOf(file);
    const key = hashOf("sha256", content, "buffer").toString("latin1");
    const packing = used.get(key) ?? cache.get(key) ?? waiting.get(key) ?? pack(content);
    if (!(packing instanceof Promise)) {
      used.set(key, packing);
      entries.push({ name: file.name, mode, ...packing });
    } else {
      waitingBytes += content.length;
      const done = packing.then((packed) => {
        used.set(key, packed);
        entries.push({ name: file.name, mode, ...packed });
        waitingBytes -= content.length;
        if (waiting.get(key) === done) waiting.delete(key);
        return packed;
      });
      // Equal contents are deflated once.
      waiting.set(key, done);
      while (waitingBytes > MAX_WAITING_BYTES) await Promise.race(waiting.values());
    }
    if (clock.monotonicMs() - turnedMs > TURN_MS) {
      await turn();
      onProgress(i + 1 - waiting.size);
      turnedMs = clock.monotonicMs();
    }
  }
  while (waiting.size > 0) {
    await Promise.race(waiting.values());
    onProgress(files.length - waiting.size);
  }
  if (problems.length === 0) cache.keep(used);
  return { entries, problems };
}

/** Deflates a content. Keeps no reference to its buffer. */
function pack(content: Buffer): PackedContent | Promise<PackedContent> {
  const about = { crc32: crc32(content), unpackedBytes: content.length };
  if (content.length >= THREAD_BYTES) return packInThread(Buffer.from(content), about);
  const deflated = deflateRawSync(content, { level: LEVEL });
  return deflated.length < content.length
    ? { ...about, isDeflated: true, data: deflated }
    : { ...about, isDeflated: false, data: Buffer.from(content) };
}

function packInThread(content: Buffer, about: Pick<PackedContent, "crc32" | "unpackedBytes">): Promise<PackedContent> {
  // One chunk, as each further one would wait for a thread again.
  const chunkSize = content.length + (content.length >> 10) + 64;
  return new Promise((resolve, reject) => {
    deflateRaw(content, { level: LEVEL, chunkSize }, (error, deflated) => {
      if (error !== null) reject(error);
      else if (deflated.length < content.length) resolve({ ...about, isDeflated: true, data: deflated });
      else resolve({ ...about, isDeflated: false, data: content });
    });
  });
}

/** Type and permissions as far as they matter on the platform. Other bits depend on the machine that builds. */
function modeOf(file: FoundFile | MadeFile): number {
  if (file.kind === "link") return 0o120777;
  if (file.kind === "folder") return 0o040755;
  return file.isExecutable ? 0o100755 : 0o100644;
}

type ReadContent =
  | { readonly ok: true; readonly value: Buffer }
  | { readonly ok: false; readonly problems: readonly BuildProblem[] };

function contentOf(file: FoundFile | MadeFile, room: Buffer): ReadContent {
  if (file.kind === "made") return { ok: true, value: file.content };
  if (file.kind === "link") return { ok: true, value: Buffer.from(file.target) };
  if (file.kind === "folder") return { ok: true, value: Buffer.alloc(0) };
  try {
    const handle = openSync(file.path, "r");
    try {
      let looked: Looked = { size: file.bytes, mtimeMs: file.modifiedMs };
      for (let tries = 0; tries < READ_TRIES; tries++) {
        const content = readWhole(handle, looked, room);
        if (content !== undefined) return { ok: true, value: content };
        looked = fstatSync(handle);
      }
    } finally {
      closeSync(handle);
    }
  } catch (error) {
    return { ok: false, problems: [unreadableFile(file.name, error)] };
  }
  return {
    ok: false,
    problems: [
      {
        code: "artifact/changing",
        message: `${file.name} changed while it was being read`,
        hint: "stop the program that writes it, or exclude it in .toolignore",
      },
    ],
  };
}

type Looked = Pick<Stats, "size" | "mtimeMs">;

/** The content of a file, valid until the next call. Undefined if the file has changed since `stat`. */
function readWhole(file: number, { size, mtimeMs }: Looked, room: Buffer): Buffer | undefined {
  // One byte more than expected, to notice if the file has grown.
  const content = size < room.length ? room.subarray(0, size + 1) : Buffer.allocUnsafe(size + 1);
  let at = 0;
  for (let read = 1; read > 0 && at < content.length; at += read) {
    read = readSync(file, content, at, content.length - at, at);
  }
  const after = fstatSync(file);
  return at === size && after.size === size && after.mtimeMs === mtimeMs ? content.subarray(0, at) : undefined;
}
