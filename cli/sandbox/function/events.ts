// The events that the gateways make of a request, by their documentation ("Input format of a Lambda function for proxy
// integration", "Create AWS Lambda proxy integrations for HTTP APIs", "Invoking Lambda function URLs").

import { randomBytes, randomUUID } from "node:crypto";
import { systemClock } from "../../../grammar/units/clock.ts";

export type GatewayKind = "rest" | "http" | "url";

export interface GatewayRequest {
  readonly method: string;
  /** As sent, with the query. */
  readonly target: string;
  /** Names and values in turn. */
  readonly rawHeaders: readonly string[];
  readonly body: Buffer;
  readonly ip: string;
  /** When it came; now if it is absent. */
  readonly atMs?: number;
  /** How it came; https at its port if it is absent. */
  readonly scheme?: { readonly proto: string; readonly port: string };
}

export interface GatewayNames {
  readonly stage: string;
  readonly domainName: string;
  readonly apiId?: string;
  readonly accountId?: string;
  /** The prefix of the path when the API is asked under its own domain: a base path in place of the stage. */
  readonly basePath?: string;
  /** The prefix of the path in the address of the API, if it is not the stage. */
  readonly prefix?: string;
  readonly stageVariables?: Readonly<Record<string, string>>;
}

/** They belong to the connection and do not get through. */
const OF_THE_CONNECTION =
  /^(connection|keep-alive|proxy-authenticate|proxy-authorization|proxy-connection|te|trailer|transfer-encoding|upgrade|expect|x-forwarded-.*)$/i;

export function gatewayEventOf(kind: GatewayKind, request: GatewayRequest, names: GatewayNames): object {
  const cut = request.target.indexOf("?");
  const path = cut === -1 ? request.target : request.target.slice(0, cut);
  const query = cut === -1 ? "" : request.target.slice(cut + 1);
  const headers = [...throughGateway(request.rawHeaders), ...forwarded(request)];
  const input: ReadRequest = { request, path, query, headers };
  return kind === "rest" ? restEvent(input, names) : format2Event(kind, input, names);
}

interface ReadRequest {
  readonly request: GatewayRequest;
  readonly path: string;
  readonly query: string;
  readonly headers: Pairs;
}

type Pairs = readonly (readonly [name: string, value: string])[];

function throughGateway(rawHeaders: readonly string[]): [string, string][] {
  const pairs: [string, string][] = [];
  for (let i = 0; i < rawHeaders.length; i += 2) pairs.push([rawHeaders[i]!, utf8(rawHeaders[i + 1]!)]);
  const named = pairs.filter(([name]) => /^connection$/i.test(name)).flatMap(([, value]) => value.split(","));
  const dropped = new Set(named.map((name) => name.trim().toLowerCase()));
  return pairs.filter(([name]) => !OF_THE_CONNECTION.test(name) && !dropped.has(name.toLowerCase()));
}

function forwarded({ ip, atMs = systemClock.nowMs(), scheme }: GatewayRequest): [string, string][] {
  const seconds = Math.floor(atMs / 1000).toString(16);
  return [
    ["X-Amzn-Trace-Id", `Root=1-${seconds}-${randomBytes(12).toString("hex")}`],
    ["X-Forwarded-For", ip],
    ["X-Forwarded-Port", scheme?.port ?? "443"],
    ["X-Forwarded-Proto", scheme?.proto ?? "https"],
  ];
}

const MONTHS = "Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec".split(" ");

/** As in the logs of web servers: "21/Nov/2026:07:08:09 +0000". */
function requestTime(atMs: number): string {
  const [date = "", time = ""] = new Date(atMs).toISOString().split("T");
  const [year, month, day] = date.split("-");
  return `${day}/${MONTHS[Number(month) - 1]}/${year}:${time.slice(0, 8)} +0000`;
}

