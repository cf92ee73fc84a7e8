import { isLoopback } from "../../../grammar/address/loopback.ts";
import { OperatorError } from "../../error.ts";

/** The settings of the provider by the operator of the service. */
export interface OidcSettings {
  /** URL of the provider: https, or http on loopback. */
  readonly issuer: string;
  readonly clientId: string;
  /** Absent for a public client, which proves itself by PKCE alone. */
  readonly clientSecret: string | undefined;
  /**
   * How the secret is sent to the provider. The default is `basic`, which each provider has to know (RFC 6749, section
   * 2.3.1), unless its document lists `client_secret_post` without `client_secret_basic`.
   */
  readonly clientAuthentication?: "basic" | "post";
  /** URL of the service's own page that the provider sends the browser back to. */
  readonly redirectUrl: string;
  /** Limit of each request to the provider; 10 s by default. A sign-in as a whole may take twice as long. */
  readonly timeoutMs?: number;
}

/** The provider is set up wrongly. For the operator of the service. */
export class OidcSettingsError extends OperatorError {}

/** Longer than any provider needs; a person waits in front of the window meanwhile. */
export const MAX_TIMEOUT_MS = 120_000;

/** Throws an OidcSettingsError for settings that can never work, or that would not be safe. */
export function checkSettings(settings: OidcSettings): void {
  const issuer = checkUrl("issuer", settings.issuer);
  // openid-client would take the document there without comparing its issuer.
  if (issuer.pathname.includes("/.well-known/")) {
    throw new OidcSettingsError(`the issuer of the OpenID provider is the URL of its document: ${settings.issuer}`, {
      hint: "give the URL without /.well-known/ and what follows it",
    });
  }
  checkUrl("redirect URL", settings.redirectUrl);
  if (!isPlainText(settings.clientId)) {
    throw new OidcSettingsError("the client id for the OpenID provider is empty or has control characters", {
      hint: "give the id under which the provider knows this service",
    });
  }
  if (settings.clientSecret !== undefined && !isPlainText(settings.clientSecret)) {
    throw new OidcSettingsError("the client secret for the OpenID provider is empty or has control characters", {
      hint: "give the secret without the end of its line, or none for a public client",
    });
  }
  const { timeoutMs } = settings;
  if (timeoutMs !== undefined && !(Number.isInteger(timeoutMs) && timeoutMs >= 1 && timeoutMs <= MAX_TIMEOUT_MS)) {
    throw new OidcSettingsError(`the time limit for the OpenID provider is not possible: ${timeoutMs} ms`, {
      hint: `give a whole number from 1 to ${MAX_TIMEOUT_MS}`,
    });
  }
}

/** Whether secrets may be sent to a URL: over https, or to this machine. */
export function isSafeUrl(url: URL): boolean {
  return url.protocol === "https:" || (url.protocol === "http:" && isLoopback(url.hostname));
}

/** Whether the provider is on loopback, and speaks http. */
export function isHttp({ issuer }: OidcSettings): boolean {
  return new URL(issuer).protocol === "http:";
}

function checkUrl(what: string, text: string): URL {
  const wrong = (hint: string) =>
    new OidcSettingsError(`the ${what} of the OpenID provider cannot be used: ${text}`, { hint });
  if (!URL.canParse(text)) throw wrong("give a whole URL, such as https://login.example.com");
  const url = new URL(text);
  // Not quoted: the password may be in use.
  if (url.username !== "" || url.password !== "") {
    throw new OidcSettingsError(`the ${what} of the OpenID provider has a user or password`, {
      hint: "give the URL without them",
    });
  }
  if (!isSafeUrl(url)) throw wrong("give an https URL; http is for loopback only");
  if (/[?#]/.test(text)) throw wrong("give it without a query and fragment");
  return url;
}

function isPlainText(text: string): boolean {
  return /^\P{Cc}+$/u.test(text);
}
