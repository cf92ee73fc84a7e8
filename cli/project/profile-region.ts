import { devNull } from "node:os";
import { machineProfiles, profileFiles } from "../../language-server/node-profiles.ts";
import { NOT_A_FILE, requireProjectFile } from "../../language-server/node-project-file.ts";

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

/**
 * The path of the first of these two files that is a pipe or a device. The SDK would open it in a thread that waits for ever,
 * which a signal does not end either. An empty device is a usual way to have no profiles.
 */
export function endlessProfileFile(env: Readonly<Record<string, string | undefined>>): string | undefined {
  return Object.values(profileFiles(env)).find((path) => {
    try {
      if (path !== devNull) requireProjectFile(path);
      return false;
    } catch (error) {
      // The SDK takes a file that it cannot open for an empty one.
      return (error as NodeJS.ErrnoException).code === NOT_A_FILE;
    }
  });
}
