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

/** The encoding of such a file by its byte order mark. */
export function encodingOfProfiles(bytes: Uint8Array): "utf-8" | "utf-16le" | "utf-16be" {
  if (bytes[0] === 0xff && bytes[1] === 0xfe) return "utf-16le";
  return bytes[0] === 0xfe && bytes[1] === 0xff ? "utf-16be" : "utf-8";
}

/** The code of the error of `decodeProfiles`. */
export const NOT_TEXT = "ENOTTEXT";

/**
 * The text of such a file: UTF-8, or UTF-16 with a byte order mark, as PowerShell writes it. Throws an error with the code
 * NOT_TEXT for bytes of something else.
 */
export function decodeProfiles(bytes: Uint8Array): string {
  const text = new TextDecoder(encodingOfProfiles(bytes)).decode(bytes);
  // UTF-16 without its mark has a NUL in each ASCII character, and a text has none.
  if (text.includes("\0")) throw Object.assign(new Error("it is not UTF-8"), { code: NOT_TEXT });
  return text;
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
