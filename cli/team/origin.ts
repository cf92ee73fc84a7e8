import { isLoopback } from "../../grammar/address/loopback.ts";
import { type FailedResult, refused } from "../refused.ts";

type Origin = { readonly ok: true; readonly value: string } | FailedResult;

/**
 * Reads the address of a log service that people sign in to, as an origin: a token is sent to the origin that it came from
 * and to no other. Only a service on this machine may be without TLS, as anybody on the way could read the token.
 */
export function readOrigin(text: string): Origin {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined || !/^https?:$/.test(url.protocol)) {
    return refused(
      `${JSON.stringify(text)} is not an address of a log service`,
      "write https://logs.example.com, or http://127.0.0.1:5000 for one on this machine",
    );
  }
  if (url.pathname !== "/" || url.search + url.hash + url.username + url.password !== "") {
    // The rest is not quoted: it may be a password.
    return refused(`the address has more than ${url.origin}`, `write ${url.origin}`);
  }
  if (url.protocol === "http:" && !isLoopback(url.hostname)) {
    return refused(
      `plain HTTP would show the token to everybody between here and ${url.host}`,
      `write https://${url.host}`,
    );
  }
  return { ok: true, value: url.origin };
}
