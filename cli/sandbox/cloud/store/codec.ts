// Values as text: JSON, with an object of one `$` key for what JSON has not.
import { StoredBytes } from "../stored-bytes.ts";

export interface Encoded {
  readonly text: string;
  /** The bytes that the text names and does not carry. */
  readonly bytes: readonly StoredBytes[];
}

/** Up to so many bytes are in the text. */
const MAX_INLINE_BYTES = 4096;

export function encode(value: unknown): Encoded {
  const bytes: StoredBytes[] = [];
  return { text: JSON.stringify(plainOf(value, bytes)), bytes };
}

/** `readBytes` reads what a text names, by its hash. */
export function decode(text: string, readBytes: (sha256: string) => Buffer): unknown {
  return readPlain(JSON.parse(text), readBytes);
}

/** The value itself if it has nothing but what JSON has. */
function plainOf(value: unknown, bytes: StoredBytes[]): unknown {
  if (typeof value !== "object" || value === null) return value;
  const plain = (one: unknown) => plainOf(one, bytes);
  if (Array.isArray(value)) {
    const items = value.map(plain);
    return items.some((one, i) => one !== value[i]) ? items : value;
  }
  if (value instanceof Date) return { $date: value.getTime() };
  if (value instanceof Map) return { $map: Array.from(value, ([key, one]) => [plain(key), plain(one)]) };
  if (value instanceof Set) return { $set: Array.from(value, plain) };
  if (value instanceof Uint8Array) return { $bytes: Buffer.from(value).toString("base64") };
  if (value instanceof StoredBytes) {
    if (value.length <= MAX_INLINE_BYTES) return { $inline: value.read().toString("base64") };
    bytes.push(value);
    return { $stored: [value.sha256, value.length] };
  }
  if ("toJSON" in value && typeof value.toJSON === "function") return plain(value.toJSON());
  const keys = Object.keys(value);
  const record = value as Readonly<Record<string, unknown>>;
  if (keys.length === 1 && keys[0]!.startsWith("$")) return { $object: [[keys[0], plain(record[keys[0]!])]] };
  let changed: Record<string, unknown> | undefined;
  for (const key of keys) {
    const one = plain(record[key]);
    if (one === record[key]) continue;
    changed ??= { ...record };
    changed[key] = one;
  }
  return changed ?? value;
}

/** The value that was parsed, changed in place if it is plain. */
function readPlain(parsed: unknown, readBytes: (sha256: string) => Buffer): unknown {
  if (typeof parsed !== "object" || parsed === null) return parsed;
  const value = (one: unknown) => readPlain(one, readBytes);
  if (Array.isArray(parsed)) {
    for (const [i, one] of parsed.entries()) if (typeof one === "object") parsed[i] = value(one);
    return parsed;
  }
  const record = parsed as Record<string, unknown>;
  const keys = Object.keys(record);
  const [tag = ""] = keys;
  if (keys.length !== 1 || !tag.startsWith("$")) {
    for (const key of keys) if (typeof record[key] === "object") record[key] = value(record[key]);
    return record;
  }
  const inner = record[tag];
  switch (tag) {
    case "$date":
      return new Date(inner as number);
    case "$map":
      return new Map((inner as [unknown, unknown][]).map(([key, one]) => [value(key), value(one)]));
    case "$set":
      return new Set((inner as unknown[]).map(value));
    case "$bytes":
      return Buffer.from(inner as string, "base64");
    case "$inline":
      return StoredBytes.of(Buffer.from(inner as string, "base64"));
    case "$stored": {
      const [sha256, length] = inner as [string, number];
      return new StoredBytes(sha256, length, () => readBytes(sha256));
    }
    case "$object":
      return Object.fromEntries((inner as [string, unknown][]).map(([key, one]) => [key, value(one)]));
    default:
      throw new Error(`a value of the unknown kind ${tag}`);
  }
}
