import { hash as hashOf } from "node:crypto";
import { existsSync } from "node:fs";
import { homedir } from "node:os";
import { basename, join } from "node:path";
import { LineIndex } from "../../grammar/problem.ts";
import { readProjectText } from "../../language-server/node-project-file.ts";
import { ignoreProblems } from "../../schema/ignore/index.ts";
import { type Config, forStage, type Inference } from "../../schema/index.ts";
import type { Context } from "../context.ts";
import { commandsForHook, type HookName, howItEnded, runCommands } from "../hooks/hooks.ts";
import type { VariableValues } from "../platform/variables.ts";
import { hookEnvironment, withPackageBinaries } from "../project/app-environment.ts";
import { collectFiles, type FoundFile, type LeftOut, unreadableFile } from "./collect.ts";
import { deflateFiles, type MadeFile } from "./deflate.ts";
import { openDeflateCache } from "./deflate-cache.ts";
import { type Delivery, deliveryOf, runtimeFiles } from "./delivery.ts";
import { inspect } from "./inspect.ts";
import { checkUnpackedSize } from "./limits.ts";
import type { BuildProblem } from "./problem.ts";
import { writeZip } from "./zip.ts";

/** The archive that is uploaded, and how it is run. */
export interface Artifact extends Delivery {
  readonly zip: Uint8Array;
  /** SHA-256 of the zip, in the form that the platform returns for a function's code. */
  readonly sha256Base64: string;
  /** Size of the zip. */
  readonly bytes: number;
  readonly unpackedBytes: number;
  readonly files: readonly PackedFile[];
  readonly leftOut: readonly LeftOut[];
}

export interface PackedFile {
  readonly name: string;
  readonly bytes: number;
}

/** The events of a build of an artifact. */
export type BuildEvent =
  | { readonly kind: "command"; readonly hook: HookName; readonly command: string }
  /** The output of the command, in any pieces. Not with --verbose, which shows it. */
  | { readonly kind: "output"; readonly text: string }
  | { readonly kind: "commanded"; readonly hook: HookName; readonly command: string; readonly durationMs: number }
  /** The build succeeds, but the deployment may fail. */
  | { readonly kind: "warning"; readonly message: string; readonly hint?: string }
  | { readonly kind: "packing"; readonly done: number; readonly files: number; readonly bytes: number }
  | { readonly kind: "packed"; readonly files: number; readonly bytes: number; readonly durationMs: number };

export interface BuildOptions {
  readonly context: Context;
  /** tool.json, checked. */
  readonly config: Config;
  /** For the platform, not for development. */
  readonly inference: Inference;
  readonly stage: string;
  /** The stage's variables of `tool env`, for the hooks. */
  readonly variables?: VariableValues;
  /** Other variables for the hooks, which come before all. */
  readonly env?: NodeJS.ProcessEnv;
  /** If false, no hook runs and the files are packed as they are. */
  readonly runsHooks?: boolean;
  readonly report: (event: BuildEvent) => void;
}

/** Why a build stopped. An interrupted build has no problems. */
interface BuildFailure {
  readonly ok: false;
  readonly isInterrupted: boolean;
  readonly problems: readonly BuildProblem[];
}

export type BuildResult = { readonly ok: true; readonly artifact: Artifact } | BuildFailure;

export const BUILD_HOOKS = ["prebuild", "build", "postbuild"] as const satisfies HookName[];

/**
 * Builds what is deployed to a stage: runs the hooks prebuild, build and postbuild, then packs the files that .toolignore
 * does not exclude and those of the runtime. The same files give the same zip. Returns all problems that are found.
 */
