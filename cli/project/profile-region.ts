import { readFileSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import { profilesIn } from "../../schema/profiles.ts";

/**
 * The region of a credentials profile in `~/.aws/config` (`[profile x]`) or `~/.aws/credentials` (`[x]`), the files of the
 * AWS CLI. Undefined if there is no such profile, or it has no region.
 */
export function profileRegion(profile: string, env: Readonly<Record<string, string | undefined>>): string | undefined {
  return readProfiles(env).get(profile);
}

/** The names of all profiles in these two files. */
export function profileNames(env: Readonly<Record<string, string | undefined>>): ReadonlySet<string> {
  return new Set(readProfiles(env).keys());
}

function readProfiles(env: Readonly<Record<string, string | undefined>>) {
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
