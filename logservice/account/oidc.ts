import {
  allowInsecureRequests,
  authorizationCodeGrant,
  buildAuthorizationUrl,
  type ClientAuth,
  ClientSecretBasic,
  ClientSecretPost,
  Configuration,
  calculatePKCECodeChallenge,
  customFetch,
  enableNonRepudiationChecks,
  fetchUserInfo,
  None,
  randomNonce,
  randomPKCECodeVerifier,
  randomState,
  type ServerMetadata,
} from "openid-client";
import { type Clock, systemClock } from "../../grammar/units/clock.ts";
import { boundedFetch } from "./oidc/bounded-fetch.ts";
import { withDeadline } from "./oidc/deadline.ts";
import { discover } from "./oidc/discover.ts";
import { keeping } from "./oidc/keeping.ts";
import { isComplete, type OidcPerson, personOf } from "./oidc/person.ts";
import { invalidAnswer, refusing, unavailable } from "./oidc/refusal.ts";
import { checkSettings, isHttp, type OidcSettings } from "./oidc/settings.ts";

export type { OidcPerson } from "./oidc/person.ts";
export { OidcRefusal, type OidcRefusalKind } from "./oidc/refusal.ts";
export { type OidcSettings, OidcSettingsError } from "./oidc/settings.ts";

/** The data that the service keeps, bound to the browser, between the two steps. They are for one use. */
export interface OidcAttempt {
  readonly state: string;
  readonly nonce: string;
  /** The secret of PKCE (RFC 7636). */
  readonly verifier: string;
}

/** Sign-in by one OpenID provider. */
export interface Oidc {
  /** As the settings have it. */
  readonly issuer: string;
  /** The provider's page to send the browser to. Throws an OidcRefusal, or the reason of the signal. */
  begin(signal?: AbortSignal): Promise<{ readonly url: string; readonly attempt: OidcAttempt }>;
  /**
   * Exchanges the code of a callback. `callback` is the URL that the browser was sent to; only its query counts. Throws
   * an OidcRefusal, or the reason of the signal. The caller sees to it that an attempt is used once.
   */
  finish(callback: URL, attempt: OidcAttempt, signal?: AbortSignal): Promise<OidcPerson>;
}

const TIMEOUT_MS = 10_000;
/** Providers change their documents rarely, and announce it. Their keys are not part of it. */
const METADATA_MS = 3_600_000;
/** A provider that is away is not asked again by each of many people at once. */
const METADATA_FAILURE_MS = 1000;

/** Throws an OidcSettingsError for bad settings. The provider is first asked when somebody signs in, and may be away. */
export function openOidc(settings: OidcSettings, clock: Clock = systemClock): Oidc {
  checkSettings(settings);
  const { host } = new URL(settings.issuer);
  const { timeoutMs = TIMEOUT_MS } = settings;
  const lifetimes = { valueMs: METADATA_MS, failureMs: METADATA_FAILURE_MS, nowMs: clock.monotonicMs };
  const metadata = keeping(lifetimes, () => discover(settings, { host, timeoutMs, clock }));

  /** The deadline of a step as a whole. */
  const within = (limitMs: number, signal: AbortSignal | undefined) => ({
    timeoutMs: limitMs,
    clock,
    signal,
    late: () => unavailable(host, `did not answer within ${limitMs / 1000} seconds`),
  });
  /**
   * Made anew for each step: its requests end with the step, and it has no keys. So the keys are fetched for each
   * sign-in, and one that the provider has replaced or withdrawn counts at once; openid-client would look for new keys
   * only when it has had the old ones for a minute, and keep withdrawn ones for five.
   */
  const configuration = (server: ServerMetadata, signal: AbortSignal): Configuration => {
    const result = new Configuration(server, settings.clientId, undefined, authentication(settings, server));
    result[customFetch] = boundedFetch({ host, timeoutMs, clock, signal });
    result.timeout = 0; // boundedFetch has its own.
    if (isHttp(settings)) allowInsecureRequests(result);
    // Without it the signature of an ID token that came over TLS is not looked at.
    enableNonRepudiationChecks(result);
    return result;
  };

  return {
    issuer: settings.issuer,

    begin: (signal) =>
      withDeadline(within(timeoutMs, signal), async (signal) => {
        const server = await metadata();
        const attempt = { state: randomState(), nonce: randomNonce(), verifier: randomPKCECodeVerifier() };
        const challenge = await calculatePKCECodeChallenge(attempt.verifier);
        const url = await refusing({ host, secrets: [] }, () =>
          buildAuthorizationUrl(configuration(server, signal), {
            scope: "openid email profile",
            redirect_uri: settings.redirectUrl,
            state: attempt.state,
            nonce: attempt.nonce,
            code_challenge: challenge,
            code_challenge_method: "S256",
          }),
        );
        return { url: url.href, attempt };
      }),

    finish: (callback, attempt, signal) =>
      withDeadline(within(2 * timeoutMs, signal), async (signal) => {
        // Before the provider is asked for anything: anybody can make a browser call this.
        const states = callback.searchParams.getAll("state");
        if (states.length !== 1 || states[0] !== attempt.state)
          throw invalidAnswer(host, "it belongs to another sign-in");
        const server = await metadata();
        const codes = callback.searchParams.getAll("code");
        const { state, nonce, verifier } = attempt;
        const secrets = [state, nonce, verifier, ...codes, settings.clientSecret ?? ""];
        // The address under which the service was called may be that of a proxy: the provider compares with the settings.
        const answered = new URL(settings.redirectUrl);
        answered.search = callback.search;
        return refusing({ host, secrets }, async () => {
          const config = configuration(server, signal);
          const tokens = await authorizationCodeGrant(config, answered, {
            expectedState: attempt.state,
            expectedNonce: attempt.nonce,
            pkceCodeVerifier: attempt.verifier,
            idTokenExpected: true,
          });
          const idToken = tokens.claims();
          if (idToken === undefined) throw invalidAnswer(host, "it has no ID token");
          if (isComplete(idToken) || server.userinfo_endpoint === undefined) return personOf(host, idToken, undefined);
          return personOf(host, idToken, await fetchUserInfo(config, tokens.access_token, idToken.sub));
        });
      }),
  };
}

function authentication(settings: OidcSettings, server: ServerMetadata): ClientAuth {
  if (settings.clientSecret === undefined) return None();
  const listed: unknown = server.token_endpoint_auth_methods_supported;
  const isPostOnly =
    Array.isArray(listed) && listed.includes("client_secret_post") && !listed.includes("client_secret_basic");
  const isPost = settings.clientAuthentication === undefined ? isPostOnly : settings.clientAuthentication === "post";
  return isPost ? ClientSecretPost(settings.clientSecret) : ClientSecretBasic(settings.clientSecret);
}
