// A sign-in with a provider at fault: how it is refused, within which time, and that the next one succeeds.
import { inspect } from "node:util";
import type { Test } from "tap";
import { type Oidc, type OidcPerson, OidcRefusal, openOidc } from "../../../logservice/account/oidc.ts";
import { until } from "../until.ts";
import type { FaultRow } from "./faults.ts";
import { CLIENT, type OwnProvider, REDIRECT_URL } from "./own.ts";

/** A sign-in takes at most twice as long. Long enough for a machine that does much else. */
export const TIMEOUT_MS = 1000;
/** What a busy machine needs on top. */
const SLACK_MS = 2000;

export function openOwn(issuer: string): Oidc {
  return openOidc({ issuer, ...CLIENT, redirectUrl: REDIRECT_URL, timeoutMs: TIMEOUT_MS });
}

export async function signIn(oidc: Oidc, provider: OwnProvider): Promise<OidcPerson> {
  const { url, attempt } = await oidc.begin();
  provider.secrets.push(attempt.verifier, attempt.nonce, attempt.state);
  return oidc.finish(provider.callback(url), attempt);
}

export async function refuses(t: Test, provider: OwnProvider, { fault, kind, says }: FaultRow): Promise<void> {
  const oidc = openOwn(provider.issuer);
  provider.fault = fault;
  provider.secrets.length = 0;
  const beganMs = performance.now();
  const refusal = await signIn(oidc, provider).then(
    (person) => t.fail("signed in", { person }),
    (error: unknown) => error,
  );
  const tookMs = performance.now() - beganMs;
  if (!(refusal instanceof OidcRefusal)) return void t.fail(`an OidcRefusal, not ${inspect(refusal)}`);
  t.equal(refusal.kind, kind, refusal.message);
  t.match(refusal.message, says);
  t.ok(tookMs < 3 * TIMEOUT_MS + SLACK_MS, `took ${tookMs} ms`);
  t.notOk(refusal.message.length > 800, "the message is short");
  t.notMatch(refusal.message, /[\p{Cc}\u202e]/u, "and on one line");
  const logged = inspect(refusal, { depth: 20 });
  const leaked = [...provider.secrets, CLIENT.clientSecret, "access-secret"].filter((secret) =>
    logged.includes(secret),
  );
  t.same(leaked, [], "it may be logged", { logged });

  provider.fault = {};
  // A document that could not be had, or not be used, is not asked for again within a second.
  const person = await until("a sign-in", () => signIn(oidc, provider).catch(() => undefined));
  t.equal(person.email, "person@example.com", "signs in afterwards");
}
