import { createHash } from "node:crypto";
import type { IAM } from "@aws-sdk/client-iam";
import type { Lambda } from "@aws-sdk/client-lambda";
import { TAGS } from "../names.ts";
import { findRole } from "./role.ts";

type Tags = Readonly<Record<string, string>>;

/** Characters of a name's hash: 48 of them fit into the value of a tag. */
const HASH_LENGTH = 5;

/** Undefined if there are none, so that records of before stay true. */
export function tagsHash(tags: Tags = {}): string | undefined {
  const entries = Object.entries(tags).sort(([a], [b]) => (a < b ? -1 : 1));
  return entries.length === 0 ? undefined : sha256(JSON.stringify(entries)).slice(0, 22);
}

/** All tags of the function of an app. One of them tells which names are from tool.json: those alone are ever removed. */
export function functionTags(app: string, tags: Tags = {}): Record<string, string> {
  const names = Object.keys(tags).sort();
  return { [TAGS.app]: app, ...tags, ...(names.length > 0 && { [TAGS.tags]: names.map(nameHash).join("") }) };
}

/** The role's own tags beside those of tool.json; it has no list of names, as it has one tag of the tool more. */
const OF_ROLE: ReadonlySet<string> = new Set([TAGS.app, TAGS.policyHash]);

/**
 * Makes the tags of the function, and of the role that deploying made for it, those of tool.json; what somebody else put
 * there stays.
 */
export async function syncTags(
  lambda: Lambda,
  {
    functionArn,
    wanted,
    role,
  }: { readonly functionArn: string; readonly wanted: Tags; readonly role: RoleOfFunction | undefined },
  signal: AbortSignal,
): Promise<void> {
  const options = { abortSignal: signal };
  const { Tags: found = {} } = await lambda.listTags({ Resource: functionArn }, options);
  const ours = new Set(found[TAGS.tags]?.match(/.{5}/g));
  const isGone = (name: string) => wanted[name] === undefined && ours.has(nameHash(name));
  // The role goes first: the function's list of names, which an interruption in between leaves, is what its tags are known by.
  if (role !== undefined) await syncRole(role, { wanted, isGone }, signal);
  const changed = Object.entries(wanted).filter(([name, value]) => found[name] !== value);
  // Room first: a function has 50 at most. The list of names goes last, for the same reason.
  const names = Object.keys(found).filter((name) => name !== TAGS.tags && isGone(name));
  if (names.length > 0) await lambda.untagResource({ Resource: functionArn, TagKeys: names }, options);
  if (changed.length > 0) {
    await lambda.tagResource({ Resource: functionArn, Tags: Object.fromEntries(changed) }, options);
  }
  if (wanted[TAGS.tags] === undefined && found[TAGS.tags] !== undefined) {
    await lambda.untagResource({ Resource: functionArn, TagKeys: [TAGS.tags] }, options);
  }
}

export interface RoleOfFunction {
  readonly iam: IAM;
  readonly name: string;
}

async function syncRole(
  { iam, name: RoleName }: RoleOfFunction,
  { wanted, isGone }: { readonly wanted: Tags; readonly isGone: (name: string) => boolean },
  signal: AbortSignal,
): Promise<void> {
  const options = { abortSignal: signal };
  const role = await findRole(iam, RoleName, signal);
  const found = new Map(role?.Tags?.map(({ Key, Value }) => [Key!, Value]));
  // Gone, or somebody else's.
  if (found.get(TAGS.app) !== wanted[TAGS.app]) return;
  const names = [...found.keys()].filter((name) => !OF_ROLE.has(name) && isGone(name));
  const changed = Object.entries(wanted).filter(([name, value]) => name !== TAGS.tags && found.get(name) !== value);
  if (names.length > 0) await iam.untagRole({ RoleName, TagKeys: names }, options);
  if (changed.length > 0) {
    await iam.tagRole({ RoleName, Tags: changed.map(([Key, Value]) => ({ Key, Value })) }, options);
  }
}

function nameHash(name: string): string {
  return sha256(name).slice(0, HASH_LENGTH);
}

function sha256(text: string): string {
  return createHash("sha256").update(text).digest("base64url");
}
