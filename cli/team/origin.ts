import { isLoopback } from "../../grammar/address/loopback.ts";

type Origin =
  | { readonly ok: true; readonly value: string }
  | { readonly ok: false; readonly message: string; readonly hint: string };

/**
 * Reads the address of a log service that people sign in to, as an origin: a token is sent to the origin that it came from
 * and to no other. Only a service on this machine may be without TLS, as anybody on the way could read the token.
 */
export function readOrigin(text: string): Origin {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined || !/^https?:$/.test(url.protocol)) {
    return {
      ok: false,
      message: `${JSON.stringify(text)} is not an address of a log service`,
      hint: "write https://logs.example.com, or http://127.0.0.1:5000 for one on this machine",
    };
  }
  if (url.pathname !== "/" || url.search + url.hash + url.username + url.password !== "") {
    // The rest is not quoted: it may be a password.
    return { ok: false, message: `the address has more than ${url.origin}`, hint: `write ${url.origin}` };
  }
  if (url.protocol === "http:" && !isLoopback(url.hostname)) {
    return {
      ok: false,
      message: `plain HTTP would show the token to everybody between here and ${url.host}`,
      hint: `write https://${url.host}`,
    };
  }
  return { ok: true, value: url.origin };
}
