import { homedir } from "node:os";
import { join } from "node:path";
import { type Profiles, profilesIn } from "../schema/profiles.ts";
import { readProjectText } from "./node-project-file.ts";

type Env = Readonly<Record<string, string | undefined>>;

/** The paths of the files of the AWS CLI, which its SDK reads as well. */
export function profileFiles(env: Env): { readonly config: string; readonly credentials: string } {
  const folder = join(env.HOME ?? homedir(), ".aws");
  return {
    config: env.AWS_CONFIG_FILE ?? join(folder, "config"),
    credentials: env.AWS_SHARED_CREDENTIALS_FILE ?? join(folder, "credentials"),
  };
}

/**
 * The credentials profiles of this machine, from the files of the AWS CLI; none if there are no such files. The command reads
 * them here, too, so that both know the same profiles.
 */
export function machineProfiles(env: Env): Profiles {
  const { config, credentials } = profileFiles(env);
  return profilesIn({ config: readOrEmpty(config), credentials: readOrEmpty(credentials) });
}

function readOrEmpty(path: string): string {
  try {
    return readProjectText(path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === undefined) throw error;
    return "";
  }
}
