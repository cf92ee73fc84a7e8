import { createHash } from "node:crypto";

/**
 * The contents of a version of the function, stored in the description of the aliases that name it. The record of a
 * stage changes in the same call that activates another version, so the two never disagree: one call shows whether
 * there is anything to deploy, and what an interrupted deploy has not done is missing from the record.
 */
export interface DeployRecord {
  /** The version that the alias named when this was written. If it names another one, the record is ignored. */
  readonly version: string;
  /** SHA-256 of the archive, base64. */
  readonly code: string;
  /** Hash of the configuration; `settingsHash`. */
  readonly settings: string;
  /** Hash of the role's policy as this deploy left it; empty if the role is the user's own. */
  readonly policy: string;
  /** Hash of the tags of tool.json; absent if there are none. */
  readonly tags?: string;
  /** On a stage's alias: the previous version, absent after a first deploy. */
  readonly previous?: string;
  /** The identity of that version, so that a rollback reads no other alias; absent if its record was not known. */
  readonly before?: string;
  /** After such a rollback: the identity of the version, instead of its code, settings and policy, which are empty then. */
  readonly identity?: string;
  /** On a stage's alias: the id of the REST API, absent until the API has the stage. */
  readonly api?: string;
  /** On a stage's alias: the hash of everything in tool.json that the stack was made from at that deploy. */
  readonly stack?: string;
  /** On a commit's alias: its full SHA and its author. */
  readonly sha?: string;
  readonly author?: string;
}

/** Lambda's limit for a description. Only the author's name can be long; hashes and ids are short. */
const MAX_LENGTH = 256;

/** Keys of one letter, as 256 characters have to be enough. */
const KEYS = {
  version: "v",
  code: "c",
  settings: "s",
  policy: "p",
  previous: "b",
  before: "o",
  identity: "i",
  api: "a",
  stack: "t",
  tags: "g",
  sha: "h",
  author: "n",
};

/** A hash of code, settings and policy; undefined if they are not known. */
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

/** The record without the fields that only the alias of a stage has. */
export function ofVersion(record: DeployRecord): DeployRecord {
  const { api: _, previous: __, before: ___, stack: ____, tags: _____, ...own } = record;
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

/** The record in the description of an alias that names `version`; undefined if it is not ours, or stale. */
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
