import { randomUUID } from "node:crypto";
import { createServer, type IncomingMessage, type Server, ServerResponse } from "node:http";
import type { AddressInfo, Socket } from "node:net";
import type { Duplex } from "node:stream";
import { unmapped } from "../grammar/address/ip.ts";
import type { Clock } from "../grammar/units/clock.ts";
import { Cancellation } from "./cancel-signal.ts";
import type { EntryLog } from "./entries.ts";
import {
  discard,
  type Handler,
  type Header,
  isEndless,
  keptRequestId,
  type ProxyRequest,
  type ProxyResponse,
  type Sent,
} from "./exchange.ts";
import { type Malformed, malformation, malformedBy, PARSED_HEAD_BYTES, type ParserError } from "./malformed.ts";
import { proxyError } from "./proxy-error.ts";
import { takeOver } from "./raw-target.ts";
import { splitTarget } from "./request-target.ts";
import { respond } from "./respond.ts";

/** At a stop, requests that run may end; then their connections are cut. */
const DRAIN_MS = 5_000;

/** A client that was refused has this long to read why, and no longer to keep its end of the connection open. */
const LINGER_MS = 1_000;

/** The status that web servers log for a client that went away before the answer began. It is never sent. */
const CLIENT_CLOSED = 499;

export interface HttpServer {
  readonly port: number;
  /** Stops accepting at once; resolves when the last request has ended or was cut. */
  close(): Promise<void>;
}

export interface HttpServerOptions {
  readonly handler: Handler;
  readonly entries: EntryLog;
  readonly clock: Clock;
  /** If false, malformed requests make no entry. */
  readonly logsRequests: () => boolean;
  readonly host: string;
  /** 0: any free one. */
  readonly port: number;
  /** True if there is an app, which may switch protocols. Otherwise Upgrade headers are ignored. */
  readonly switchesProtocols: () => boolean;
}

/** A request that has no whole answer yet. */
interface Exchange {
  readonly req: IncomingMessage;
  readonly res: ServerResponse;
  readonly signal: Cancellation;
  /** The status that was sent instead of the answer, because the request's body was not valid HTTP. */
  refusedWith?: number;
}

