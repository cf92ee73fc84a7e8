import { domainToASCII, domainToUnicode } from "node:url";

export interface EmailAddress {
  /** As it is written and sent to: one address without a name, in NFC, with the domain in lower case and in Unicode. */
  readonly address: string;
  /** The key that addresses are compared by: the whole address in lower case. */
  readonly key: string;
}

/**
 * Reads one email address: undefined if the text is not one. Lists, names, groups, comments and quoted local parts are
 * refused, since the address becomes a header and an SMTP command. Normalized before anything else: the mail is sent to
 * what is compared, so that no other mailbox has the same key (U+212A is a K in both).
 */
export function readEmailAddress(text: string): EmailAddress | undefined {
  if (text.length > MAX_LENGTH * 2) return undefined;
  const [local = "", typedDomain = "", ...rest] = text.trim().normalize("NFC").split("@");
  if (rest.length > 0 || !LOCAL_PART.test(local) || Buffer.byteLength(local) > MAX_LOCAL_BYTES) return undefined;
  const ascii = asciiDomain(typedDomain);
  if (ascii === undefined) return undefined;
  const domain = domainToUnicode(ascii);
  const address = `${local}@${domain}`;
  if (address.length > MAX_LENGTH || local.length + 1 + ascii.length > MAX_LENGTH) return undefined;
  return { address, key: address.toLowerCase().normalize("NFC") };
}

/** The longest address that fits a path of RFC 5321 (section 4.5.3.1.3). */
const MAX_LENGTH = 254;
/** RFC 5321, section 4.5.3.1.1. */
const MAX_LOCAL_BYTES = 64;

/**
 * Atoms with single dots between them (RFC 5322, 3.2.3); beyond ASCII, letters, marks, digits and symbols (RFC 6532).
 * U+FFFD replaces what was no UTF-8: nobody knows which address that was.
 */
const LOCAL_PART =
  /^(?!\.)(?:(?:^|\.)(?:[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]|(?![\u0000-\u007f\ufffd]|\p{Default_Ignorable_Code_Point})[\p{L}\p{M}\p{N}\p{S}])+)+$/u;

/** A domain name in ASCII and lower case: undefined if the text is not one. An IP address is none. */
export function asciiDomain(text: string): string | undefined {
  // Looked at first: domainToASCII drops line breaks, and what a path, a port or a query begins with.
  if (!/^[\p{L}\p{M}\p{N}.\u3002\uff0e\uff61-]+$/u.test(text)) return undefined;
  const ascii = domainToASCII(text);
  const labels = ascii.split(".");
  if (ascii.length > 253 || /^\d+$/.test(labels.at(-1)!)) return undefined;
  return labels.every((label) => /^(?!-)[a-z0-9-]{1,63}(?<!-)$/.test(label)) ? ascii : undefined;
}
