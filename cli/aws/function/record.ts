import { createHash } from "node:crypto";

/**
 * What a version of the function is, kept as the description of the aliases that name it. That of a stage changes in the
 * very call that puts another version in force, so that it is never half true: one call tells whether there is anything
 * to deploy, and an interrupted deploy shows by what is missing.
 */
export interface DeployRecord {
  /** The version that the alias named when this was written; a record for another one says nothing. */
  readonly version: string;
  /** SHA-256 of the archive, base64. */
  readonly code: string;
  /** Of the configuration; `settingsHash`. */
  readonly settings: string;
  /** Of the role's policy as this deploy left it; empty where the role is the user's own. */
  readonly policy: string;
  /** Hash of the function's tags of tool.json; absent if there are none. */
  readonly tags?: string;
  /** On a stage's alias: the version before, absent after a first deploy. */
  readonly previous?: string;
  /** And that version's identity, so that a rollback needs no other alias; absent if its record was not known. */
  readonly before?: string;
  /** After such a rollback: the identity of the version, in place of its code, settings and policy, which are empty then. */
  readonly identity?: string;
  /** On a stage's alias: identifier of the REST API, absent until the stage answers behind it. */
  readonly api?: string;
  /** On a stage's alias: the hash of what tool.json asked of the gateway then. */
  readonly asked?: string;
  /** On a commit's alias: its whole SHA, and who made it. */
  readonly sha?: string;
  readonly author?: string;
}

/** Lambda's limit for a description. Hashes are fixed, identifiers short; only a name can be long. */
const MAX_LENGTH = 256;

/** One key of one letter each: 256 characters have to do. */
const KEYS = {
  version: "v",
  code: "c",
  settings: "s",
  policy: "p",
  previous: "b",
  before: "o",
  identity: "i",
  api: "a",
  asked: "t",
  tags: "g",
  sha: "h",
  author: "n",
};

/** One hash of code, settings and policy; undefined if they are not known. */
export function identityOf(
  record: Pick<DeployRecord, "code" | "settings" | "policy" | "identity">,
): string | undefined {
  const { code, settings, policy, identity } = record;
  if (identity !== undefined || settings === "") return identity;
  return createHash("sha256")
    .update(JSON.stringify([code, settings, policy]))
    .digest("base64url")
    .slice(0, 22);
}

/** What only the alias of a stage says is left out of the record of an alias that follows it. */
export function ofVersion(record: DeployRecord): DeployRecord {
  const { api: _, previous: __, before: ___, asked: ____, tags: _____, ...own } = record;
  return own;
}

export function writeRecord(record: DeployRecord): string {
  const text = JSON.stringify(
    Object.fromEntries(
      Object.entries(KEYS).flatMap(([name, key]) => {
        const value = record[name as keyof DeployRecord];
        return value === undefined ? [] : [[key, value]];
      }),
    ),
  );
  if (text.length <= MAX_LENGTH || record.author === undefined) return text;
  const { author, ...others } = record;
  const shorter = [...author].slice(0, -1).join("");
  return writeRecord(shorter === "" ? others : { ...others, author: shorter });
}

/** The record of an alias that names `version`; undefined for a description that is not ours, or stale. */
export function readRecord(description: string | undefined, version: string | undefined): DeployRecord | undefined {
  let read: Record<string, unknown> | null;
  try {
    read = JSON.parse(description ?? "null");
  } catch {
    return undefined;
  }
  const record: Record<string, string> = {};
  for (const [name, key] of Object.entries(KEYS)) {
    const value = read?.[key];
    if (typeof value === "string") record[name] = value;
  }
  const isWhole = ["version", "code", "settings", "policy"].every((name) => record[name] !== undefined);
  return isWhole && record.version === version ? (record as unknown as DeployRecord) : undefined;
}

/** The number of a published version; undefined for `$LATEST`, which an alias may name too. */
export function numbered(version: string | undefined): string | undefined {
  return version !== undefined && /^\d+$/.test(version) ? version : undefined;
}
