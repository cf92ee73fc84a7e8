import { encodeDecodedPath, encodePath, encodeQuery, encodeRawQuery } from "./target.ts";

/**
 * The HTTP request that an event describes. `rest`: a REST API's proxy event (payload format 1.0, also of an HTTP API);
 * `http`: payload format 2.0, of an HTTP API or a function URL, which differ in nothing that matters for the answer.
 */
export interface HttpEvent {
  readonly kind: "http";
  readonly format: "rest" | "http";
  /** A REST API and a function URL can pass an answer on in parts, if they are configured for it; an HTTP API cannot. */
  readonly canStream: boolean;
  readonly method: string;
  /** Percent-encoded, with the base path of a custom domain and without the gateway's stage. */
  readonly path: string;
  /** The stage that the default address has in front of `path`, as `/staging`; empty on a domain or a function URL. */
  readonly stagePrefix: string;
  /** With its question mark; empty if there is none. */
  readonly query: string;
  /** As the gateway gives them; repeated headers one by one if it keeps them apart. */
  readonly headers: readonly (readonly [name: string, value: string])[];
  /** The host in the client's URL. */
  readonly host: string;
  readonly body: Buffer;
  readonly ip: string;
  /** The gateway's id of the request. */
  readonly requestId: string | undefined;
  /** The members of X-Context. */
  readonly context: Readonly<Record<string, unknown>>;
}

/**
 * `warming`: keeps an instance alive, and busy for `holdMs`, so that each of several calls at once gets its own.
 * `check`: a deploy asks whether the app starts. No gateway makes it: an event of theirs has no member `tool`.
 * `unknown`: not a gateway's request; `reason` says what is missing.
 */
export type PlatformEvent =
  | HttpEvent
  | { readonly kind: "warming"; readonly holdMs: number }
  | { readonly kind: "check" }
  | { readonly kind: "unknown"; readonly reason: string };

type Json = Readonly<Record<string, unknown>>;

/**
 * Reads an invocation's event. Never throws: an event may hold anything. The shapes are those of AWS's pages "Input
 * format of a Lambda function for proxy integration" and "Create Lambda proxy integrations for HTTP APIs".
 */
export function readPlatformEvent(event: unknown): PlatformEvent {
  if (!isObject(event)) return { kind: "unknown", reason: `the event is ${nameOf(event)}` };
  if (event.tool === "check" && Object.keys(event).length === 1) return { kind: "check" };
  if (isWarming(event)) return { kind: "warming", holdMs: holdOf(event) };
  const context = isObject(event.requestContext) ? event.requestContext : undefined;
  if (context === undefined) return { kind: "unknown", reason: "the event has no requestContext" };
  // Such an event needs an answer in a form of its own, which is not supported here.
  if (isObject(context.elb)) return { kind: "unknown", reason: "the event is from a load balancer" };
  if (isObject(context.http)) return ofFormat2(event, context, context.http);
  if (typeof event.httpMethod === "string") return ofFormat1(event, context);
  return { kind: "unknown", reason: "the event has neither httpMethod nor requestContext.http" };
}

function nameOf(value: unknown): string {
  if (value === undefined) return "not JSON";
  if (value === null) return "null";
  return Array.isArray(value) ? "a list" : `a ${typeof value}`;
}

/** A second is enough for calls to reach their instances, and little to pay for. */
const MAX_HOLD_MS = 1_000;

function holdOf({ hold_ms: holdMs }: Json): number {
  return typeof holdMs === "number" && holdMs > 0 ? Math.min(holdMs, MAX_HOLD_MS) : 0;
}

/** `{"tool": "warm", "hold_ms": 500}` is what our schedule sends; a bare EventBridge rule sends its own form. */
function isWarming(event: Json): boolean {
  return event.tool === "warm" || (event.source === "aws.events" && event["detail-type"] === "Scheduled Event");
}

function ofFormat1(event: Json, context: Json): HttpEvent {
  const identity = isObject(context.identity) ? context.identity : {};
  const path = text(event.path) ?? "/";
  const headers = pairsOf(event.multiValueHeaders, event.headers);
  // HTTP APIs say "1.0" and give the path decoded; REST APIs say nothing and give it as the client sent it.
  const isDecoded = event.version === "1.0";
  return {
    kind: "http",
    format: "rest",
    canStream: !isDecoded,
    method: text(event.httpMethod) ?? "GET",
    path: isDecoded ? encodeDecodedPath(withoutStage(path, context)) : encodePath(path),
    stagePrefix: stagePrefix(isDecoded ? withoutStage(path, context) : path, text(context.path) ?? path, context),
    query: encodeQuery(pairsOf(event.multiValueQueryStringParameters, event.queryStringParameters)),
    headers,
    host: hostOf(headers, context),
    body: bodyOf(event),
    ip: text(identity.sourceIp) ?? "",
    requestId: text(context.requestId),
    context: contextOf(context, text(context.resourceId), identity),
  };
}

