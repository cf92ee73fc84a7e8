import { closeSync, openSync, readFileSync, readSync } from "node:fs";
import type { FoundFile } from "./collect.ts";

/**
 * The system that a binary is built for, in words. Undefined for Linux on x86-64, which is the platform, and for other
 * files.
 */
export function foreignTarget(head: Buffer): string | undefined {
  if (head.length < 20) return undefined;
  if (head.readUInt32BE(0) === 0x7f454c46) {
    const machine = head[5] === 2 ? head.readUInt16BE(18) : head.readUInt16LE(18);
    if (machine === 0x3e) return undefined;
    return `Linux on ${ELF_MACHINES[machine] ?? "another processor"}`;
  }
  switch (head.readUInt32BE(0)) {
    case 0xcffaedfe:
      return `macOS on ${MACH_O_MACHINES[head.readUInt32LE(4)] ?? "another processor"}`;
    case 0xcafebabe:
    case 0xcefaedfe:
      return "macOS";
  }
  return head.toString("latin1", 0, 2) === "MZ" ? "Windows" : undefined;
}

const ELF_MACHINES: Readonly<Record<number, string>> = { 3: "x86", 40: "arm", 183: "arm64", 243: "riscv64" };
const MACH_O_MACHINES: Readonly<Record<number, string>> = { 16777223: "x86-64", 16777228: "arm64" };

/** A binary that the platform cannot load. */
export interface ForeignBinary {
  readonly name: string;
  /** `macOS on arm64`, `Python 3.11`. */
  readonly target: string;
}

/** The version of the managed runtime's Python in the names of libraries. */
const PYTHON_TAG = "314";

/**
 * Native modules that are built for another system. Packages often contain one for each system: a module is left out of the
 * list if its package, or the package of the same name for the platform, has one for the platform.
 */
export function foreignBinaries(files: readonly FoundFile[]): ForeignBinary[] {
  const groups = new Map<string, { isUsable: boolean; foreign: ForeignBinary[] }>();
  for (const file of files) {
    if (file.kind !== "file" || !/\.(node|so)$/.test(file.name)) continue;
    const key = packageOf(file.name);
    const group = groups.get(key) ?? { isUsable: false, foreign: [] };
    groups.set(key, group);
    const target = targetOf(file.name, file.path);
    if (target === undefined) group.isUsable = true;
    else group.foreign.push({ name: file.name, target });
  }
  return [...groups.values()].flatMap(({ isUsable, foreign }) => (isUsable ? [] : foreign));
}

function targetOf(name: string, path: string): string | undefined {
  const python = /\.cpython-(\d)(\d+)/.exec(name);
  if (python !== null && `${python[1]}${python[2]}` !== PYTHON_TAG) return `Python ${python[1]}.${python[2]}`;
  const target = foreignTarget(fileHead(path));
  // The C library that it needs is only found among its strings.
  if (target === undefined && readFileSync(path).includes("libc.musl-")) return "Linux with musl";
  return target;
}

/** The start of a file, which tells the system of a binary. */
export function fileHead(path: string): Buffer {
  const head = Buffer.alloc(64);
  const file = openSync(path, "r");
  try {
    return head.subarray(0, readSync(file, head, 0, head.length, 0));
  } finally {
    closeSync(file);
  }
}

/** `node_modules/@img/sharp-darwin-arm64/...` and `...-linux-x64/...` are one package for two systems. */
function packageOf(name: string): string {
  const [, path = ""] = /^(.*node_modules\/(?:@[^/]+\/)?[^/]+)\//.exec(name) ?? /^(\.pypath\/[^/]+)/.exec(name) ?? [];
  return path.replace(/-(darwin|linux(musl)?|win32|freebsd|android|openbsd|sunos|aix)(-.*)?$/, "");
}
