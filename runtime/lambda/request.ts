import { randomUUID } from "node:crypto";
import type { IncomingHttpHeaders } from "node:http";
import { Readable } from "node:stream";
import { inAscii } from "../context.ts";
import { keptRequestId, type ProxyRequest } from "../exchange.ts";
import type { HttpEvent } from "./event.ts";

/** The facts about an invocation besides its event. */
export interface RequestEnvironment {
  /** Id of the trace that the platform keeps of this invocation. */
  readonly traceId?: string | undefined;
  readonly answerByMs?: number;
  readonly signal: AbortSignal;
  readonly sent: ProxyRequest["sent"];
}

/** The request that the pipeline sees, from an event of a gateway. */
export function requestOfEvent(event: HttpEvent, environment: RequestEnvironment): ProxyRequest {
  const { traceId, answerByMs, signal, sent } = environment;
  const validHeaders = event.headers.filter(([name, value]) => NAME.test(name) && !CONTROLS.test(value));
  const value = (name: string) => validHeaders.find(([own]) => own.toLowerCase() === name)?.[1];
  const headers = validHeaders
    .filter(([name]) => !OF_THE_GATEWAY.has(name.toLowerCase()) && !(traceId && name.toLowerCase() === TRACE))
    .map(([name, text]): [string, string] => [name, inLatin1(text)]);
  // The length of the body as it is here, which may differ from what the client sent.
  if (event.body.length > 0 || value("content-length") !== undefined) {
    headers.push(["Content-Length", String(event.body.length)]);
  }
  if (traceId) headers.push(["X-Amzn-Trace-Id", traceId]);
  const port = Number(value("x-forwarded-port"));
  return {
    id: keptRequestId(value("x-request-id")) ?? keptRequestId(event.requestId) ?? randomUUID(),
    method: event.method,
    clientPath: event.path,
    path: event.path,
    query: event.query,
    headers: byName(headers),
    rawHeaders: headers.flat(),
    body: streamOf(event.body),
    ip: event.ip,
    port: port > 0 ? port : 443,
    secure: value("x-forwarded-proto") !== "http",
    signal,
    sent,
    context: inAscii(event.context),
    ...(answerByMs !== undefined && { answerByMs }),
  };
}

/** Readable.from would go through an iterator, which costs more than the rest of a request's making. */
function streamOf(bytes: Buffer): Readable {
  const stream = new Readable({ read() {} });
  if (bytes.length > 0) stream.push(bytes);
  stream.push(null);
  return stream;
}

const NAME = /^[!#$%&'*+.^_`|~\w-]+$/;
const CONTROLS = /[\x00-\x08\x0a-\x1f\x7f]/;
const TRACE = "x-amzn-trace-id";

/** Headers of the connection between client and gateway, and those that are set again from the event. */
const OF_THE_GATEWAY = new Set([
  "connection",
  "content-length",
  "transfer-encoding",
  "expect",
  "upgrade",
  "x-forwarded-for",
  "x-forwarded-host",
  "x-forwarded-port",
  "x-forwarded-proto",
]);

/** Headers are bytes to node:http; a gateway has read them as UTF-8. */
function inLatin1(value: string): string {
  return /[^\x00-\x7f]/.test(value) ? Buffer.from(value).toString("latin1") : value;
}

/** Node's form: lower-case names, the first value of those that may occur only once, all others joined. */
function byName(pairs: readonly (readonly [name: string, value: string])[]): IncomingHttpHeaders {
  const headers: Record<string, string> = {};
  for (const [name, value] of pairs) {
    const key = name.toLowerCase();
    const existing = headers[key];
    if (existing === undefined) headers[key] = value;
    else if (key === "cookie") headers[key] = `${existing}; ${value}`;
    else if (!SINGLE.has(key)) headers[key] = `${existing}, ${value}`;
  }
  return headers;
}

/** As in the documentation of message.headers, as far as requests have them. */
const SINGLE = new Set([
  "authorization",
  "content-length",
  "content-type",
  "from",
  "host",
  "if-modified-since",
  "if-unmodified-since",
  "max-forwards",
  "proxy-authorization",
  "referer",
  "user-agent",
]);
