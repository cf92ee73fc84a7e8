import { localContext } from "./context.ts";
import type { ProxyRequest } from "./exchange.ts";

/** They belong to one connection (RFC 9110, section 7.6.1); so do the headers that Connection names. */
const HOP_BY_HOP = new Set([
  "connection",
  "keep-alive",
  "proxy-authenticate",
  "proxy-authorization",
  "proxy-connection",
  "te",
  "trailer",
  "transfer-encoding",
  "upgrade",
]);

/** `rawHeaders`, names and values in turn, without those that belong to the connection they came on. */
export function endToEnd(rawHeaders: readonly string[]): [name: string, value: string][] {
  const pairs: [string, string][] = [];
  const named = new Set<string>();
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const name = rawHeaders[i]!;
    const value = rawHeaders[i + 1]!;
    pairs.push([name, value]);
    if (name.toLowerCase() === "connection")
      for (const token of value.split(",")) named.add(token.trim().toLowerCase());
  }
  return pairs.filter(([name]) => !HOP_BY_HOP.has(name.toLowerCase()) && !named.has(name.toLowerCase()));
}

/** Written by the proxy alone; `expect` is answered by it. */
const OWN = new Set([
  "expect",
  "x-context",
  "x-forwarded-for",
  "x-forwarded-host",
  "x-forwarded-port",
  "x-forwarded-proto",
  "x-original-path",
  "x-request-id",
]);

/** The headers that the app gets, by lower-case name; those that came repeatedly as an array. */
export function headersForApp(request: ProxyRequest, stage: string): Record<string, string | string[]> {
  const headers: Record<string, string | string[]> = {};
  for (const [name, value] of endToEnd(request.rawHeaders)) {
    const key = name.toLowerCase();
    if (OWN.has(key)) continue;
    const known = headers[key];
    if (known === undefined) headers[key] = value;
    else if (Array.isArray(known)) known.push(value);
    // Only the first of two hosts or lengths counts; Node's server refuses such requests already.
    else if (key !== "host" && key !== "content-length") headers[key] = [known, value];
  }
  if (request.headers["transfer-encoding"] !== undefined) {
    headers["transfer-encoding"] = "chunked";
    delete headers["content-length"];
  }
  if (request.upgrade !== undefined) {
    headers.connection = "Upgrade";
    headers.upgrade = "websocket";
  }
  Object.assign(headers, forwardedHeaders(request));
  headers["x-request-id"] = request.id;
  headers["x-context"] = request.context ?? localContext(request, stage);
  if (request.path !== request.clientPath) headers["x-original-path"] = request.clientPath;
  return headers;
}

/**
 * A tunnel or a TLS terminator in front of a development server runs on the same machine: what it says about its own
 * client is kept and added to. Nobody else is believed.
 */
function forwardedHeaders(request: ProxyRequest): Record<string, string> {
  const { headers, ip } = request;
  const earlier = (name: string) => (isLoopback(ip) ? oneLine(headers[name]) : undefined);
  const hostHeader = headers.host ?? "";
  const proto = earlier("x-forwarded-proto") ?? (request.secure ? "https" : "http");
  const host = earlier("x-forwarded-host") ?? hostHeader;
  const port = earlier("x-forwarded-port") ?? /:(\d+)$/.exec(hostHeader)?.[1] ?? String(request.port);
  const forwardedFor = [earlier("x-forwarded-for"), ip].filter(Boolean).join(", ");
  return {
    "x-forwarded-for": forwardedFor,
    "x-forwarded-proto": proto,
    ...(host !== "" && { "x-forwarded-host": host }),
    "x-forwarded-port": port,
  };
}

function oneLine(value: string | string[] | undefined): string | undefined {
  const text = Array.isArray(value) ? value.join(", ") : value;
  return text === "" ? undefined : text;
}

function isLoopback(ip: string): boolean {
  return ip === "::1" || ip.startsWith("127.");
}
