import { readdirSync, readFileSync } from "node:fs";

/** O_CLOEXEC on Linux: closed in a program that this process starts. */
const CLOSED = 0o2_000_000;

/** Above it there is no place for a descriptor in a list of those of a child. */
const MAX_DESCRIPTOR = 65_535;

/**
 * Returns the descriptors above 2 that each program would inherit which this process starts. They are a shell's, and above 15:
 * Node.js closes those below in what it starts. On macOS a program inherits none, so that the list is empty there.
 */
export function inheritedFiles(): readonly number[] {
  let names: string[];
  try {
    names = readdirSync("/proc/self/fdinfo");
  } catch {
    return [];
  }
  return names.map(Number).filter((descriptor) => descriptor > 2 && descriptor <= MAX_DESCRIPTOR && isKept(descriptor));
}

function isKept(descriptor: number): boolean {
  try {
    const [, flags = "0"] = /^flags:\s*([0-7]+)/m.exec(readFileSync(`/proc/self/fdinfo/${descriptor}`, "latin1")) ?? [];
    return flags !== "0" && (Number.parseInt(flags, 8) & CLOSED) === 0;
  } catch {
    // That of the folder that was read.
    return false;
  }
}
