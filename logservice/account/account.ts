import type { MailQueue } from "../mail/queue.ts";
import type { OidcSignIn } from "./oidc-sign-in.ts";
import type { PublicAddress } from "./public-address.ts";
import type { SignInLimits } from "./sign-in-limits.ts";
import type { SignUp } from "./sign-up.ts";

/** The parts that signing in works with, besides the records. */
export interface Account {
  readonly address: PublicAddress;
  readonly signUp: SignUp;
  readonly limits: SignInLimits;
  /** Undefined if the service sends no mails. */
  readonly mails: MailQueue | undefined;
  /** Undefined if there is no OpenID provider. */
  readonly oidc: OidcSignIn | undefined;
}
