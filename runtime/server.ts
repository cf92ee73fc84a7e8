import { randomUUID } from "node:crypto";
import { createServer, type IncomingMessage, type Server, ServerResponse } from "node:http";
import type { AddressInfo, Socket } from "node:net";
import type { Duplex } from "node:stream";
import type { EntryLog } from "./entries.ts";
import { discard, type Handler, headerOf, type ProxyRequest, type ProxyResponse } from "./exchange.ts";
import { proxyError } from "./proxy-error.ts";
import { keptRequestId } from "./request-id.ts";
import { respond } from "./respond.ts";

/** At a stop, requests that run may end; then their connections are cut. */
const DRAIN_MS = 5_000;

/** What web servers write for a client that went away before the answer began. It is logged, never sent. */
const CLIENT_CLOSED = 499;

export interface HttpServer {
  readonly port: number;
  /** Stops accepting at once; resolves when the last request has ended or was cut. */
  close(): Promise<void>;
}

export interface HttpServerOptions {
  readonly handler: Handler;
  readonly entries: EntryLog;
  readonly host: string;
  /** 0: any free one. */
  readonly port: number;
  /** There is an app that may switch protocols; without one, a wish to upgrade is ignored. */
  readonly switchesProtocols: boolean;
}

/** The edge between node:http and the pipeline. Rejects where the port cannot be had. */
export async function listen(options: HttpServerOptions): Promise<HttpServer> {
  const server = createServer();
  const connections = new Set<Duplex>();
  const endless = new Set<Duplex>();
  let closing = false;

  server.on("connection", (socket) => {
    connections.add(socket);
    socket.once("close", () => connections.delete(socket));
  });
  server.on("request", (req, res) => handle(req, res));
  server.on("checkContinue", (req, res) => handle(req, res, { continue: once(() => res.writeContinue()) }));
  server.on("checkExpectation", (_req, res) => res.writeHead(417, { "Content-Length": "0" }).end());
  server.on("upgrade", (req: IncomingMessage, socket: Duplex, head: Buffer) => {
    socket.on("error", () => {});
    if (!options.switchesProtocols || req.headers.upgrade?.toLowerCase() !== "websocket" || req.method !== "GET") {
      withoutUpgrade(server, req, socket as Socket, head);
      return;
    }
    const res = new ServerResponse(req);
    res.assignSocket(socket as Socket);
    res.shouldKeepAlive = false;
    res.once("finish", () => (socket as Socket).destroySoon());
    handle(req, res, { upgrade: { socket, head } });
  });
  server.on("clientError", (error: NodeJS.ErrnoException, socket) => refuse(error, socket, options.entries));

  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(options.port, options.host, () => {
      server.off("error", reject);
      resolve();
    });
  });
  return { port: (server.address() as AddressInfo).port, close };

  async function handle(
    req: IncomingMessage,
    res: ServerResponse,
    more: Pick<ProxyRequest, "continue" | "upgrade"> = {},
  ): Promise<void> {
    const abort = new AbortController();
    let settleSent!: (sent: { bytes: number; status: number }) => void;
    const sent = new Promise<{ bytes: number; status: number }>((resolve) => {
      settleSent = resolve;
    });
    const socket = req.socket;
    const onClose = () => {
      if (!res.writableFinished) abort.abort(new Error("the client closed the connection"));
    };
    if (more.upgrade === undefined) res.once("close", onClose);
    else socket.once("close", onClose);

    const request = { ...requestOf(req, abort.signal, sent), ...more };
    try {
      const response = await answer(request);
      if (response.switched) {
        endless.add(socket);
        socket.once("close", () => endless.delete(socket));
        res.detachSocket(socket);
        settleSent({ status: response.status, bytes: 0 });
        return;
      }
      if (abort.signal.aborted) {
        discard(response.body);
        settleSent({ status: CLIENT_CLOSED, bytes: 0 });
        return;
      }
      if (closing) res.shouldKeepAlive = false;
      if (isEndless(response)) {
        endless.add(socket);
        res.once("close", () => endless.delete(socket));
      }
      settleSent(await respond(response, res, request.method));
      // What is left of a body that nobody read would keep the connection from its next request.
      req.resume();
    } catch (error) {
      settleSent({ status: abort.signal.aborted ? CLIENT_CLOSED : 500, bytes: 0 });
      res.destroy();
      if (!abort.signal.aborted) throw error;
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

  async function close(): Promise<void> {
    closing = true;
    const closed = new Promise<void>((resolve) => server.close(() => resolve()));
    server.closeIdleConnections();
    // A websocket or an event stream has no end to wait for.
    for (const socket of endless) socket.destroy();
    const cut = setTimeout(() => {
      for (const socket of connections) socket.destroy();
    }, DRAIN_MS);
    await closed;
    clearTimeout(cut);
  }
}

/** A request that is sent to the app again has its leave already. */
function once(action: () => void): () => void {
  let done = false;
  return () => {
    if (!done) action();
    done = true;
  };
}

function requestOf(req: IncomingMessage, signal: AbortSignal, sent: ProxyRequest["sent"]): ProxyRequest {
  const { path, query, authority } = splitTarget(req.url ?? "/");
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
    // An IPv4 client of a server that listens on :: shows up as ::ffff:a.b.c.d.
    ip: (socket.remoteAddress ?? "").replace(/^::ffff:(?=\d+\.)/, ""),
    port: socket.localPort ?? 0,
    secure: false,
    signal,
    sent,
  };
}

