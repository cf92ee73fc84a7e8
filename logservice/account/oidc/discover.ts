import { allowInsecureRequests, customFetch, discovery, None, type ServerMetadata } from "openid-client";
import { boundedFetch, type FetchBounds } from "./bounded-fetch.ts";
import { invalidAnswer, refusing, unavailable } from "./refusal.ts";
import { isHttp, isSafeUrl, MAX_TIMEOUT_MS, type OidcSettings } from "./settings.ts";

/** The members of a document that a sign-in needs; userinfo is asked only if there is such an endpoint. */
const NEEDED = ["authorization_endpoint", "token_endpoint", "jwks_uri"] as const;
/** A browser is sent to one of them, with some 500 characters more; common proxies pass a header of 8000. */
const MAX_ENDPOINT_LENGTH = 2000;

/**
 * The document of a provider (OpenID Connect Discovery, section 4), if a sign-in can begin with it: the caller keeps it
 * for long. Throws an OidcRefusal.
 */
export async function discover(settings: OidcSettings, bounds: Omit<FetchBounds, "signal">): Promise<ServerMetadata> {
  const { host } = bounds;
  const issuer = new URL(settings.issuer);
  const another = (cause?: unknown) => unavailable(host, "gives the document of another OpenID provider", cause);
  return refusing({ host, secrets: [] }, async () => {
    const config = await discovery(issuer, settings.clientId, undefined, None(), {
      [customFetch]: boundedFetch({ ...bounds, signal: undefined }),
      execute: isHttp(settings) ? [allowInsecureRequests] : [],
      timeout: MAX_TIMEOUT_MS / 1000, // boundedFetch has its own.
    }).catch((error) => {
      throw error.code === "OAUTH_JSON_ATTRIBUTE_COMPARISON_FAILED" ? another(error) : error;
    });
    const document = config.serverMetadata();
    // openid-client makes exceptions for two providers whose documents serve many issuers.
    if (new URL(document.issuer).href !== issuer.href) throw another();
    const { userinfo_endpoint } = document;
    const optional = userinfo_endpoint === undefined ? [] : (["userinfo_endpoint"] as const);
    const wrong = [...NEEDED, ...optional].find((name) => !isEndpoint(document[name], settings));
    if (wrong !== undefined) throw invalidAnswer(host, `its document has no usable ${wrong}`);
    return document;
  });
}

/** Only a provider on loopback may have endpoints of http, on loopback too. */
function isEndpoint(value: unknown, settings: OidcSettings): boolean {
  if (typeof value !== "string" || value.length > MAX_ENDPOINT_LENGTH || !URL.canParse(value)) return false;
  const url = new URL(value);
  return isHttp(settings) ? isSafeUrl(url) : url.protocol === "https:";
}
