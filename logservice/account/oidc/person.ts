import { shortLine } from "./quoted-text.ts";
import { invalidAnswer } from "./refusal.ts";

/** Who signed in, by the word of the provider. (issuer, subject) is the identity; all else may change. */
export interface OidcPerson {
  /** As the provider writes it in its tokens; the settings may differ by the slash at the end. */
  readonly issuer: string;
  readonly subject: string;
  readonly email: string | undefined;
  /** The provider says that the address belongs to the person. */
  readonly isEmailVerified: boolean;
  /** At most 200 characters, on one line. */
  readonly name: string | undefined;
}

/** The claims of an ID token, or of the userinfo endpoint. */
export type Claims = Readonly<Record<string, unknown>>;

/** OpenID Connect Core, section 2: `sub` has at most 255 ASCII characters. */
const SUBJECT = /^[\x20-\x7e]{1,255}$/;
/** RFC 5321, section 4.5.3.1.3: a path has 256 octets with its brackets. */
const MAX_EMAIL_BYTES = 254;
/** One address, with nothing that could begin another header or another recipient. */
const EMAIL = /^[^\s\p{C}@,;:<>()[\]\\"]+@[^\s\p{C}@,;:<>()[\]\\"]+$/u;

/** Whether the ID token says all that userinfo would be asked for. */
export function isComplete(idToken: Claims): boolean {
  return emailIn(idToken) !== undefined && idToken.email_verified !== undefined;
}

/**
 * Makes a person of verified claims. The address and whether it is verified come from the same source: one of them
 * without the other could be about another address.
 */
export function personOf(host: string, idToken: Claims, userinfo: Claims | undefined): OidcPerson {
  const { iss, sub } = idToken;
  if (typeof iss !== "string" || typeof sub !== "string" || !SUBJECT.test(sub)) {
    throw invalidAnswer(host, "it names nobody, or by an id that no provider may use");
  }
  const source = userinfo !== undefined && emailIn(userinfo) !== undefined ? userinfo : idToken;
  const email = emailIn(source);
  return {
    issuer: iss,
    subject: sub,
    email,
    // Some providers write "true": as a text it may come from a form that the person has filled in.
    isEmailVerified: email !== undefined && source.email_verified === true,
    name: nameIn(idToken) ?? nameIn(userinfo ?? {}),
  };
}

function emailIn({ email }: Claims): string | undefined {
  if (typeof email !== "string" || Buffer.byteLength(email) > MAX_EMAIL_BYTES) return undefined;
  return EMAIL.test(email) ? email : undefined;
}

function nameIn({ name }: Claims): string | undefined {
  return typeof name === "string" ? shortLine(name) || undefined : undefined;
}
