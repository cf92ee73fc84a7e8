import { hash as hashOf } from "node:crypto";
import { closeSync, fstatSync, openSync, readSync } from "node:fs";
import { setImmediate as turn } from "node:timers/promises";
import { crc32, deflateRaw, deflateRawSync } from "node:zlib";
import { type FoundFile, unreadable } from "./collect.ts";
import { type DeflateCache, keyOf, type Packed } from "./deflate-cache.ts";
import type { BuildProblem } from "./problem.ts";
import type { ZipEntry } from "./zip.ts";

/** A file of the artifact that is made while building. */
export interface MadeFile {
  readonly kind: "made";
  readonly name: string;
  readonly bytes: number;
  readonly content: Buffer;
  readonly isExecutable: boolean;
}

/** Measured on node_modules: 9 takes twice the time of 6 for half a percent. */
const LEVEL = 6;

/** Below it a content is deflated sooner than a thread has got it and given it back: twice as fast for node_modules. */
const THREAD_BYTES = 64 * 1024;

/** Contents that wait for a thread. With more, memory grows and nothing gets faster. */
const MAX_WAITING_BYTES = 64 << 20;

/** So long may reading keep the process from hearing a signal, and finished threads from their next content. */
const TURN_MS = 5;

/** A file that is written while it is read is read again, so often. */
const READ_TRIES = 3;

export interface Deflated {
  readonly entries: readonly ZipEntry[];
  readonly problems: readonly BuildProblem[];
}

/** Reads and deflates all files, in the threads that Node has for it; contents that the cache knows are read only. */
export async function deflateFiles(
  files: readonly (FoundFile | MadeFile)[],
  cache: DeflateCache,
  onProgress: (done: number) => void,
): Promise<Deflated> {
  const entries: ZipEntry[] = [];
  const problems: BuildProblem[] = [];
  const used = new Map<string, Packed>();
  const waiting = new Map<string, Promise<Packed>>();
  let waitingBytes = 0;
  let turnedMs = performance.now();
  for (const [i, file] of files.entries()) {
    const content = contentOf(file);
    if (!Buffer.isBuffer(content)) {
      problems.push(content);
      continue;
    }
    const mode = modeOf(file);
    const key = keyOf(sha256(content));
    const found = used.get(key) ?? cache.get(Buffer.from(key, "latin1")) ?? waiting.get(key) ?? pack(content);
    if (!(found instanceof Promise)) {
      used.set(key, found);
      entries.push({ name: file.name, mode, ...found });
    } else {
      waitingBytes += content.length;
      const done = found.then((packed) => {
        used.set(key, packed);
        entries.push({ name: file.name, mode, ...packed });
        waitingBytes -= content.length;
        if (waiting.get(key) === done) waiting.delete(key);
        return packed;
      });
      // The same content twice is deflated once.
      waiting.set(key, done);
      while (waitingBytes > MAX_WAITING_BYTES) await Promise.race(waiting.values());
    }
    if (performance.now() - turnedMs > TURN_MS) {
      await turn();
      onProgress(i + 1 - waiting.size);
      turnedMs = performance.now();
    }
  }
  while (waiting.size > 0) {
    await Promise.race(waiting.values());
    onProgress(files.length - waiting.size);
  }
  if (problems.length === 0) cache.keep(used);
  return { entries, problems };
}

function sha256(content: Buffer): Buffer {
  return hashOf("sha256", content, "buffer");
}

function pack(content: Buffer): Packed | Promise<Packed> {
  const about = { crc32: crc32(content), unpackedBytes: content.length };
  const smaller = (deflated: Buffer): Packed =>
    deflated.length < content.length
      ? { ...about, isDeflated: true, data: deflated }
      : { ...about, isDeflated: false, data: content };
  if (content.length < THREAD_BYTES) return smaller(deflateRawSync(content, { level: LEVEL }));
  return new Promise((resolve, reject) => {
    // In one piece: each further one would wait for a thread again.
    const chunkSize = content.length + (content.length >> 10) + 64;
    deflateRaw(content, { level: LEVEL, chunkSize }, (error, deflated) => {
      if (error === null) resolve(smaller(deflated));
      else reject(error);
    });
  });
}

/** Only what counts on the platform: others' permissions differ with the machine that builds. */
function modeOf(file: FoundFile | MadeFile): number {
  if (file.kind === "link") return 0o120777;
  if (file.kind === "folder") return 0o040755;
  return file.isExecutable ? 0o100755 : 0o100644;
}

function contentOf(file: FoundFile | MadeFile): Buffer | BuildProblem {
  if (file.kind === "made") return file.content;
  if (file.kind === "link") return Buffer.from(file.target);
  if (file.kind === "folder") return Buffer.alloc(0);
  try {
    for (let tries = 0; tries < READ_TRIES; tries++) {
      const content = readWhole(file.path);
      if (content !== undefined) return content;
    }
  } catch (error) {
    return unreadable(file.name, error);
  }
  return {
    code: "artifact/changing",
    message: `${file.name} changes while it is read`,
    hint: "stop what writes it, or leave it out in .toolignore",
  };
}

/** Undefined where the file was written meanwhile. */
function readWhole(path: string): Buffer | undefined {
  const file = openSync(path, "r");
  try {
    const before = fstatSync(file);
    // A byte more than there should be, so that growing shows.
    const content = Buffer.allocUnsafe(before.size + 1);
    let at = 0;
    for (let read = 1; read > 0 && at < content.length; at += read) {
      read = readSync(file, content, at, content.length - at, null);
    }
    const after = fstatSync(file);
    if (at !== before.size || after.mtimeMs !== before.mtimeMs || after.size !== before.size) return undefined;
    return content.subarray(0, at);
  } finally {
    closeSync(file);
  }
}
