import { readFileSync } from "node:fs";
import { profileFiles, readProfileText } from "../../language-server/node-profiles.ts";
import { encodingOfProfiles } from "../../schema/profiles.ts";
import { PlatformError } from "../platform/error.ts";
import type { UnreadableProfiles } from "../project/profile-region.ts";

type Env = Readonly<Record<string, string | undefined>>;

/** The error for a file of profiles that cannot be read. */
export function profilesError({ path, reason, remedy }: UnreadableProfiles, options?: ErrorOptions): PlatformError {
  return new PlatformError("credentials/not-a-file", `cannot read ${path}: ${reason}`, remedy, options);
}

/** Gives the SDK the texts of files in UTF-16, which it would read as UTF-8. To be awaited before it reads any. */
export async function readProfilesInUtf16(env: Env): Promise<void> {
  for (const path of Object.values(profileFiles(env))) {
    const text = textOfUtf16(path);
    if (text === undefined) continue;
    const { externalDataInterceptor } = await import("@smithy/core/config");
    externalDataInterceptor.interceptFile(path, text);
  }
}

/** Undefined if the file is in another encoding, or cannot be read. */
function textOfUtf16(path: string): string | undefined {
  try {
    const text = readProfileText(path);
    return encodingOfProfiles(readFileSync(path)) === "utf-8" ? undefined : text;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === undefined) throw error;
    return undefined;
  }
}
