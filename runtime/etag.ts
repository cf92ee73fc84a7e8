import { type Header, headerOf, type ProxyRequest, type ProxyResponse } from "./exchange.ts";

/**
 * The body is no longer, byte for byte, what the tag was given to, so that it can only say "the same for people"
 * (RFC 9110, section 8.8.1).
 */
export function weakened(headers: readonly Header[]): Header[] {
  return headers.map(([name, value]) =>
    name.toLowerCase() === "etag" && value.startsWith('"') ? [name, `W/${value}`] : [name, value],
  );
}

/**
 * A 304 names the tag that the client holds. Where that was weakened on its way out, the app's own would be another
 * one, and a cache would have nothing to confirm (RFC 9111, section 4.3.4).
 */
export function withTagOfClient(request: ProxyRequest, response: ProxyResponse): ProxyResponse {
  const tag = headerOf(response, "etag");
  const asked = request.headers["if-none-match"];
  if (response.status !== 304 || tag === undefined || asked === undefined || tag.startsWith("W/")) return response;
  return asked.includes(`W/${tag}`) ? { ...response, headers: weakened(response.headers) } : response;
}

/** The app asks that nobody changes the body on its way (RFC 9111, section 5.2.2.6). */
export function forbidsTransform(response: ProxyResponse): boolean {
  const directives = headerOf(response, "cache-control");
  return directives !== undefined && /(?:^|,)\s*no-transform\s*(?:,|$)/i.test(directives);
}
