/** The credentials profiles of the files of the AWS CLI: name to region, undefined where it has none. */
export type Profiles = ReadonlyMap<string, string | undefined>;

/**
 * The profiles in the texts of `~/.aws/config` (`[profile x]`) and `~/.aws/credentials` (`[x]`), in their order. An absent
 * file is an empty text.
 */
export function profilesIn({
  config,
  credentials,
}: {
  readonly config: string;
  readonly credentials: string;
}): Profiles {
  const profiles = new Map<string, string | undefined>();
  const own = sectionsOf(credentials);
  for (const [section, settings] of own) profiles.set(section, settings.get("region"));
  for (const [section, settings] of sectionsOf(config)) {
    if (section !== "default" && !section.startsWith("profile ")) continue;
    const name = section.replace(/^profile /, "");
    profiles.set(name, settings.get("region") ?? profiles.get(name));
  }
  return profiles;
}

/** Parses an INI text: sections of `key = value` lines; `#` and `;` start comments. */
function sectionsOf(text: string): Map<string, Map<string, string>> {
  const sections = new Map<string, Map<string, string>>();
  let section: Map<string, string> | undefined;
  for (const line of text.split(/\r?\n/)) {
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
