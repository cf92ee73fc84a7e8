// The faults that may happen to a file or a folder without the knowledge of a store.
import { execFileSync } from "node:child_process";
import {
  cpSync,
  existsSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { crc32 } from "node:zlib";

/** Writes a new file of that name: copies share inodes with the original. */
export function overwrite(path: string, content: string | Buffer): void {
  rmSync(path, { force: true });
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, content);
}

/** Something else in the place of a file: opening the pipe would wait for ever, reading the device never ends. */
export const notFiles: Readonly<Record<string, (path: string) => void>> = {
  "a pipe": (path) => {
    rmSync(path, { force: true });
    execFileSync("mkfifo", [path]);
  },
  "a folder": (path) => {
    rmSync(path, { force: true });
    mkdirSync(path);
  },
  "a link to a device without an end": (path) => {
    rmSync(path, { force: true });
    symlinkSync("/dev/zero", path);
  },
};

export const remove = (path: string) => rmSync(path, { recursive: true });
export const empty = (path: string) => overwrite(path, "");

/** Keeps a share of the bytes; of 1, all but the last one. */
export function cut(path: string, share: number): void {
  const bytes = readFileSync(path);
  overwrite(path, bytes.subarray(0, cutAt(bytes.length, share)));
}

export const cutAt = (length: number, share: number) => (share === 1 ? length - 1 : Math.floor(length * share));

/** Flips one bit of a byte. */
export function flip(path: string, at: number, bit: number): void {
  const bytes = Buffer.from(readFileSync(path));
  bytes[at]! ^= 1 << bit;
  overwrite(path, bytes);
}

/** A file of its own, of a time that `flipSilently` can give it again: whole seconds. */
export function settle(path: string): void {
  overwrite(path, readFileSync(path));
  utimesSync(path, SETTLED_S, SETTLED_S);
}

const SETTLED_S = 1_700_000_000;

/** As a disk does it: no time and no inode tells of it. */
export function flipSilently(path: string, at: number): void {
  const bytes = readFileSync(path);
  bytes[at]! ^= 1;
  writeFileSync(path, bytes);
  utimesSync(path, SETTLED_S, SETTLED_S);
}

/** The same place of every file of that length: so far in, this bit. */
export const placeOf = (length: number, i: number, of: number) => ({
  at: Math.min(length - 1, Math.floor((length * (i + 0.5)) / of)),
  bit: (i * 3) % 8,
});

/** Puts a file or folder of another directory in the place of the one of that path. */
export function putBack(from: string, to: string, path: string): void {
  if (!existsSync(join(from, path))) rmSync(join(to, path), { recursive: true, force: true });
  else if (statSync(join(from, path)).isDirectory()) cpSync(join(from, path), join(to, path), { recursive: true });
  else overwrite(join(to, path), readFileSync(join(from, path)));
}

export function swap(a: string, b: string): void {
  const aside = `${a}.swapped`;
  renameSync(a, aside);
  renameSync(b, a);
  renameSync(aside, b);
}

/** Changes a document and gives it its right sum. */
export function change(path: string, next: (document: Record<string, unknown>) => Record<string, unknown>): void {
  const [line = ""] = readFileSync(path, "utf8").split("\n");
  const json = JSON.stringify(next(JSON.parse(line) as Record<string, unknown>));
  overwrite(path, `${json}\n{"sum":${crc32(json)}}\n`);
}
