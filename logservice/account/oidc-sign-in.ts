import { RpcError } from "../error.ts";
import { readEmailAddress } from "../mail/address.ts";
import { ensureUser, linkIdentity, userOf, userOfIdentity } from "../records/people.ts";
import type { UserRow } from "../records/tables.ts";
import { transact } from "../records/transact.ts";
import type { Oidc, OidcPerson } from "./oidc.ts";
import { type Asker, type BegunSignIn, beginSignIn, type Entrance, noteSignIn } from "./sign-in.ts";
import { mayComeIn } from "./sign-up.ts";

/** Signing in at an OpenID provider. */
export interface OidcSignIn {
  readonly oidc: Oidc;
  /** The name of the provider for people. */
  readonly name: string;
  /** Domains whose addresses the provider gives out itself: what it says of them is believed without a mail. */
  readonly domains: readonly string[];
}

export type OidcEntry =
  | { readonly kind: "entered"; readonly user: UserRow }
  /** A known person whose address has to be confirmed by mail first. */
  | { readonly kind: "to confirm"; readonly begun: BegunSignIn };

/**
 * Lets in whom a provider calls by (issuer, subject): that is the identity. Its address counts once, to link it to a person,
 * if the provider has verified it and the person may come in. A known person confirms the link by mail, unless the provider
 * gives out the addresses of that domain: otherwise whoever gets hold of an address there would be that person here.
 */
export async function enterByOidc(
  entrance: Entrance,
  { domains }: OidcSignIn,
  { issuer, subject, email: claimedEmail, isEmailVerified }: OidcPerson,
  asker: Asker,
): Promise<OidcEntry> {
  const { records, account, nowMs } = entrance;
  const { db } = records;
  const now = new Date(nowMs()).toISOString();
  const entered = async (user: UserRow): Promise<OidcEntry> => {
    await noteSignIn(db, user, { at: now, address: asker.address, target: "oidc" });
    return { kind: "entered", user };
  };
  const linkedUser = await userOfIdentity(db, issuer, subject);
  if (linkedUser !== undefined) {
    if (!(await mayComeIn(db, account.signUp, linkedUser.email_key, now))) throw notInvited(linkedUser.email);
    return entered(linkedUser);
  }
  const email = claimedEmail === undefined ? undefined : readEmailAddress(claimedEmail);
  if (email === undefined) throw new RpcError("forbidden", "the provider gave no email address for you");
  if (!isEmailVerified) throw new RpcError("forbidden", "the provider has not verified your email address");
  if (!(await mayComeIn(db, account.signUp, email.key, now))) throw notInvited(email.address);
  const isOwnDomain = domains.includes(email.key.slice(email.key.lastIndexOf("@") + 1));
  if ((await userOf(db, email.key)) !== undefined && !isOwnDomain) {
    const identity = JSON.stringify({ issuer, subject });
    return { kind: "to confirm", begun: await beginSignIn(entrance, { email: email.address, identity }, asker) };
  }
  const user = await transact(db, async (transaction) => {
    const one = await ensureUser(transaction, { email: email.address, emailKey: email.key }, now);
    await linkIdentity(transaction, one.id, { issuer, subject }, now);
    return one;
  });
  return entered(user);
}

const notInvited = (email: string) =>
  new RpcError("forbidden", `your address ${email} is not invited here: ask an admin of your team`);
