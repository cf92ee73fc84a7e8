import { isLoopback } from "../grammar/address/loopback.ts";
import { localContext } from "./context.ts";
import type { Header, ProxyRequest } from "./exchange.ts";
import { withoutServiceCookies } from "./service-cookies.ts";

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
export function endToEnd(rawHeaders: readonly string[]): Header[] {
  const pairs: Header[] = [];
  const named = new Set<string>();
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const name = rawHeaders[i]!;
    const value = rawHeaders[i + 1]!;
    pairs.push([name, value]);
    if (name.toLowerCase() === "connection") for (const token of tokensOf(value)) named.add(token);
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

const NOT_FOR_THE_APP = new Set([...HOP_BY_HOP, ...OWN]);

const tokensOf = (value: string) => value.split(",").map((token) => token.trim().toLowerCase());

/** The headers that the app gets, as the client wrote them and in its order, then those of the proxy. */
export function headersForApp(request: ProxyRequest, stage: string): Header[] {
  const { rawHeaders } = request;
  const isChunked = request.headers["transfer-encoding"] !== undefined;
  const headers: Header[] = [];
  let hasHost = false;
  let hasLength = false;
  let cookie: number | undefined;
  let named: string[] | undefined;
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const header: Header = [rawHeaders[i]!, rawHeaders[i + 1]!];
    const name = header[0].toLowerCase();
    if (name === "connection") named = [...(named ?? []), ...tokensOf(header[1])];
    if (NOT_FOR_THE_APP.has(name)) continue;
    // CGI and WSGI write both as HTTP_X_CONTEXT, so an app would take it for the proxy's.
    if (name.includes("_") && NOT_FOR_THE_APP.has(name.replaceAll("_", "-"))) continue;
    // Only the first of two hosts or lengths counts; Node's server refuses such requests already.
    if (name === "host") {
      if (hasHost) continue;
      hasHost = true;
    } else if (name === "content-length") {
      if (hasLength || isChunked) continue;
      hasLength = true;
    } else if (name === "cookie") {
      const value = withoutServiceCookies(header[1]);
      if (value === "" && header[1] !== "") continue;
      // RFC 9110, section 5.3: it is no list with commas, and servers read one of them only.
      if (cookie !== undefined) headers[cookie] = [header[0], `${headers[cookie]![1]}; ${value}`];
      else cookie = headers.push([header[0], value]) - 1;
      continue;
    }
    headers.push(header);
  }
  const isNamed = ([name]: Header) => named!.includes(name.toLowerCase());
  if (named?.some((token) => !HOP_BY_HOP.has(token) && token !== "close")) {
    for (let i = headers.length - 1; i >= 0; i--) if (isNamed(headers[i]!)) headers.splice(i, 1);
  }
  // It says what this side can read, which is as much as the client can.
  if (/\btrailers\b/i.test(String(request.headers.te ?? ""))) headers.push(["TE", "trailers"]);
  pushForwarded(headers, request);
  headers.push(["X-Request-Id", request.id], ["X-Context", request.context ?? localContext(request, stage)]);
  if (request.path !== request.clientPath) headers.push(["X-Original-Path", request.clientPath]);
  return headers;
}

/** In the form of node:http: by lower-case name, those that came repeatedly as an array. */
export function headersByName(headers: readonly Header[]): Record<string, string | string[]> {
  // Without a prototype: a header may be named constructor or __proto__.
  const byName: Record<string, string | string[]> = Object.create(null);
  for (const [name, value] of headers) {
    const key = name.toLowerCase();
    const existing = byName[key];
    if (existing === undefined) byName[key] = value;
    else if (Array.isArray(existing)) existing.push(value);
    else byName[key] = [existing, value];
  }
  return byName;
}

/**
 * A tunnel or a TLS terminator in front of a development server runs on the same machine: what it says about its own
 * client is kept and added to. Nobody else is believed.
 */
function pushForwarded(to: Header[], request: ProxyRequest): void {
  const { headers, ip } = request;
  const isBelieved = isLoopback(ip);
  const earlier = (name: string) => (isBelieved ? oneLine(headers[name]) : undefined);
  const hostHeader = headers.host ?? "";
  const host = earlier("x-forwarded-host") ?? hostHeader;
  to.push(
    ["X-Forwarded-For", [earlier("x-forwarded-for"), ip].filter(Boolean).join(", ")],
    ["X-Forwarded-Proto", earlier("x-forwarded-proto") ?? (request.secure ? "https" : "http")],
  );
  if (host !== "") to.push(["X-Forwarded-Host", host]);
  to.push(["X-Forwarded-Port", earlier("x-forwarded-port") ?? /:(\d+)$/.exec(hostHeader)?.[1] ?? String(request.port)]);
}

function oneLine(value: string | string[] | undefined): string | undefined {
  const text = Array.isArray(value) ? value.join(", ") : value;
  return text === "" ? undefined : text;
}
