import { readFileSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";

/**
 * The region of a credentials profile in `~/.aws/config` (`[profile x]`) or `~/.aws/credentials` (`[x]`), the files of the
 * AWS CLI. Undefined if there is no such profile, or it has no region.
 */
export function profileRegion(profile: string, env: Readonly<Record<string, string | undefined>>): string | undefined {
  const { config, credentials } = readSharedFiles(env);
  const inConfig = config.get(`profile ${profile}`) ?? (profile === "default" ? config.get("default") : undefined);
  return inConfig?.get("region") ?? credentials.get(profile)?.get("region");
}

/** The names of all profiles in these two files. */
export function profileNames(env: Readonly<Record<string, string | undefined>>): ReadonlySet<string> {
  const { config, credentials } = readSharedFiles(env);
  const inConfig = [...config.keys()]
    .filter((section) => section === "default" || section.startsWith("profile "))
    .map((section) => section.replace(/^profile /, ""));
  return new Set([...credentials.keys(), ...inConfig]);
}

function readSharedFiles(env: Readonly<Record<string, string | undefined>>) {
  const folder = join(env.HOME ?? homedir(), ".aws");
  return {
    config: readSections(env.AWS_CONFIG_FILE ?? join(folder, "config")),
    credentials: readSections(env.AWS_SHARED_CREDENTIALS_FILE ?? join(folder, "credentials")),
  };
}

/** Parses an INI file: sections of `key = value` lines; `#` and `;` start comments. An absent file is empty. */
function readSections(path: string): Map<string, Map<string, string>> {
  const sections = new Map<string, Map<string, string>>();
  let section: Map<string, string> | undefined;
  for (const line of readOrEmpty(path).split(/\r?\n/)) {
    const name = /^\s*\[\s*([^\]]*?)\s*\]/.exec(line)?.[1]?.replace(/\s+/g, " ");
    if (name !== undefined) {
      section = sections.get(name) ?? new Map();
      sections.set(name, section);
      continue;
    }
    // An indented line belongs to a nested setting, such as the region of a sub-service.
    const [, key, value] = /^([\w-]+)\s*=\s*(.*?)\s*(?:\s[#;].*)?$/.exec(line) ?? [];
    if (key !== undefined && value !== undefined) section?.set(key.toLowerCase(), value);
  }
  return sections;
}

function readOrEmpty(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === undefined) throw error;
    return "";
  }
}
