import { randomBytes, type ScryptOptions, scrypt, timingSafeEqual } from "node:crypto";

// The service shows nobody a secret, so that a hash of it is kept with a notification there. Members of the team can read it:
// it is slow, as an address may be short enough to be guessed. 2^14 takes some 40 ms and 16 MiB (RFC 7914, 2).
const COST: ScryptOptions = { N: 2 ** 14, r: 8, p: 1 };
const BYTES = 24;

/** A hash by which `isHashOf` recognises the secret; another one each time. */
export async function hashSecret(secret: string): Promise<string> {
  const salt = randomBytes(BYTES);
  return `scrypt:${salt.toString("base64url")}:${(await derive(secret, salt)).toString("base64url")}`;
}

/** Whether a hash is that of a secret. What is no hash of ours is none of any. */
export async function isHashOf(hash: string, secret: string): Promise<boolean> {
  const [kind, salt = "", key = ""] = hash.split(":");
  const expected = Buffer.from(key, "base64url");
  if (kind !== "scrypt" || expected.length !== BYTES) return false;
  return timingSafeEqual(await derive(secret, Buffer.from(salt, "base64url")), expected);
}

function derive(secret: string, salt: Buffer): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    scrypt(secret, salt, BYTES, COST, (error, key) => (error === null ? resolve(key) : reject(error)));
  });
}
