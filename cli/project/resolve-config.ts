import { accessSync, constants } from "node:fs";
import { delimiter, join } from "node:path";
import { type Config, type Inference, inferRuntime, type ResolvedConfig, withDefaults } from "../../schema/index.ts";
import type { Context } from "../context.ts";
import { diskDirectory } from "./directory.ts";
import { profileRegion } from "./profile-region.ts";

export interface ResolvedProject {
  readonly config: ResolvedConfig;
  readonly inference: Inference;
}

/** Fills in every default: those of the schema, the region from the environment or the profile, and what is inferred from marker files. */
export function resolveProject(
  context: Context,
  written: Config,
  options: { readonly development: boolean },
): ResolvedProject {
  const { env } = context.io;
  const inference = inferRuntime(diskDirectory(context.directory), written, {
    development: options.development,
    hasCommand: (name) => isOnPath(name, env.PATH ?? ""),
  });
  const profile = written.profile ?? env.CLOUD_PROFILE;
  const region = profile === undefined ? undefined : profileRegion(profile, env);
  const config = withDefaults(inference.type === undefined ? written : { type: inference.type, ...written }, {
    env,
    ...(region !== undefined && { profileRegion: region }),
    ...(inference.command !== undefined && { command: inference.command }),
  });
  return { config, inference };
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
