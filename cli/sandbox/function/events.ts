// The events that the gateways make of a request, by their documentation ("Input format of a Lambda function for proxy
// integration", "Create AWS Lambda proxy integrations for HTTP APIs", "Invoking Lambda function URLs").
import { randomUUID } from "node:crypto";

export type GatewayKind = "rest" | "http" | "url";

export interface GatewayRequest {
  readonly method: string;
  /** As sent, with the query. */
  readonly target: string;
  /** Names and values in turn. */
  readonly rawHeaders: readonly string[];
  readonly body: Buffer;
  readonly ip: string;
}

export interface GatewayNames {
  readonly stage: string;
  readonly domainName: string;
  readonly apiId?: string;
  readonly accountId?: string;
  /** The prefix of the path when the API is asked under its own domain: a base path in place of the stage. */
  readonly basePath?: string;
  readonly stageVariables?: Readonly<Record<string, string>>;
}

/** They belong to the connection and do not get through. */
const OF_THE_CONNECTION =
  /^(connection|keep-alive|proxy-authenticate|proxy-authorization|proxy-connection|te|trailer|transfer-encoding|upgrade|expect|x-forwarded-.*)$/i;

export function eventOf(kind: GatewayKind, request: GatewayRequest, names: GatewayNames): object {
  const cut = request.target.indexOf("?");
  const path = cut === -1 ? request.target : request.target.slice(0, cut);
  const query = cut === -1 ? "" : request.target.slice(cut + 1);
  const headers = [...throughGateway(request.rawHeaders), ...forwarded(request)];
  return kind === "rest"
    ? restEvent({ request, path, query, headers }, names)
    : format2Event(kind, { request, path, query, headers }, names);
}

interface Target {
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

function forwarded(request: GatewayRequest): [string, string][] {
  return [
    ["X-Amzn-Trace-Id", "Root=1-5bef4de7-ad49b0e87f6ef6c87fc2e700"],
    ["X-Forwarded-For", request.ip],
    ["X-Forwarded-Port", "443"],
    ["X-Forwarded-Proto", "https"],
  ];
}

/** `path` as sent, parameters decoded, every header and parameter once and as a list. */
function restEvent({ request, path, query, headers }: Target, names: GatewayNames): object {
  // "REST APIs do not support the semicolon in query strings: the data is split there."
  const parameters = query.split(/[&;]/).filter(Boolean).map(parameter);
  const { basePath } = names;
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
      extendedRequestId: "JJbxmplHYosFVYQ=",
      requestTime: "21/Nov/2026:07:08:09 +0000",
      path: `${basePath ?? `/${names.stage}`}${path}`,
      accountId: names.accountId ?? "123456789012",
      protocol: "HTTP/1.1",
      stage: names.stage,
      domainPrefix: names.domainName.split(".")[0],
      requestTimeEpoch: 1_795_244_889_000,
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
function format2Event(kind: "http" | "url", { request, path, query, headers }: Target, names: GatewayNames): object {
  const stage = kind === "url" ? "$default" : names.stage;
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
      requestId: "JKJaXmPLvHcESHA=",
      routeKey: "$default",
      stage,
      time: "21/Nov/2026:07:08:09 +0000",
      timeEpoch: 1_795_244_889_000,
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
    const known = Object.keys(lists).find((own) => own.toLowerCase() === name.toLowerCase()) ?? name;
    lists[known] = [...(lists[known] ?? []), value];
  }
  return lists;
}

function headerOf(pairs: Pairs, name: string): string | undefined {
  return pairs.find(([own]) => own.toLowerCase() === name)?.[1];
}
