import { readFileSync, statSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import { decodeProfiles, type Profiles, profilesIn } from "../schema/profiles.ts";
import { requireProjectFile } from "./node-project-file.ts";

type Env = Readonly<Record<string, string | undefined>>;

/** Ten thousand profiles take 3 MB. What is larger was not made by a person, and each command would parse it. */
export const MAX_PROFILE_BYTES = 16 * 2 ** 20;
/** The code of the error for a larger file, as the system's for files. */
export const TOO_LARGE = "EFBIG";

/** The paths of the files of the AWS CLI, which its SDK reads as well. */
export function profileFiles(env: Env): { readonly config: string; readonly credentials: string } {
  const folder = join(env.HOME ?? homedir(), ".aws");
  return {
    config: env.AWS_CONFIG_FILE || join(folder, "config"),
    credentials: env.AWS_SHARED_CREDENTIALS_FILE || join(folder, "credentials"),
  };
}

/**
 * The credentials profiles of this machine, from the files of the AWS CLI; none if there are no such files, or they cannot be
 * read. The command reads them here, too, so that both know the same profiles.
 */
export function machineProfiles(env: Env): Profiles {
  const { config, credentials } = profileFiles(env);
  return profilesIn({ config: readOrEmpty(config), credentials: readOrEmpty(credentials) });
}

/**
 * The text of one of these files. Throws as `requireProjectFile`, `decodeProfiles` and the system do, and an error with the code
 * TOO_LARGE.
 */
export function readProfileText(path: string): string {
  requireProjectFile(path);
  const { size } = statSync(path);
  if (size > MAX_PROFILE_BYTES) throw Object.assign(new Error("it is too large"), { code: TOO_LARGE, size });
  return decodeProfiles(readFileSync(path));
}

function readOrEmpty(path: string): string {
  try {
    return readProfileText(path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === undefined) throw error;
    return "";
  }
}
