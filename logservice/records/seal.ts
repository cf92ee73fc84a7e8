import { createCipheriv, createDecipheriv, createHmac, hkdfSync, randomBytes } from "node:crypto";

/** Encrypts the secrets of notifications and signs links, so that the file of the records, or a backup of it, reveals none of them. */
export interface Seal {
  /** `place` names the row and the column: the result cannot be decrypted in another one. An empty text stays empty. */
  close(text: string, place: string): string;
  open(sealed: string, place: string): string;
  /** A text that only the holder of the key can make from `text`, and another one for each purpose: 43 letters. */
  sign(text: string, purpose: string): string;
}

export const SEAL_KEY_BYTES = 32;
/** As recommended for GCM by NIST SP 800-38D. */
const NONCE_BYTES = 12;
const TAG_BYTES = 16;
/** Version of the layout below. */
const VERSION = "v1.";

/** AES-256-GCM: version, then nonce, tag and text in base64. */
export function openSeal(key: Buffer): Seal {
  if (key.length !== SEAL_KEY_BYTES) throw new Error(`the key of the secrets must have ${SEAL_KEY_BYTES} bytes`);
  const signing = Buffer.from(hkdfSync("sha256", key, "", "sign", SEAL_KEY_BYTES));
  return {
    sign: (text, purpose) =>
      createHmac("sha256", signing)
        .update(JSON.stringify([purpose, text]))
        .digest("base64url"),
    close(text, place) {
      if (text === "") return "";
      const nonce = randomBytes(NONCE_BYTES);
      const cipher = createCipheriv("aes-256-gcm", key, nonce).setAAD(Buffer.from(place));
      const body = Buffer.concat([cipher.update(text, "utf8"), cipher.final()]);
      return VERSION + Buffer.concat([nonce, cipher.getAuthTag(), body]).toString("base64");
    },
    open(sealed, place) {
      if (sealed === "") return "";
      if (!sealed.startsWith(VERSION)) throw new Error("a secret of a notification was sealed by a newer version");
      const bytes = Buffer.from(sealed.slice(VERSION.length), "base64");
      const decipher = createDecipheriv("aes-256-gcm", key, bytes.subarray(0, NONCE_BYTES))
        .setAAD(Buffer.from(place))
        .setAuthTag(bytes.subarray(NONCE_BYTES, NONCE_BYTES + TAG_BYTES));
      try {
        return decipher.update(bytes.subarray(NONCE_BYTES + TAG_BYTES), undefined, "utf8") + decipher.final("utf8");
      } catch (error) {
        throw new Error("a secret of a notification does not open with this key", { cause: error });
      }
    },
  };
}
