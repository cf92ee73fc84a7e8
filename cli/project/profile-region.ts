import { machineProfiles } from "../../language-server/node-profiles.ts";

/**
 * The region of a credentials profile in `~/.aws/config` (`[profile x]`) or `~/.aws/credentials` (`[x]`), the files of the
 * AWS CLI. Undefined if there is no such profile, or it has no region.
 */
export function profileRegion(profile: string, env: Readonly<Record<string, string | undefined>>): string | undefined {
  return machineProfiles(env).get(profile);
}

/** The names of all profiles in these two files. */
export function profileNames(env: Readonly<Record<string, string | undefined>>): ReadonlySet<string> {
  return new Set(machineProfiles(env).keys());
}
