import { createHash } from "node:crypto";
import type { Lambda } from "@aws-sdk/client-lambda";
import { TAGS } from "../names.ts";

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

/** Makes the function's tags those of tool.json; what somebody else put there stays. */
export async function syncTags(lambda: Lambda, functionArn: string, wanted: Tags, signal: AbortSignal): Promise<void> {
  const options = { abortSignal: signal };
  const { Tags: found = {} } = await lambda.listTags({ Resource: functionArn }, options);
  const ours = new Set(found[TAGS.tags]?.match(/.{5}/g));
  const gone = Object.keys(found).filter(
    (name) => wanted[name] === undefined && (name === TAGS.tags || ours.has(nameHash(name))),
  );
  const changed = Object.entries(wanted).filter(([name, value]) => found[name] !== value);
  // Room first: a function has 50 at most. The list of names goes last, as an interruption in between has to know them.
  const names = gone.filter((name) => name !== TAGS.tags);
  if (names.length > 0) await lambda.untagResource({ Resource: functionArn, TagKeys: names }, options);
  if (changed.length > 0) {
    await lambda.tagResource({ Resource: functionArn, Tags: Object.fromEntries(changed) }, options);
  }
  if (gone.includes(TAGS.tags)) await lambda.untagResource({ Resource: functionArn, TagKeys: [TAGS.tags] }, options);
}

function nameHash(name: string): string {
  return sha256(name).slice(0, HASH_LENGTH);
}

function sha256(text: string): string {
  return createHash("sha256").update(text).digest("base64url");
}
