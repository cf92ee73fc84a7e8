import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import { chmodSync, copyFileSync, mkdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { crc32, deflateRaw } from "node:zlib";
import { writeZip } from "../../artifact/zip.ts";
import { PlatformError } from "../../platform/error.ts";
import {
  type Architecture,
  type BuildMachine,
  builderPackage,
  type Engine,
  engineBinary,
  installEngine,
  runnerPackage,
} from "./engine.ts";

/** The record that is stored next to the archive of a runtime. */
export interface RuntimeRecord {
  /** The key of the sources that it was built from; `sourceKey`. */
  readonly source: string;
  /** SHA-256 of the executable, hexadecimal. The archive differs between versions of zlib. */
  readonly executable: string;
  /** SHA-256 of the archive, hexadecimal. */
  readonly archive: string;
  /** Size of the archive. */
  readonly bytes: number;
}

export const ARCHIVE_FILE = "tool-runtime.zip";
const RECORD_FILE = "tool-runtime.json";
/** The path of the executable below /opt. */
const EXECUTABLE = "tool/runtime";

export interface MakeOptions {
  /** The path of bootstrap.cjs, the program. */
  readonly program: string;
  readonly engine: Engine;
  readonly machine: BuildMachine;
  readonly target: Architecture;
  /** For temporary files; removed afterwards. */
  readonly workFolder: string;
  /** The folder for executable, archive and record; replaced. */
  readonly output: string;
  readonly env: NodeJS.ProcessEnv;
  readonly signal: AbortSignal;
  readonly note: (text: string) => void;
}

/** Identifies a runtime before it is built: the same program, engine and architecture give the same executable. */
export function sourceKey(program: string, engine: Engine, target: Architecture): string {
  const hash = createHash("sha256").update(readFileSync(program));
  return hash.update(`\0${engine.version}\0${target}`).digest("hex").slice(0, 32);
}

/**
 * Builds the runtime for languages whose managed runtime has no Node: one executable with the engine and the program, in the
 * archive of a layer. `output` is complete or absent at any time.
 */
export async function makeRuntime(options: MakeOptions): Promise<RuntimeRecord> {
  const { engine, machine, workFolder } = options;
  try {
    const builder = builderPackage(machine, engine);
    if (builder !== undefined) return await makeIn(workFolder, builder, options);
  } catch (error) {
    const { code, syscall } = error as NodeJS.ErrnoException;
    if (code === undefined || syscall === undefined || options.signal.aborted) throw error;
    throw new PlatformError(
      "runtime/disk",
      `the runtime for Python and Java cannot be written to ${workFolder}: ${code === "ENOSPC" ? "the disk is full" : code}`,
      "building it takes about 400 MB, 54 MB afterwards; XDG_CACHE_HOME names another folder",
      { cause: error },
    );
  } finally {
    removeQuietly(workFolder);
  }
  throw new PlatformError(
    "runtime/unsupported",
    `deploying Python and Java needs a runtime that is built once on this machine, and its engine does not support ${machine.platform} on ${machine.arch}`,
    "deploy from Linux or macOS on x64 or arm64",
  );
}

/** Ignores errors, so that they do not hide an earlier one. A later run removes what is left. */
function removeQuietly(folder: string): void {
  try {
    rmSync(folder, { recursive: true, force: true });
  } catch {}
}

async function makeIn(folder: string, builder: string, options: MakeOptions): Promise<RuntimeRecord> {
  const { program, engine, target, output, env, signal, note } = options;
  const runner = runnerPackage(target);
  const packages = [...new Set([builder, runner])];
  note(`downloading its engine (${packages.length * 40} MB, once for this version of tool)`);
  const engineFolder = join(folder, "engine");
  await installEngine({ engine, packages, folder: engineFolder, env, signal });
  for (const name of packages) chmodSync(engineBinary(engineFolder, name), 0o755);

  note("compiling it");
  // Compiled in its folder and by relative names, as the executable would contain other paths.
  copyFileSync(program, join(folder, "bootstrap.cjs"));
  const made = join(folder, "made");
  mkdirSync(join(made, "tool"), { recursive: true });
  const executable = join(made, EXECUTABLE);
  await compile(engineBinary(engineFolder, builder), {
    runner: engineBinary(engineFolder, runner),
    target,
    executable,
    folder,
    env,
    signal,
  });

  note("packing it");
  const content = readFileSync(executable);
  const zip = writeZip([
    {
      name: EXECUTABLE,
      mode: 0o100755,
      crc32: crc32(content),
      unpackedBytes: content.length,
      isDeflated: true,
      data: await promisify(deflateRaw)(content),
    },
  ]);
  signal.throwIfAborted();
  const record: RuntimeRecord = {
    source: sourceKey(program, engine, target),
    executable: sha256(content),
    archive: sha256(zip),
    bytes: zip.length,
  };
  writeFileSync(join(made, ARCHIVE_FILE), zip);
  writeFileSync(join(made, RECORD_FILE), `${JSON.stringify(record)}\n`);
  return putInPlace(made, output, record);
}

/** Another process may have built the same runtime meanwhile. It may be in use, so it is kept if it is the same. */
function putInPlace(made: string, output: string, record: RuntimeRecord): RuntimeRecord {
  const there = readRuntime(output, record.source);
  if (there?.executable === record.executable) return there;
  rmSync(output, { recursive: true, force: true });
  mkdirSync(dirname(output), { recursive: true });
  renameSync(made, output);
  return record;
}

/** The runtime in a folder; undefined if there is none, or if it was built from another source. */
export function readRuntime(folder: string, source: string): RuntimeRecord | undefined {
  try {
    const record = JSON.parse(readFileSync(join(folder, RECORD_FILE), "utf8")) as RuntimeRecord;
    const isWhole = record.source === source && statSync(join(folder, ARCHIVE_FILE)).size === record.bytes;
    return isWhole ? record : undefined;
  } catch {
    // Absent or damaged: it is built again.
    return undefined;
  }
}

interface Compilation {
  readonly runner: string;
  readonly target: Architecture;
  readonly executable: string;
  readonly folder: string;
  readonly env: NodeJS.ProcessEnv;
  readonly signal: AbortSignal;
}

async function compile(builder: string, { runner, target, executable, folder, env, signal }: Compilation) {
  const words = [
    "build",
    "--compile",
    "--bytecode",
    // Otherwise the runtime would load the app's .env and bunfig.toml.
    "--no-compile-autoload-dotenv",
    "--no-compile-autoload-bunfig",
    `--target=bun-linux-${target}`,
    `--compile-executable-path=${runner}`,
    `--outfile=${executable}`,
    "bootstrap.cjs",
  ];
  await new Promise<void>((resolve, reject) => {
    execFile(builder, words, { cwd: folder, env, signal }, (error, stdout, stderr) => {
      if (error === null) return resolve();
      if (signal.aborted) return reject(error);
      const said = `${stderr}\n${stdout}`.trim().split("\n").at(-1) || error.message;
      reject(
        new PlatformError(
          "runtime/compile",
          `the runtime for Python and Java cannot be compiled on this machine: ${said}`,
          "deploy from another machine, or report this",
          { cause: error },
        ),
      );
    });
  });
}

function sha256(bytes: Uint8Array): string {
  return createHash("sha256").update(bytes).digest("hex");
}