/** The edge between node:http and the pipeline. Rejects if the port is not free. */
export async function listen(options: HttpServerOptions): Promise<HttpServer> {
  // A missing Host is refused with an entry, like all else that is malformed.
  const server = createServer({ maxHeaderSize: PARSED_HEAD_BYTES, requireHostHeader: false });
  // Those beyond the limit would silently be missing; their size is limited.
  server.maxHeadersCount = 0;
  /** By connection, in the order in which they came: a client may send several before it reads. */
  const connections = new Map<Duplex, Exchange[]>();
  const endless = new Set<Duplex>();
  /** Nothing that comes after what was no HTTP can be believed. */
  const refused = new WeakSet<Duplex>();
  let closing = false;

  server.on("connection", (socket) => {
    // A connection whose Upgrade was ignored comes in again.
    if (connections.has(socket)) return;
    const exchanges: Exchange[] = [];
    connections.set(socket, exchanges);
    socket.once("close", () => {
      connections.delete(socket);
      for (const { res, signal } of exchanges) {
        if (!res.writableFinished) signal.abort(new Error("the client closed the connection"));
        // node:http tells only the response whose turn it is.
        setImmediate(() => res.closed || res.emit("close"));
      }
    });
  });
  server.on("request", (req, res) => handle(req, res, {}));
  server.on("checkContinue", (req, res) => handle(req, res, { continue: once(() => res.writeContinue()) }));
  server.on("checkExpectation", (req, res) => {
    const exchanges = connections.get(req.socket);
    const exchange = { req, res, signal: new Cancellation() };
    exchanges?.push(exchange);
    res.once("close", () => exchanges?.splice(exchanges.indexOf(exchange), 1));
    res.writeHead(417, { "Content-Length": "0" }).end();
  });
  server.on("upgrade", (req: IncomingMessage, socket: Duplex, head: Buffer) => {
    socket.on("error", () => {});
    inTurn(socket, () => upgrade(req, socket, head));
  });
  server.on("connect", (req: IncomingMessage, socket: Duplex) => {
    socket.on("error", () => {});
    inTurn(socket, () => {
      note({ status: 501, text: "Not Implemented", reason: "CONNECT asks for a tunnel" }, req.socket);
      send(socket, { status: 501, text: "Not Implemented", reason: "" }, options.clock);
    });
  });
  server.on("clientError", (error: ParserError, socket) => {
    if (!readAgain(error, socket as Socket)) void refuse(error, socket);
  });

  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(options.port, options.host, () => {
      server.off("error", reject);
      resolve();
    });
  });
  return { port: (server.address() as AddressInfo).port, close };

  function upgrade(req: IncomingMessage, socket: Duplex, head: Buffer): void {
    if (!options.switchesProtocols() || req.headers.upgrade?.toLowerCase() !== "websocket" || req.method !== "GET") {
      withoutUpgrade(server, req, socket as Socket, head);
      return;
    }
    const res = new ServerResponse(req);
    res.assignSocket(socket as Socket);
    res.shouldKeepAlive = false;
    res.once("finish", () => (socket as Socket).destroySoon());
    void handle(req, res, { upgrade: { socket, head } });
  }

  /** The answers that a client waits for on a connection. */
  function due(socket: Duplex): Promise<void>[] {
    return (connections.get(socket) ?? []).filter(({ res }) => !res.closed).map(({ res }) => closed(res));
  }

  /**
   * Goes on with a request that takes the connection from node:http, after the answers to those before it: until then the
   * connection is theirs, and the client would take this answer for the first of them.
   */
  function inTurn(socket: Duplex, proceed: () => void): void {
    if (refused.has(socket)) return;
    const before = due(socket);
    if (before.length === 0) {
      proceed();
      return;
    }
    void Promise.all(before).then(() => {
      if (!socket.writable) return void socket.destroy();
      // The last of them began the wait for a next request, which is here.
      (socket as Socket).setTimeout(0);
      proceed();
    });
  }

  async function handle(
    req: IncomingMessage,
    res: ServerResponse,
    more: Pick<ProxyRequest, "continue" | "upgrade">,
  ): Promise<void> {
    const { socket } = req;
    if (refused.has(socket)) return;
    const malformed = malformation(req);
    if (malformed !== undefined) {
      refused.add(socket);
      note(malformed, socket);
      answerMalformed(res, malformed);
      return;
    }
    const signal = new Cancellation();
    let settleSent!: (sent: Sent) => void;
    const sent = new Promise<Sent>((resolve) => {
      settleSent = resolve;
    });
    const exchange: Exchange = { req, res, signal };
    const exchanges = connections.get(socket);
    exchanges?.push(exchange);
    const settleUnsent = (status: number) => settleSent({ status: exchange.refusedWith ?? status, bytes: 0 });

    const request = requestOf(req, res, { signal, sent, ...more });
    try {
      const response = await answer(request);
      if (response.switched) {
        endless.add(socket);
        socket.once("close", () => endless.delete(socket));
        res.detachSocket(socket);
        settleSent({ status: response.status, bytes: 0 });
        return;
      }
      if (signal.aborted) {
        discard(response.body);
        settleUnsent(CLIENT_CLOSED);
        return;
      }
      if (closing) res.shouldKeepAlive = false;
      if (isEndless(response)) {
        endless.add(socket);
        res.once("close", () => endless.delete(socket));
      }
      settleSent(await respond(response, res, request.method, signal));
      // The unread rest of a body would keep the connection from its next request.
      req.resume();
    } catch (error) {
      settleUnsent(signal.aborted ? CLIENT_CLOSED : 500);
      res.destroy();
      if (!signal.aborted) throw error;
    } finally {
      // No Set: in V8 a Set that is added to and deleted from keeps what it held from the young collector.
      exchanges?.splice(exchanges.indexOf(exchange), 1);
    }
  }

  /** The outside world fails in ways that no handler expects (a disk that cannot be read): that is a 500. */
  async function answer(request: ProxyRequest): Promise<ProxyResponse> {
    try {
      return await options.handler(request);
    } catch (error) {
      if (request.signal.aborted) throw error;
      const { id, method, clientPath: path } = request;
      const reason = error instanceof Error ? (error.stack ?? error.message) : String(error);
      options.entries.write("error", "request failed inside the proxy", { id, method, path, reason });
      return proxyError(request, 500, "the request failed");
    }
  }

  /** A target with bytes beyond ASCII; false for all other errors. */
  function readAgain(error: ParserError, socket: Socket): boolean {
    const { code, rawPacket, bytesParsed } = error;
    if (code !== "HPE_INVALID_URL" || rawPacket === undefined || bytesParsed === undefined) return false;
    if (refused.has(socket) || !socket.writable) return false;
    const taken = takeOver(socket, { packet: rawPacket, stoppedAt: bytesParsed }, options.clock);
    if (taken === undefined) return false;
    void Promise.all([taken, ...due(socket)]).then(([bytes]) => {
      if (bytes === undefined) return void refuse(error, socket);
      if (!socket.writable) return void socket.destroy();
      socket.unshift(bytes);
      server.emit("connection", socket);
      socket.resume();
    });
    return true;
  }

  /** The bytes are not HTTP. Answers that are due go first: the client would take this one for theirs. */
  async function refuse(error: ParserError, socket: Duplex): Promise<void> {
    // The client went away, or the connection is being cut at a stop.
    if (error.code === "ECONNRESET" || error.code === "EPIPE" || !socket.writable) {
      socket.destroy();
      return;
    }
    if (refused.has(socket)) return;
    refused.add(socket);
    const malformed = malformedBy(error);
    const open = [...(connections.get(socket) ?? [])];
    const broken = open.findLast(({ req }) => !req.complete);
    if (error.code === "HPE_INVALID_EOF_STATE" && broken === undefined) noteHalfSent(socket as Socket);
    else note(malformed, socket as Socket);
    if (broken !== undefined) broken.refusedWith = malformed.status;
    await Promise.all(
      open.filter((exchange) => exchange !== broken && !exchange.res.closed).map(({ res }) => closed(res)),
    );
    // In the middle of an answer there is no place for another.
    if (broken?.res.headersSent || !socket.writable) socket.destroy();
    else send(socket, malformed, options.clock);
  }

  function note({ status, reason }: Malformed, socket: Socket): void {
    if (!options.logsRequests()) return;
    options.entries.write("warn", "malformed request", { status, reason, ip: ipOf(socket) });
  }

  /** Health checks and scanners connect, send part of a request or nothing, and leave: that is not a failure. */
  function noteHalfSent(socket: Socket): void {
    if (!options.logsRequests()) return;
    const reason = "the connection ended in the middle of a request";
    options.entries.write("debug", "incomplete request", { status: CLIENT_CLOSED, reason, ip: ipOf(socket) });
  }

  async function close(): Promise<void> {
    closing = true;
    const closed = new Promise<void>((resolve) => server.close(() => resolve()));
    server.closeIdleConnections();
    // A websocket or an event stream has no end to wait for.
    for (const socket of endless) socket.destroy();
    const cut = options.clock.after(DRAIN_MS, () => {
      for (const socket of connections.keys()) socket.destroy();
    });
    await closed;
    cut.stop();
  }
}

