// The values that go through the pipeline: a request, and the response that a handler answers it with. Not sockets, so
// that a middleware is a function from one to the other and the platform's events can take the same way.
import type { IncomingHttpHeaders } from "node:http";
import type { Duplex, Readable } from "node:stream";
import type { CancelSignal } from "./cancel-signal.ts";

export interface ProxyRequest {
  readonly id: string;
  readonly method: string;
  /** As the client sent it, without the query. */
  readonly clientPath: string;
  /** The client's path, or what a rewrite made of it. */
  readonly path: string;
  /** With its question mark; empty if there is none. */
  readonly query: string;
  readonly headers: IncomingHttpHeaders;
  /** Names and values in turn, as sent: repeated headers are listed one by one. */
  readonly rawHeaders: readonly string[];
  readonly body: Readable;
  /** The address of the other end of the socket, or the one that the platform's gateway names. */
  readonly ip: string;
  /** The port of the client's URL. */
  readonly port: number;
  readonly secure: boolean;
  /** Aborted if the client goes away before it has the whole answer. */
  readonly signal: CancelSignal;
  /** Tells the client to send its body, for which it waits (`Expect: 100-continue`). */
  readonly continue?: (() => void) | undefined;
  /** Tells the client what it may already fetch (103, RFC 8297), before the response. */
  readonly earlyHints?: ((headers: readonly Header[]) => void) | undefined;
  /** The value of X-Context if a gateway provided one; otherwise it is made from what is known here. */
  readonly context?: string;
  /** Milliseconds since 1970 by which the answer must have begun, whatever `proxy.timeout` says. */
  readonly answerByMs?: number;
  /** A websocket handshake; a handler that switches protocols takes the socket and answers with `Switched`. */
  readonly upgrade?: { readonly socket: Duplex; readonly head: Buffer } | undefined;
  /** Resolves when the response is sent, or can no longer be sent. */
  readonly sent: Promise<Sent>;
  /** Takes the rule that rewrites the path, for the entry of the response: the client may leave before there is one. */
  readonly noteRewrite?: (rule: AnsweringRule) => void;
}

/** The result of sending a response. */
export interface Sent {
  readonly status: number;
  /** Length of the body. */
  readonly bytes: number;
  /** The level of its entry, if it is not that of the status. */
  readonly level?: string | undefined;
  /** Why the body broke off, if the client did not leave. */
  readonly reason?: string | undefined;
}

export type Header = readonly [name: string, value: string];

export interface ProxyResponse {
  readonly status: number;
  /** The reason phrase, if it is not the usual one. */
  readonly statusText?: string | undefined;
  readonly headers: readonly Header[];
  /**
   * Text is sent in UTF-8. The holder of the response owns its stream: read it or `discard` it. Whoever makes a stream
   * listens for its error, since it may break off while its holder waits for something else.
   */
  readonly body: string | Buffer | Readable | undefined;
  /** Sent after the body; known when the body has ended. */
  readonly trailers?: () => readonly Header[];
  /** Why the proxy itself answers with an error, in words for people: the built-in error page shows them. */
  readonly message?: string;
  /** The level of its entry, if it is not that of the status. */
  readonly level?: string | undefined;
  /** The socket speaks another protocol now; there is nothing to send. */
  readonly switched?: boolean;
  /** The rule of the configuration that answered, for the entry of the response. */
  readonly rule?: AnsweringRule | undefined;
}

/**
 * The rule that answered in place of the app, or that sent the request on by another path. A member of the entry, so that
 * `rule.kind = redirect | count by rule.pattern` tells which rules are used.
 */
export interface AnsweringRule {
  readonly kind: "redirect" | "rewrite" | "static" | "error page" | "cors preflight";
  /** The pattern of a redirect or rewrite as it is written; the others have none. */
  readonly pattern?: string;
  /** The redirect led the client back to where it came from: `RedirectTrail`. Absent otherwise. */
  readonly loop?: true;
}

export type Handler = (request: ProxyRequest) => Promise<ProxyResponse>;

/** A request id made by a proxy in front is kept, so that all logs have the same; anything that is not an id is dropped. */
export function keptRequestId(header: string | string[] | undefined): string | undefined {
  return typeof header === "string" && /^[\w.:/+=@-]{1,128}$/.test(header) ? header : undefined;
}

/** The first value of a response header, whatever the case of its name. */
export function headerOf(response: ProxyResponse, name: string): string | undefined {
  for (const [own, value] of response.headers) {
    // Most names differ in length; a lower-case copy of each would be half of what the proxy adds to a request.
    if (own.length === name.length && own.toLowerCase() === name) return value;
  }
  return undefined;
}

export function isStream(body: ProxyResponse["body"]): body is Readable {
  return typeof body === "object" && !Buffer.isBuffer(body);
}

/** True for an answer that does not end by itself. */
export function isEndless(response: ProxyResponse): boolean {
  return /^text\/event-stream\b/i.test(headerOf(response, "content-type") ?? "");
}

/** `headers` without those of the given lower-case names. */
export function withoutHeaders(headers: readonly Header[], names: ReadonlySet<string>): Header[] {
  return headers.filter(([name]) => !names.has(name.toLowerCase()));
}

/** `headers` with `field` among the values of Vary. */
export function varyBy(headers: readonly Header[], field: string): Header[] {
  const own = headers.filter(([name]) => name.length === 4 && name.toLowerCase() === "vary").map(([, value]) => value);
  if (own.length === 0) return [...headers, ["Vary", field]];
  const fields = own.flatMap((value) => value.split(",").map((part) => part.trim()));
  if (fields.some((part) => part === "*" || part.toLowerCase() === field.toLowerCase())) return [...headers];
  return [...withoutHeaders(headers, new Set(["vary"])), ["Vary", [...fields, field].filter(Boolean).join(", ")]];
}

/** Reading more of an unwanted body costs more than a new connection. */
const MAX_DISCARDED_BYTES = 256 * 1024;

/** Reads a body to its end and drops it, so that its connection can be used again. */
export function discard(body: ProxyResponse["body"]): void {
  if (!isStream(body)) return;
  let bytes = 0;
  body.on("error", () => {});
  body.on("data", (chunk: Buffer) => {
    bytes += chunk.length;
    if (bytes > MAX_DISCARDED_BYTES) body.destroy();
  });
  body.resume();
}
