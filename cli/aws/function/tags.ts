import { createHash } from "node:crypto";
import type { IAM } from "@aws-sdk/client-iam";
import type { Lambda } from "@aws-sdk/client-lambda";
import { TAGS } from "../names.ts";
import { findRole } from "./role.ts";

type Tags = Readonly<Record<string, string>>;

/** Length of a name's hash. 48 of them fit into the value of a tag. */
const HASH_LENGTH = 5;

/** Undefined if there are no tags, so that older records stay valid. */
export function tagsHash(tags: Tags = {}): string | undefined {
  const entries = Object.entries(tags).sort(([a], [b]) => (a < b ? -1 : 1));
  return entries.length === 0 ? undefined : sha256(JSON.stringify(entries)).slice(0, 22);
}

/** All tags of an app's function. One of them lists the names that are from tool.json: only those are ever removed. */
export function functionTags(app: string, tags: Tags = {}): Record<string, string> {
  const names = Object.keys(tags).sort();
  return { [TAGS.app]: app, ...tags, ...(names.length > 0 && { [TAGS.tags]: names.map(nameHash).join("") }) };
}

/** The tool's own tags of the role. It has no list of names: the policy's hash takes its place among 50 tags. */
const OF_ROLE: ReadonlySet<string> = new Set([TAGS.app, TAGS.policyHash]);

/**
 * Updates the tags of the function, and of the role that a deploy created for it, to those of tool.json. Tags of others are
 * kept.
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
  const { Tags: current = {} } = await lambda.listTags({ Resource: functionArn }, options);
  const ours = new Set(current[TAGS.tags]?.match(/.{5}/g));
  const isGone = (name: string) => wanted[name] === undefined && ours.has(nameHash(name));
  // The role is first, as its tags are known by the function's list of names, which an interruption in between must leave.
  if (role !== undefined) await syncRole(role, { wanted, isGone }, signal);
  const changed = Object.entries(wanted).filter(([name, value]) => current[name] !== value);
  // Removed first, as a function has at most 50 tags. The list of names is last, in case of an interruption.
  const names = Object.keys(current).filter((name) => name !== TAGS.tags && isGone(name));
  if (names.length > 0) await lambda.untagResource({ Resource: functionArn, TagKeys: names }, options);
  if (changed.length > 0) {
    await lambda.tagResource({ Resource: functionArn, Tags: Object.fromEntries(changed) }, options);
  }
  if (wanted[TAGS.tags] === undefined && current[TAGS.tags] !== undefined) {
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
  const current = new Map(role?.Tags?.map(({ Key, Value }) => [Key!, Value]));
  // The role was deleted, or does not belong to this app.
  if (current.get(TAGS.app) !== wanted[TAGS.app]) return;
  const names = [...current.keys()].filter((name) => !OF_ROLE.has(name) && isGone(name));
  const changed = Object.entries(wanted).filter(([name, value]) => name !== TAGS.tags && current.get(name) !== value);
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
