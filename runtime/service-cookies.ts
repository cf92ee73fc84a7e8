/**
 * Names of the cookies of the log service (logservice/account/public-address.ts). Browsers send the cookies of a host to all
 * of its ports, so an app on the same machine would get who is signed in there.
 */
const SERVICE_COOKIE =
  /^\s*(?:__Host-tool_(?:session|window|form|oidc|device)|tool_(?:session|window|form|oidc|device)_\d+)\s*=/;

/** The value of a header Cookie without the cookies of the log service; "" if there are no others. */
export function withoutServiceCookies(cookie: string): string {
  if (!cookie.includes("tool_")) return cookie;
  const parts = cookie.split(";");
  const kept = parts.filter((part) => !SERVICE_COOKIE.test(part));
  return kept.length === parts.length ? cookie : kept.join(";").trimStart();
}