/** Browsers act on Link only. Its value is the app's, and node:http throws if it cannot be sent. */
function hint(res: ServerResponse, headers: readonly Header[]): void {
  const link = headers.filter(([name]) => name.toLowerCase() === "link").map(([, value]) => value);
  if (link.length === 0 || res.headersSent || res.req.httpVersion !== "1.1") return;
  try {
    res.writeEarlyHints({ link });
  } catch {
    // A hint is worth no answer.
  }
}

/** A request that is sent to the app again has already been told to continue. */
function once(action: () => void): () => void {
  let done = false;
  return () => {
    if (!done) action();
    done = true;
  };
}

/** One literal, so that all requests have one shape for the compiler. */
function requestOf(
  req: IncomingMessage,
  res: ServerResponse,
  more: Pick<ProxyRequest, "signal" | "sent" | "continue" | "upgrade">,
): ProxyRequest {
  const { path, query, authority } = splitTarget(req.url!);
  const { socket } = req;
  return {
    id: keptRequestId(req.headers["x-request-id"]) ?? randomUUID(),
    method: req.method ?? "GET",
    clientPath: path,
    path,
    query,
    // A target in absolute form names the host, whatever the Host header says (RFC 9112, section 3.2.2).
    headers: authority === undefined ? req.headers : { ...req.headers, host: authority },
    rawHeaders: authority === undefined ? req.rawHeaders : withHost(req.rawHeaders, authority),
    body: req,
    ip: ipOf(socket),
    port: socket.localPort ?? 0,
    secure: false,
    signal: more.signal,
    sent: more.sent,
    continue: more.continue,
    earlyHints: more.upgrade === undefined ? (headers) => hint(res, headers) : undefined,
    upgrade: more.upgrade,
  };
}

