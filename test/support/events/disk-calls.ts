// The calls of this process that change a folder, in their order: what a power failure leaves depends on it, and nothing
// else. A process that is killed shows no difference, since the system keeps what was written.
import fs from "node:fs";
import { type FileHandle, open } from "node:fs/promises";
import { syncBuiltinESMExports } from "node:module";
import { relative } from "node:path";

interface Test {
  teardown(handler: () => void): void;
}

export interface DiskCalls {
  /** The calls since the last time, and forgets them: `write a`, `sync a`, `cut a`, `rename a b`, `remove a`, `make a/`. */
  take(): string[];
  /** Called before each one; throws what the system would. */
  before: (call: string) => void | Promise<void>;
}

/** As `before`: what a disk without a free byte refuses. Names and empty files it has room for. */
export function refuseBytes(call: string): void {
  if (/^(write|make) /.test(call))
    throw Object.assign(new Error(`ENOSPC: no space left on device, ${call}`), { code: "ENOSPC" });
}

/** Records until the test ends. Names are relative to the folder, which is `.` itself. */
export async function recordDiskCalls(t: Test, folder: string): Promise<DiskCalls> {
  const calls: string[] = [];
  const paths = new WeakMap<object, string>();
  const recorder: DiskCalls = { take: () => calls.splice(0), before: () => {} };
  const nameOf = (path: unknown) => relative(folder, String(path)) || ".";
  const isOurs = (path: unknown) => !nameOf(path).startsWith("..");
  const note = async <Result>(call: string, run: () => Promise<Result>) => {
    await recorder.before(call);
    const result = await run();
    calls.push(call);
    return result;
  };
  const restores: (() => void)[] = [];
  const replace = <Owner extends object>(owner: Owner, name: keyof Owner, by: (real: never) => unknown) => {
    const real = owner[name];
    owner[name] = by(real as never) as Owner[keyof Owner];
    restores.push(() => {
      owner[name] = real;
    });
  };

  const handle = await open(import.meta.filename);
  const prototype = Object.getPrototypeOf(handle) as FileHandle;
  await handle.close();
  type Method = (this: FileHandle, ...args: unknown[]) => Promise<unknown>;
  for (const [name, verb] of [
    ["sync", "sync"],
    ["datasync", "sync"],
    ["write", "write"],
    ["writev", "write"],
    ["writeFile", "write"],
    ["truncate", "cut"],
  ] as const) {
    replace(
      prototype,
      name,
      (real: Method): Method =>
        function (...args) {
          const path = paths.get(this);
          const run = () => real.apply(this, args);
          return path === undefined ? run() : note(`${verb} ${path}`, run);
        },
    );
  }
  type Call = (...args: unknown[]) => Promise<unknown>;
  replace(
    fs.promises,
    "open",
    (real: Call): Call =>
      async (path, ...rest) => {
        const handle = (await real(path, ...rest)) as object;
        if (isOurs(path)) paths.set(handle, nameOf(path));
        return handle;
      },
  );
  replace(
    fs.promises,
    "rename",
    (real: Call): Call =>
      (from, to) =>
        isOurs(from) ? note(`rename ${nameOf(from)} ${nameOf(to)}`, () => real(from, to)) : real(from, to),
  );
  replace(
    fs.promises,
    "writeFile",
    (real: Call): Call =>
      (path, ...rest) =>
        typeof path === "string" && isOurs(path)
          ? note(`write ${nameOf(path)}`, () => real(path, ...rest))
          : real(path, ...rest),
  );
  for (const name of ["rm", "unlink"] as const) {
    replace(
      fs.promises,
      name,
      (real: Call): Call =>
        (path, ...rest) => {
          const isThere = isOurs(path) && fs.existsSync(String(path));
          return isThere ? note(`remove ${nameOf(path)}`, () => real(path, ...rest)) : real(path, ...rest);
        },
    );
  }
  replace(
    fs.promises,
    "mkdir",
    (real: Call): Call =>
      (path, ...rest) => {
        const isNew = isOurs(path) && !fs.existsSync(String(path));
        return isNew ? note(`make ${nameOf(path)}/`, () => real(path, ...rest)) : real(path, ...rest);
      },
  );
  syncBuiltinESMExports();
  t.teardown(() => {
    for (const restore of restores) restore();
    syncBuiltinESMExports();
  });
  return recorder;
}