function ofFormat2(event: Json, context: Json, http: Json): HttpEvent {
  const cookies = Array.isArray(event.cookies) ? event.cookies.filter((one) => typeof one === "string") : [];
  const rawPath = text(event.rawPath) ?? text(http.path) ?? "/";
  const path = withoutStage(rawPath, context);
  const headers = pairsOf(undefined, event.headers);
  const identity = { sourceIp: text(http.sourceIp) ?? null, userAgent: text(http.userAgent) ?? null };
  return {
    kind: "http",
    format: "http",
    canStream: isFunctionUrl(context),
    method: text(http.method) ?? "GET",
    path: isFunctionUrl(context) ? encodePath(path) : encodeDecodedPath(path),
    stagePrefix: stagePrefix(path, rawPath, context),
    query: encodeRawQuery(text(event.rawQueryString) ?? ""),
    host: hostOf(headers, context),
    headers: [
      ...headers.filter(([name]) => cookies.length === 0 || name.toLowerCase() !== "cookie"),
      ...(cookies.length > 0 ? ([["cookie", cookies.join("; ")]] as const) : []),
    ],
    body: bodyOf(event),
    ip: text(http.sourceIp) ?? "",
    requestId: text(context.requestId),
    context: contextOf(context, text(event.routeKey) ?? text(context.routeKey), identity),
  };
}

function hostOf(headers: HttpEvent["headers"], context: Json): string {
  return headers.find(([name]) => name.toLowerCase() === "host")?.[1] ?? text(context.domainName) ?? "";
}

function contextOf(context: Json, resourceId: string | undefined, identity: Json): Json {
  return {
    apiId: context.apiId ?? null,
    resourceId: resourceId ?? null,
    requestId: context.requestId ?? null,
    accountId: context.accountId ?? null,
    stage: context.stage ?? null,
    identity,
    authorizer: context.authorizer ?? null,
  };
}

/** A function URL gives the path as the client sent it, an HTTP API decoded. */
function isFunctionUrl(context: Json): boolean {
  return /\.lambda-url\./.test(text(context.domainName) ?? "");
}

/** The part of `whole`, the path of the client's request, before `path`. Only the default address adds something. */
function stagePrefix(path: string, whole: string, context: Json): string {
  if (!isDefaultAddress(context)) return "";
  // The stage's own path may have no slash at its end.
  const full = path === "/" && !whole.endsWith("/") ? `${whole}/` : whole;
  const prefix = path.startsWith("/") && full.endsWith(path) ? full.slice(0, full.length - path.length) : "";
  // The sandbox has the app's name in front of the stage, too.
  return /^(?:\/[\w$-]+)+$/.test(prefix) ? prefix : "";
}

/** The request came to the API's own name, not to a custom domain. */
function isDefaultAddress({ domainName }: Json): boolean {
  return /\.execute-api\./.test(text(domainName) ?? "");
}

/** An HTTP API that is requested by its own name has its stage in front of the path, which is not the app's. */
function withoutStage(path: string, context: Json): string {
  const { stage } = context;
  if (typeof stage !== "string" || stage === "$default" || !isDefaultAddress(context)) return path;
  if (path === `/${stage}`) return "/";
  return path.startsWith(`/${stage}/`) ? path.slice(stage.length + 1) : path;
}

/** Names and values; those of the multi-value form if there is one. */
function pairsOf(multiple: unknown, single: unknown): [name: string, value: string][] {
  const source = isObject(multiple) && Object.keys(multiple).length > 0 ? multiple : isObject(single) ? single : {};
  return Object.entries(source).flatMap(([name, values]) =>
    [values].flat().flatMap((value): [string, string][] => (text(value) === undefined ? [] : [[name, text(value)!]])),
  );
}

/** Invalid characters in base64 are ignored, as everywhere in Node. */
function bodyOf(event: Json): Buffer {
  return Buffer.from(text(event.body) ?? "", event.isBase64Encoded === true ? "base64" : "utf8");
}

function text(value: unknown): string | undefined {
  if (typeof value === "string") return value;
  return typeof value === "number" || typeof value === "boolean" ? String(value) : undefined;
}

function isObject(value: unknown): value is Json {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
