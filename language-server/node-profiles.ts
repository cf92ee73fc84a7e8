import { readFileSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import { type Profiles, profilesIn } from "../schema/profiles.ts";

/**
 * The credentials profiles of this machine, from the files of the AWS CLI; none if there are no such files. The command reads
 * them here, too, so that both know the same profiles.
 */
export function machineProfiles(env: Readonly<Record<string, string | undefined>>): Profiles {
  const folder = join(env.HOME ?? homedir(), ".aws");
  return profilesIn({
    config: readOrEmpty(env.AWS_CONFIG_FILE ?? join(folder, "config")),
    credentials: readOrEmpty(env.AWS_SHARED_CREDENTIALS_FILE ?? join(folder, "credentials")),
  });
}

function readOrEmpty(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === undefined) throw error;
    return "";
  }
}
