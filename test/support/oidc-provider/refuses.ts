// A sign-in with a provider at fault: how it is refused, within which time, and that the next one succeeds.

import { inspect } from "node:util";
import type { Test } from "tap";
import { type Clock, systemClock } from "../../../grammar/units/clock.ts";
import { type Oidc, type OidcPerson, OidcRefusal, openOidc } from "../../../logservice/account/oidc.ts";
import { TestClock } from "../test-clock.ts";
import { until } from "../until.ts";
import { type FaultRow, NO_ANSWER } from "./faults.ts";
import { CLIENT, type OwnProvider, REDIRECT_URL, type Route } from "./own.ts";

/** Limit of a request to the provider. */
const TIMEOUT_MS = 1000;
/** How long a document that could not be had, or not be used, is not asked for again. */
const FAILURE_MS = 1000;

/** With a clock that the test turns, its steps end after TIMEOUT_MS; else after the time that the service gives them. */
export function openOwn(issuer: string, clock?: Clock): Oidc {
  const settings = { issuer, ...CLIENT, redirectUrl: REDIRECT_URL };
  return clock ? openOidc({ ...settings, timeoutMs: TIMEOUT_MS }, clock) : openOidc(settings, systemClock);
}

export async function signIn(oidc: Oidc, provider: OwnProvider): Promise<OidcPerson> {
  const { url, attempt } = await oidc.begin();
  provider.secrets.push(attempt.verifier, attempt.nonce, attempt.state);
  return oidc.finish(provider.callback(url), attempt);
}

export async function refuses(t: Test, provider: OwnProvider, { fault, kind, says }: FaultRow): Promise<void> {
  const clock = new TestClock();
  const oidc = openOwn(provider.issuer, clock);
  provider.fault = fault;
  provider.secrets.length = 0;
  const asked = () => Object.keys(fault.routes ?? {}).map((path) => provider.requests.get(path as Route) ?? 0);
  const before = String(asked());
  const refusing = signIn(oidc, provider).then(
    (person) => t.fail("signed in", { person }),
    (error: unknown) => error,
  );
  if (says.source === NO_ANSWER.source) {
    await until("the request that is not answered", () => String(asked()) !== before);
    await clock.advance(TIMEOUT_MS);
  }
  const refusal = await refusing;
  const tookMs = clock.monotonicMs();
  if (!(refusal instanceof OidcRefusal)) return void t.fail(`an OidcRefusal, not ${inspect(refusal)}`);
  t.equal(refusal.kind, kind, refusal.message);
  t.match(refusal.message, says);
  t.ok(tookMs <= TIMEOUT_MS, `took ${tookMs} ms`);
  t.notOk(refusal.message.length > 800, "the message is short");
  t.notMatch(refusal.message, /[\p{Cc}\u202e]/u, "and on one line");
  const logged = inspect(refusal, { depth: 20 });
  const leaked = [...provider.secrets, CLIENT.clientSecret, "access-secret"].filter((secret) =>
    logged.includes(secret),
  );
  t.same(leaked, [], "it may be logged", { logged });

  provider.fault = {};
  await clock.advance(FAILURE_MS);
  const person = await signIn(oidc, provider);
  t.equal(person.email, "person@example.com", "signs in afterwards");
}
