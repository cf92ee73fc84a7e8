import { mkdirSync, mkdtempSync, readdirSync, rmSync, statSync, utimesSync } from "node:fs";
import { homedir, tmpdir } from "node:os";
import { dirname, join } from "node:path";
import type { Clock } from "../../../grammar/units/clock.ts";
import { byteSize } from "../../output/byte-size.ts";
import type { Watched } from "../../platform/progress.ts";
import { withoutSecrets } from "../../without-secrets.ts";
import type { Archive } from "../function/upload.ts";
import { ENGINE, thisMachine } from "./engine.ts";
import { ARCHIVE_FILE, makeRuntime, type RuntimeRecord, readRuntime, sourceKey } from "./make-runtime.ts";

/** The archive of the layer with the runtime for Python and Java. */
export interface RuntimeLayerFile extends Archive {
  /** Hash of the executable in the archive, which names the layer. */
  readonly executableSha256: string;
}

/** How many versions of the tool have their runtime cached on this machine. */
const KEPT = 3;

/** After this time the leftovers of a killed process are removed. */
const ABANDONED_MS = 60 * 60 * 1000;

const WORK_PREFIX = ".making-";

/**
 * The runtime that belongs to this version of the tool: the one that came with it (dist/layer), else the one in the cache,
 * else it is built now.
 */
export async function runtimeLayerFile(
  env: Readonly<Record<string, string | undefined>>,
  { signal, report, clock }: Watched & { readonly clock: Clock },
): Promise<RuntimeLayerFile> {
  const { program, layer: shipped } = installed();
  const source = sourceKey(program, ENGINE, "x64");
  const record = readRuntime(shipped, source);
  if (record !== undefined) return layerFile(shipped, record);
  const cache = cacheFolder(env);
  const folder = join(cache, source);
  const before = readRuntime(folder, source);
  if (before !== undefined) {
    touch(folder, clock.nowMs());
    return layerFile(folder, before);
  }

  const phase = "runtime for Python and Java";
  report({ kind: "begin", phase });
  mkdirSync(cache, { recursive: true });
  removeOld(cache, clock.nowMs());
  const made = await makeRuntime({
    program,
    engine: ENGINE,
    machine: thisMachine(),
    target: "x64",
    workFolder: mkdtempSync(join(cache, WORK_PREFIX)),
    output: folder,
    env: withoutSecrets(env),
    signal,
    note: (text) => report({ kind: "note", phase, text }),
  });
  // Only the archive is uploaded.
  rmSync(join(folder, "tool"), { recursive: true, force: true });
  report({ kind: "end", phase, text: `made on this machine, ${byteSize(made.bytes)}` });
  return layerFile(folder, made);
}

function layerFile(folder: string, { executable, archive, bytes }: RuntimeRecord): RuntimeLayerFile {
  const sha256Base64 = Buffer.from(archive, "hex").toString("base64");
  return { zip: join(folder, ARCHIVE_FILE), executableSha256: executable, sha256Base64, bytes };
}

/**
 * The program of the runtime, and where the layer is if it came with this version: beside the folder of the bundles, which is
 * called `bin` in dist and `lib` in a release. In the bundle import.meta.url is the path of the command's file, in `commands`
 * of that folder.
 */
function installed(): { readonly program: string; readonly layer: string } {
  const here = import.meta.url;
  const bundles = here.startsWith("file:")
    ? join(dirname(new URL(here).pathname), "../../../bin")
    : join(dirname(here), "..");
  return { program: join(bundles, "runtime/bootstrap.cjs"), layer: join(bundles, "../layer") };
}

/** The cache; for a user without a home directory, as on some build machines, a folder for this run. */
function cacheFolder(env: Readonly<Record<string, string | undefined>>): string {
  const home = env.XDG_CACHE_HOME || join(env.HOME || homedir(), ".cache");
  const folder = join(home, "tool", "runtime");
  try {
    mkdirSync(folder, { recursive: true });
    return folder;
  } catch {
    const own = mkdtempSync(join(tmpdir(), "tool-runtime-"));
    process.once("exit", () => rmSync(own, { recursive: true, force: true }));
    return own;
  }
}

function touch(folder: string, nowMs: number): void {
  try {
    utimesSync(folder, nowMs / 1000, nowMs / 1000);
  } catch {
    // A read-only cache can be used as well.
  }
}

/** Removes all but the most recently used runtimes, so that there is room for one more. */
function removeOld(cache: string, nowMs: number): void {
  const folders = readdirSync(cache).flatMap((name) => {
    const path = join(cache, name);
    const { mtimeMs } = statSync(path, { throwIfNoEntry: false }) ?? {};
    return mtimeMs === undefined ? [] : [{ path, mtimeMs, isWork: name.startsWith(WORK_PREFIX) }];
  });
  const runtimes = folders.filter(({ isWork }) => !isWork).sort((a, b) => b.mtimeMs - a.mtimeMs);
  const abandoned = folders.filter(({ isWork, mtimeMs }) => isWork && nowMs - mtimeMs > ABANDONED_MS);
  for (const { path } of [...runtimes.slice(KEPT - 1), ...abandoned]) rmSync(path, { recursive: true, force: true });
}
