import { randomBytes } from "node:crypto";
import type { Seal } from "../records/seal.ts";
import { isEqual } from "./links.ts";

/**
 * The cookie of a browser in which somebody signed in as an address. It lets nobody in: it only has its own budget of mails
 * to that address, which strangers cannot use up. Its name is random, so it says nothing about the person.
 */
export function browserCookie(seal: Seal, emailKey: string): string {
  const name = randomBytes(12).toString("base64url");
  return `${name}.${signature(seal, name, emailKey)}`;
}

/** The name of the browser by its cookie; undefined if it did not sign in as the address. */
export function knownBrowser(seal: Seal, cookie: string | undefined, emailKey: string): string | undefined {
  const [name = "", signed = ""] = (cookie ?? "").split(".");
  return isEqual(signed, signature(seal, name, emailKey)) ? `browser ${name}` : undefined;
}

const signature = (seal: Seal, name: string, emailKey: string) => seal.sign(`${name} ${emailKey}`, "device");
