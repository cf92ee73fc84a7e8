import { devNull } from "node:os";
import {
  MAX_PROFILE_BYTES,
  machineProfiles,
  profileFiles,
  readProfileText,
  TOO_LARGE,
} from "../../language-server/node-profiles.ts";
import { NOT_A_FILE } from "../../language-server/node-project-file.ts";
import { NOT_TEXT } from "../../schema/profiles.ts";

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

/** One of these files that is there and cannot be read. */
export interface UnreadableProfiles {
  readonly path: string;
  /** To be read after "cannot read PATH:". */
  readonly reason: string;
  /** For the person, after the reason. */
  readonly remedy: string;
  /** The SDK would never end to read it: it is a pipe, a device or far too large. It takes others for empty files. */
  readonly isEndless: boolean;
}

/** The first of these two files that is there and cannot be read. */
export function unreadableProfiles(env: Readonly<Record<string, string | undefined>>): UnreadableProfiles | undefined {
  for (const path of Object.values(profileFiles(env))) {
    const { code, message } = readError(path) ?? {};
    // An empty device is a usual way to have no profiles.
    if (code === undefined || code === "ENOENT" || code === "ENOTDIR" || path === devNull) continue;
    return {
      path,
      reason: code === TOO_LARGE ? `it is larger than ${MAX_PROFILE_BYTES / 2 ** 20} MiB` : (REASONS[code] ?? message!),
      remedy: REMEDIES[code] ?? "move it away, or name another in AWS_CONFIG_FILE or AWS_SHARED_CREDENTIALS_FILE",
      // A pipe would be opened in a thread that waits for ever, which a signal does not end either.
      isEndless: code === NOT_A_FILE || code === TOO_LARGE,
    };
  }
  return undefined;
}

const REASONS: Readonly<Record<string, string>> = {
  [NOT_TEXT]: "it is neither UTF-8 nor UTF-16 with a byte order mark",
  EISDIR: "it is a folder",
  ELOOP: "its symbolic links lead in a circle",
  EACCES: "permission denied",
};

const REMEDIES: Readonly<Record<string, string>> = {
  [NOT_TEXT]: "save it as UTF-8",
  EACCES: "make it readable for you: chmod u+r",
};

function readError(path: string): NodeJS.ErrnoException | undefined {
  try {
    readProfileText(path);
    return undefined;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === undefined) throw error;
    return error as NodeJS.ErrnoException;
  }
}