export async function buildArtifact(options: BuildOptions): Promise<BuildResult> {
  const { context, inference, stage, report } = options;
  const config = forStage(options.config, stage);
  const failed = (problems: readonly BuildProblem[]): BuildFailure => ({ ok: false, isInterrupted: false, problems });
  if (options.runsHooks !== false) {
    const hooks = await runBuildHooks({ ...options, config });
    if (!hooks.ok) return hooks;
  }
  const { clock } = context.io;
  const beginMs = clock.monotonicMs();
  const ignore = readIgnore(context.directory);
  if (!ignore.ok) return failed(ignore.problems);
  const { stdout, stderr } = context.io;
  const written = [stdout.file(), stderr.file()].filter((file) => file !== undefined);
  const collected = await collectFiles({
    directory: context.directory,
    ignore: ignore.value,
    clock,
    written,
    ...usualFor(inference),
  });
  if (collected.problems.length > 0) return failed(collected.problems);
  const findings = inspect(collected, { config, inference, directory: context.directory });
  for (const { message, hint } of [...collected.warnings, ...findings.warnings])
    report({ kind: "warning", message, ...(hint && { hint }) });
  if (findings.problems.length > 0) return failed(findings.problems);
  const files: (FoundFile | MadeFile)[] = [
    ...collected.files,
    ...runtimeFiles(config, inference, { stage, directory: context.directory }),
  ];
  const delivery = deliveryOf(inference);
  const tooLarge = checkUnpackedSize(files, delivery.needsLayer);
  if (tooLarge !== undefined) return failed([tooLarge]);

  const unpackedBytes = files.reduce((sum, { bytes }) => sum + bytes, 0);
  const cache = openDeflateCache(cacheFolder(context), projectKey(context.directory));
  const { entries, problems } = await deflateFiles(files, cache, {
    onProgress: (done) => report({ kind: "packing", done, files: files.length, bytes: unpackedBytes }),
    clock,
  });
  if (problems.length > 0) return failed(problems);
  const zip = writeZip(entries);
  const durationMs = Math.round(clock.monotonicMs() - beginMs);
  report({ kind: "packed", files: files.length, bytes: zip.length, durationMs });
  return {
    ok: true,
    artifact: {
      ...delivery,
      zip,
      sha256Base64: hashOf("sha256", zip, "base64"),
      bytes: zip.length,
      // The sizes as read, as a file may have grown since it was found.
      unpackedBytes: entries.reduce((sum, entry) => sum + entry.unpackedBytes, 0),
      files: entries.map((entry) => ({ name: entry.name, bytes: entry.unpackedBytes })),
      leftOut: collected.leftOut,
    },
  };
}

async function runBuildHooks(options: BuildOptions): Promise<{ readonly ok: true } | BuildFailure> {
  const { context, config, inference, stage, report } = options;
  if (config.hooks?.build === undefined && inference.build === undefined && inference.note !== undefined) {
    return { ok: false, isInterrupted: false, problems: [{ code: "artifact/no-build", message: inference.note }] };
  }
  const env = withPackageBinaries(
    { ...hookEnvironment(context, config, stage, options.variables ?? {}), ...options.env, TOOL_STAGE: stage },
    context.directory,
  );
  for (const hook of BUILD_HOOKS) {
    const done = await runCommands(context, commandsForHook(hook, config, inference), {
      env,
      output: context.verbose ? "shown-on-stderr" : "kept",
      onOutput: (text) => report({ kind: "output", text }),
      onBegin: (command) => report({ kind: "command", hook, command }),
      onEnd: ({ command, durationMs }) => report({ kind: "commanded", hook, command, durationMs }),
    });
    const last = done.at(-1);
    if (last?.isInterrupted) return { ok: false, isInterrupted: true, problems: [] };
    if (last !== undefined && last.code !== 0) {
      const output = last.output.trimEnd();
      const problem = {
        code: "hook/failed",
        message: `${hook} failed: ${howItEnded(last)}`,
        ...(output && { output }),
      };
      return { ok: false, isInterrupted: false, problems: [problem] };
    }
  }
  return { ok: true };
}

/** Files that the tools of a runtime leave, which are excluded, and files that it needs. */
function usualFor({ runtime }: Inference) {
  const usual = [{ pattern: "node_modules/.cache/", why: "a cache of other tools" }];
  // Bytecode only works for one version of Python, and contains the modification time of its source.
  if (runtime === "python") usual.push({ pattern: "__pycache__/", why: "bytecode for this machine's Python" });
  return { usual, needed: runtime === "python" ? [".pypath"] : [] };
}

type Ignore =
  | { readonly ok: true; readonly value: string }
  | { readonly ok: false; readonly problems: readonly BuildProblem[] };

/** The text of .toolignore; empty if there is no such file. */
function readIgnore(directory: string): Ignore {
  try {
    const value = readProjectText(join(directory, ".toolignore"));
    const problems = ignoreProblems(value).map(({ message, hint, span }) => {
      const { line } = new LineIndex(value).position(span.start);
      return { code: "artifact/unreadable", message: `.toolignore:${line}: ${message}`, ...(hint && { hint }) };
    });
    return problems.length > 0 ? { ok: false, problems } : { ok: true, value };
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return { ok: true, value: "" };
    const hint = "put a file in its place that may be read, or remove it";
    return { ok: false, problems: [{ ...unreadableFile(".toolignore", error), hint }] };
  }
}

/** Undefined if the user has no home directory, as on some build machines, where the cache would not be used again. */
function cacheFolder({ io: { env } }: Context): string | undefined {
  const home = env.HOME || homedir();
  if (!env.XDG_CACHE_HOME && !existsSync(home)) return undefined;
  return join(env.XDG_CACHE_HOME || join(home, ".cache"), "tool", "artifacts");
}

/** The name of the folder, to be readable in the cache, and a hash of its path, as names are not unique. */
function projectKey(directory: string): string {
  const name = basename(directory)
    .replace(/[^\w-]+/g, "-")
    .slice(0, 40);
  return `${name}-${hashOf("sha256", `${directory}\0${process.versions.zlib}`, "hex").slice(0, 16)}`;
}