/** An IPv4 client of a server that listens on :: shows up as ::ffff:a.b.c.d. */
function ipOf(socket: Socket): string {
  return unmapped(socket.remoteAddress ?? "");
}

function withHost(rawHeaders: readonly string[], host: string): string[] {
  const headers = ["Host", host];
  for (let i = 0; i < rawHeaders.length; i += 2) {
    if (rawHeaders[i]!.toLowerCase() !== "host") headers.push(rawHeaders[i]!, rawHeaders[i + 1]!);
  }
  return headers;
}

/**
 * The proxy does not speak the protocol that the client asks for (curl --http2 and Java's client ask for h2c), so it
 * treats the request as an ordinary one, as RFC 9110, section 7.8 allows. node:http has stopped parsing at this point: the
 * connection is passed to it again, with the request's head without that header.
 */
function withoutUpgrade(server: Server, req: IncomingMessage, socket: Socket, head: Buffer): void {
  const lines = [`${req.method} ${req.url} HTTP/${req.httpVersion}`];
  for (let i = 0; i < req.rawHeaders.length; i += 2) {
    const name = req.rawHeaders[i]!;
    if (/^(upgrade|http2-settings)$/i.test(name)) continue;
    const value = /^connection$/i.test(name) ? withoutTokens(req.rawHeaders[i + 1]!) : req.rawHeaders[i + 1]!;
    if (value !== "" || !/^connection$/i.test(name)) lines.push(`${name}: ${value}`);
  }
  socket.unshift(Buffer.concat([Buffer.from(`${lines.join("\r\n")}\r\n\r\n`, "latin1"), head]));
  server.emit("connection", socket);
}

function withoutTokens(connection: string): string {
  const tokens = connection.split(",").map((token) => token.trim());
  return tokens.filter((token) => !/^(upgrade|http2-settings)$/i.test(token)).join(", ");
}

function closed(res: ServerResponse): Promise<void> {
  return new Promise((resolve) => res.once("close", resolve));
}

/** Input that could not be read as a request has no path for a rule and no Accept: a plain answer, and the end. */
function answerMalformed(res: ServerResponse, { status, text }: Malformed): void {
  const body = `${status} ${text}\n`;
  const headers = { "Content-Type": "text/plain; charset=utf-8", "Content-Length": body.length, Connection: "close" };
  res.writeHead(status, text, headers).end(body);
}

/** The same if there is no response to write to. */
function send(socket: Duplex, { status, text }: Malformed, clock: Clock): void {
  const body = `${status} ${text}\n`;
  socket.end(
    `HTTP/1.1 ${status} ${text}\r\nContent-Type: text/plain; charset=utf-8\r\n` +
      `Content-Length: ${body.length}\r\nConnection: close\r\n\r\n${body}`,
  );
  // Closed at once, what the client still sends would reset the connection, and the answer might be lost with it.
  socket.resume();
  const cut = clock.after(LINGER_MS, () => socket.destroy());
  socket.once("close", () => cut.stop());
}
