import { AuthorizationResponseError, ResponseBodyError, WWWAuthenticateChallengeError } from "openid-client";
import { plainCause } from "./plain-cause.ts";
import { quotedText } from "./quoted-text.ts";

/**
 * Why somebody did not come in. The message is for people: what is wrong, then what to do. Neither it nor the cause
 * contains a secret, a code or a token, so that both may be logged.
 */
export class OidcRefusal extends Error {
  override readonly name = "OidcRefusal";
  readonly kind: OidcRefusalKind;

  constructor(kind: OidcRefusalKind, message: string, options?: ErrorOptions) {
    super(message, options);
    this.kind = kind;
  }
}

/**
 * `denied`: the person or the provider said no. `unavailable`: the provider cannot be reached, fails, or is not the one
 * of the settings; a later try may succeed. `invalid`: all else, such as an answer that proves nothing.
 */
export type OidcRefusalKind = "denied" | "invalid" | "unavailable";

/** A provider as messages name it, and the texts of one sign-in that must not get into a message. */
export interface Circumstances {
  readonly host: string;
  readonly secrets: readonly string[];
}

/** The errors by which a provider says that it fails, where no status can: RFC 6749, section 4.1.2.1. */
const FAILURES = ["server_error", "temporarily_unavailable"];

/** Runs work of openid-client on a provider's answers; what it throws becomes an OidcRefusal. */
export async function refusing<T>(circumstances: Circumstances, work: () => T | Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw refusalOf(error, circumstances);
  }
}

/** The provider is away, too slow, or fails. */
export function unavailable(host: string, what: string, cause?: unknown): OidcRefusal {
  return new OidcRefusal("unavailable", `${host} ${what}. Try again in a minute, or sign in another way.`, {
    cause: plainCause(cause),
  });
}

/** The answer of the provider, or what came in its name, proves nothing. */
export function invalidAnswer(host: string, what: string, cause?: unknown): OidcRefusal {
  const toDo = "Begin the sign-in again; if it fails again, tell the administrator of this service.";
  return new OidcRefusal("invalid", `An answer of ${host} cannot be accepted: ${what}. ${toDo}`, {
    cause: plainCause(cause),
  });
}

function refusalOf(error: unknown, { host, secrets }: Circumstances): OidcRefusal {
  const refusal = chainOf(error).find((one) => one instanceof OidcRefusal);
  if (refusal !== undefined) return refusal;
  if (error instanceof AuthorizationResponseError) {
    const detail = saidBy(error, secrets);
    if (error.error === "access_denied") {
      const message = `${host} did not let you sign in, or you cancelled: ${detail}. Sign in again, or in another way.`;
      return new OidcRefusal("denied", message, { cause: plainCause(error) });
    }
    if (FAILURES.includes(error.error)) return unavailable(host, `cannot sign anybody in now: ${detail}`, error);
    return invalidAnswer(host, `it is the error ${detail}`, error);
  }
  if (error instanceof ResponseBodyError)
    return invalidAnswer(host, `it is the error ${saidBy(error, secrets)}`, error);
  if (error instanceof WWWAuthenticateChallengeError)
    return invalidAnswer(host, "it refuses this service's request", error);
  // The innermost error of the library is the most exact one; its texts are fixed.
  const reason = chainOf(error).findLast(isOfLibrary)?.message ?? "it is not well-formed";
  return invalidAnswer(host, reason, error);
}

function saidBy(error: AuthorizationResponseError | ResponseBodyError, secrets: readonly string[]): string {
  const description = error.error_description;
  const code = quotedText(error.error, secrets);
  return description === undefined ? code : `${code}, ${quotedText(description, secrets)}`;
}

/** An error and its causes. A library's chain is short; the limit is for one that contains itself. */
function chainOf(error: unknown): Error[] {
  const chain: Error[] = [];
  for (let one = error; one instanceof Error && chain.length < 10; one = one.cause) chain.push(one);
  return chain;
}

function isOfLibrary(error: Error): boolean {
  return "code" in error && typeof error.code === "string" && error.code.startsWith("OAUTH_");
}
