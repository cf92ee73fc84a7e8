import { randomBytes } from "node:crypto";
import { renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { humanBytes } from "../../grammar/units/bytes.ts";
import { visible } from "../../grammar/visible-text.ts";
import { forStage } from "../../schema/index.ts";
import { type Artifact, BUILD_HOOKS, buildArtifact } from "../artifact/artifact.ts";
import { bySize, sizesOf } from "../artifact/limits.ts";
import { readConfigFile } from "../config-file.ts";
import { type Context, EXIT } from "../context.ts";
import { commandsForHook, stagesOf } from "../hooks/hooks.ts";
import { buildProgress, failByBuild } from "../output/build-progress.ts";
import { sizesByFolder } from "../output/sizes-by-folder.ts";
import { resolveProject } from "../project/resolve-config.ts";
import { explainStageOf } from "../project/stage-word.ts";
import { stageVariables } from "../stage-variables.ts";
import type { Options } from "../table.ts";

const ARCHIVE = "out.zip";

/** `tool build`: writes what a deploy would upload to ./out.zip, or to a redirected stdout; or prints the sizes in it. */
export async function build(context: Context, { stage, size, ...flags }: Options<"build">): Promise<number> {
  const { config } = await readConfigFile(context, { sizes: true, appliesPro: true, isForCloud: true });
  const misuse = explainStageOf(stage, stagesOf(config));
  if (misuse !== undefined) return context.misuse(misuse.message, misuse.hint);
  const { config: resolved, inference } = resolveProject(context, config, { development: false, stage });
  const runsAny = BUILD_HOOKS.some((hook) => commandsForHook(hook, forStage(config, stage), inference).length > 0);
  const variables = runsAny ? await stageVariables(context, { config, resolved, stage, flags }) : {};
  const progress = buildProgress(context);
  const result = await buildArtifact({ context, config, inference, stage, variables, report: progress.report });
  progress.end();
  if (!result.ok) {
    if (result.isInterrupted) return EXIT.interrupted;
    return failByBuild(context, result.problems);
  }
  const { artifact } = result;
  if (context.verbose)
    for (const { path, reason } of artifact.leftOut)
      await context.say(`left out: ${visible(path)} (${visible(reason)})`);
  if (size !== false) await printSizes(context, artifact, { stage, isByFolder: size === "folders" });
  else if (!context.io.stdout.isTerminal && context.format === undefined) await context.io.stdout.write(artifact.zip);
  else {
    const path = join(context.directory, ARCHIVE);
    writeWhole(path, artifact.zip);
    if (context.format === "json") await context.print(JSON.stringify({ path, ...describe(artifact, stage) }, null, 2));
    else await context.say(`${ARCHIVE} written`);
  }
  return EXIT.ok;
}

interface SizesShown {
  readonly stage: string;
  readonly isByFolder: boolean;
}

async function printSizes(context: Context, artifact: Artifact, { stage, isByFolder }: SizesShown): Promise<void> {
  const files = artifact.files;
  if (context.format === "json") {
    await context.print(
      JSON.stringify({ ...describe(artifact, stage), files: bySize(files), leftOut: artifact.leftOut }, null, 2),
    );
    return;
  }
  const lines = isByFolder ? sizesByFolder(files, { isWhole: context.verbose }) : sizesOf(files);
  await context.print(lines.join("\n"));
  const { unpackedBytes, bytes } = artifact;
  await context.say(`${files.length} files, ${humanBytes(unpackedBytes)}, ${humanBytes(bytes)} as a zip`);
}

function describe({ sha256Base64, bytes, unpackedBytes, files, runtime }: Artifact, stage: string) {
  return { stage, runtime, sha256: sha256Base64, bytes, unpackedBytes, files: files.length };
}

/** Replaces the archive whole: a reader sees the old one or the new one, never a part. */
function writeWhole(path: string, bytes: Uint8Array): void {
  const temporary = `${path}.${randomBytes(4).toString("hex")}`;
  try {
    writeFileSync(temporary, bytes);
    renameSync(temporary, path);
  } catch (error) {
    rmSync(temporary, { force: true });
    throw new Error(`cannot write ${path}`, { cause: error });
  }
}