/** `/path?query`, `*`, or the absolute form `http://host/path?query` that proxies are asked with. */
function splitTarget(target: string): { path: string; query: string; authority?: string } {
  const absolute = /^https?:\/\/([^/?#]*)(.*)$/is.exec(target);
  const rest = absolute === null ? target : absolute[2]!;
  // A fragment has no business here; some clients send it all the same.
  const [withoutFragment = ""] = rest.split("#", 1);
  const cut = withoutFragment.indexOf("?");
  const path = cut === -1 ? withoutFragment : withoutFragment.slice(0, cut);
  return {
    path: path === "" ? "/" : path,
    query: cut === -1 ? "" : withoutFragment.slice(cut),
    ...(absolute !== null && { authority: absolute[1]! }),
  };
}

function withHost(rawHeaders: readonly string[], host: string): string[] {
  const headers = ["Host", host];
  for (let i = 0; i < rawHeaders.length; i += 2) {
    if (rawHeaders[i]!.toLowerCase() !== "host") headers.push(rawHeaders[i]!, rawHeaders[i + 1]!);
  }
  return headers;
}

/** An answer that never ends by itself. */
function isEndless(response: ProxyResponse): boolean {
  return /^text\/event-stream\b/i.test(headerOf(response, "content-type") ?? "");
}

/**
 * Nobody here speaks the protocol that the client would like (curl --http2 and Java's client ask for h2c), so the
 * request is an ordinary one, as RFC 9110, section 7.8 has it. node:http has stopped parsing at this point: the
 * connection is handed in again, with the request's head as it would be without the wish.
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

/** What could not be read as a request has no path for a rule and no Accept: a plain answer, and an entry. */
function refuse(error: NodeJS.ErrnoException, socket: Duplex, entries: EntryLog): void {
  // The client went away, or the connection is being cut at a stop.
  if (error.code === "ECONNRESET" || error.code === "EPIPE" || !socket.writable) {
    socket.destroy();
    return;
  }
  const [status, text] = MALFORMED[error.code ?? ""] ?? [400, "Bad Request"];
  const ip = ((socket as Socket).remoteAddress ?? "").replace(/^::ffff:(?=\d+\.)/, "");
  entries.write("warn", "malformed request", { status, code: error.code, ip });
  const body = `${status} ${text}\n`;
  socket.end(
    `HTTP/1.1 ${status} ${text}\r\nContent-Type: text/plain; charset=utf-8\r\n` +
      `Content-Length: ${body.length}\r\nConnection: close\r\n\r\n${body}`,
  );
}

const MALFORMED: Readonly<Record<string, readonly [number, string]>> = {
  HPE_HEADER_OVERFLOW: [431, "Request Header Fields Too Large"],
  HPE_CHUNK_EXTENSIONS_OVERFLOW: [413, "Payload Too Large"],
  ERR_HTTP_REQUEST_TIMEOUT: [408, "Request Timeout"],
};
