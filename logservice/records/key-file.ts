import { randomBytes } from "node:crypto";
import { link, open, rm } from "node:fs/promises";
import { dirname } from "node:path";
import { NotAFile, readDataFile } from "../data-file.ts";
import { RecordsError, unreadableFile } from "./check.ts";
import { SEAL_KEY_BYTES } from "./seal.ts";

export const KEY_FILE = "secrets.key";

/**
 * Reads the key of the secrets. It has a file of its own, readable by its owner only, so that a copy of the records alone
 * reveals nothing. A missing key is replaced by a new one: the service runs without the earlier secrets, and names them when
 * it starts. A key of the wrong length is never overwritten, since part of it may still be of use.
 */
export async function readOrMakeKey(path: string): Promise<Buffer> {
  return (await readKeyFile(path)) ?? (await makeKey(path));
}

/** Reads the key; undefined if there is none. */
export async function readKeyFile(path: string): Promise<Buffer | undefined> {
  let key: Buffer;
  try {
    key = await readDataFile(path);
  } catch (error) {
    if (error instanceof NotAFile) throw new RecordsError(error.message, { hint: PUT_BACK });
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw unreadableFile(path, error);
  }
  if (key.length === SEAL_KEY_BYTES) return key;
  throw new RecordsError(`${path} has ${key.length} bytes instead of ${SEAL_KEY_BYTES}`, {
    hint: PUT_BACK,
  });
}

const PUT_BACK =
  "put it back from a backup, or move it away to continue with a new key, which opens none of the secrets stored so far";

/** The file gets its name only when it is complete and durable: half a key would be refused forever. */
async function makeKey(path: string): Promise<Buffer> {
  const key = randomBytes(SEAL_KEY_BYTES);
  // Processes in containers have equal ids.
  const temporaryPath = `${path}.${randomBytes(6).toString("hex")}.new`;
  try {
    const file = await open(temporaryPath, "w", 0o600);
    try {
      await file.writeFile(key);
      await file.sync();
    } finally {
      await file.close();
    }
    await link(temporaryPath, path);
    const folder = await open(dirname(path), "r");
    await folder.sync().finally(() => folder.close());
    return key;
  } catch (error) {
    // Another process has made it meanwhile.
    if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw unreadableFile(path, error);
    return (await readKeyFile(path))!;
  } finally {
    await rm(temporaryPath, { force: true });
  }
}
