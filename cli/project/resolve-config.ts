import { accessSync, constants } from "node:fs";
import { delimiter, join } from "node:path";
import {
  type Config,
  forStage,
  type Inference,
  inferRuntime,
  type ResolvedConfig,
  withDefaults,
} from "../../schema/index.ts";
import type { Context } from "../context.ts";
import { diskDirectory } from "./directory.ts";
import { profileRegion } from "./profile-region.ts";

export interface ResolvedProject {
  /** With all defaults; overrides of stages are not applied. */
  readonly config: ResolvedConfig;
  /** For the stage that was asked for, whose overrides count. */
  readonly inference: Inference;
}

/**
 * Fills in every default: those of the schema, the region from the environment or the profile, and what is inferred from
 * marker files. A command resolves its project once and passes the result on.
 */
export function resolveProject(
  context: Context,
  written: Config,
  { development, stage }: { readonly development: boolean; readonly stage?: string },
): ResolvedProject {
  const { env } = context.io;
  const directory = diskDirectory(context.directory);
  const infer = (config: Config) =>
    inferRuntime(directory, config, { development, hasCommand: (name) => isOnPath(name, env.PATH ?? "") });
  const inference = infer(written);
  const profile = written.profile ?? env.CLOUD_PROFILE;
  const region = profile === undefined ? undefined : profileRegion(profile, env);
  const config = withDefaults(inference.type === undefined ? written : { type: inference.type, ...written }, {
    env,
    ...(region !== undefined && { profileRegion: region }),
    ...(inference.command !== undefined && { command: inference.command }),
  });
  return { config, inference: stage === undefined ? inference : infer(forStage(written, stage)) };
}

function isOnPath(name: string, path: string): boolean {
  return path.split(delimiter).some((folder) => {
    try {
      accessSync(join(folder, name), constants.X_OK);
      return true;
    } catch {
      return false;
    }
  });
}