/** `path` as sent, parameters decoded, every header and parameter once and as a list. */
function restEvent({ request, path, query, headers }: ReadRequest, names: GatewayNames): object {
  // "REST APIs do not support the semicolon in query strings: the data is split there."
  const parameters = query.split(/[&;]/).filter(Boolean).map(parameter);
  const { basePath, prefix = `/${names.stage}` } = names;
  const { atMs = systemClock.nowMs() } = request;
  return {
    resource: path === "/" ? "/" : "/{proxy+}",
    path: `${basePath ?? ""}${path}`,
    httpMethod: request.method,
    headers: lastOf(headers),
    multiValueHeaders: listsOf(headers),
    queryStringParameters: parameters.length === 0 ? null : lastOf(parameters),
    multiValueQueryStringParameters: parameters.length === 0 ? null : listsOf(parameters),
    pathParameters: path === "/" ? null : { proxy: path.slice(1) },
    stageVariables: names.stageVariables ?? null,
    requestContext: {
      resourceId: "2gxmpl",
      resourcePath: path === "/" ? "/" : "/{proxy+}",
      httpMethod: request.method,
      extendedRequestId: randomBytes(11).toString("base64"),
      requestTime: requestTime(atMs),
      path: `${basePath ?? prefix}${path}`,
      accountId: names.accountId ?? "123456789012",
      protocol: "HTTP/1.1",
      stage: names.stage,
      domainPrefix: names.domainName.split(".")[0],
      requestTimeEpoch: atMs,
      requestId: randomUUID(),
      identity: {
        cognitoIdentityPoolId: null,
        accountId: null,
        caller: null,
        sourceIp: request.ip,
        user: null,
        userAgent: headerOf(headers, "user-agent") ?? null,
        userArn: null,
      },
      domainName: names.domainName,
      apiId: names.apiId ?? "70ixmpl4fl",
    },
    ...bodyOf(request.body),
  };
}

/** `rawPath` decoded by an HTTP API and as sent by a function URL, headers in lower case and joined, cookies apart. */
function format2Event(
  kind: "http" | "url",
  { request, path, query, headers }: ReadRequest,
  names: GatewayNames,
): object {
  const stage = kind === "url" ? "$default" : names.stage;
  const { atMs = systemClock.nowMs() } = request;
  const rawPath = kind === "url" ? path : `${stage === "$default" ? "" : `/${stage}`}${decoded(path)}`;
  const cookies = headers.filter(([name]) => name.toLowerCase() === "cookie").flatMap(([, value]) => value.split("; "));
  const joined: Record<string, string> = {};
  for (const [name, value] of headers) {
    const key = name.toLowerCase();
    if (key === "cookie") continue;
    joined[key] = joined[key] === undefined ? value : `${joined[key]},${value}`;
  }
  return {
    version: "2.0",
    routeKey: "$default",
    rawPath,
    rawQueryString: query,
    ...(cookies.length > 0 && { cookies }),
    headers: joined,
    requestContext: {
      accountId: kind === "url" ? "anonymous" : "123456789012",
      apiId: "r3pmxmplak",
      domainName: kind === "url" ? "r3pmxmplak.lambda-url.eu-west-1.on.aws" : names.domainName,
      domainPrefix: "r3pmxmplak",
      http: {
        method: request.method,
        path: rawPath,
        protocol: "HTTP/1.1",
        sourceIp: request.ip,
        userAgent: headerOf(headers, "user-agent") ?? "",
      },
      requestId: randomBytes(11).toString("base64"),
      routeKey: "$default",
      stage,
      time: requestTime(atMs),
      timeEpoch: atMs,
    },
    ...(request.body.length > 0 && { body: bodyOf(request.body).body }),
    isBase64Encoded: request.body.length > 0,
  };
}

/** With the binary media type of all types, as the stack sets it up, every body comes in base64. */
function bodyOf(body: Buffer): { body: string | null; isBase64Encoded: boolean } {
  if (body.length === 0) return { body: null, isBase64Encoded: false };
  return { body: body.toString("base64"), isBase64Encoded: true };
}

function parameter(text: string): [string, string] {
  const equals = text.indexOf("=");
  const name = equals === -1 ? text : text.slice(0, equals);
  const value = equals === -1 ? "" : text.slice(equals + 1);
  return [decoded(name.replaceAll("+", " ")), decoded(value.replaceAll("+", " "))];
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

const utf8 = (latin1: string) => Buffer.from(latin1, "latin1").toString();

function lastOf(pairs: Pairs): Record<string, string> {
  return Object.fromEntries(pairs);
}

function listsOf(pairs: Pairs): Record<string, string[]> {
  const lists: Record<string, string[]> = {};
  for (const [name, value] of pairs) {
    const key = Object.keys(lists).find((own) => own.toLowerCase() === name.toLowerCase()) ?? name;
    lists[key] = [...(lists[key] ?? []), value];
  }
  return lists;
}

function headerOf(pairs: Pairs, name: string): string | undefined {
  return pairs.find(([own]) => own.toLowerCase() === name)?.[1];
}
