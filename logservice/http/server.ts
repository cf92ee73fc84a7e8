import { createServer, type IncomingMessage, type RequestListener, type Server, type ServerResponse } from "node:http";
import { createServer as createTlsServer } from "node:https";
import type { AddressInfo, Socket } from "node:net";
import { unmapped } from "../../grammar/address/ip.ts";
import type { Clock } from "../../grammar/units/clock.ts";
import { RpcError } from "../error.ts";
import type { Limits } from "../limits.ts";
import { AddressShares } from "./address-shares.ts";
import { sendError } from "./send.ts";

export interface ListenOptions {
  readonly host: string;
  /** 0 for any free port. */
  readonly port: number;
  /** PEM texts; plain HTTP without them. */
  readonly tls?: { readonly cert: string; readonly key: string } | undefined;
  /** Sent as Strict-Transport-Security (RFC 6797); 0 for none, as over plain http. */
  readonly hstsSeconds?: number;
  /** Whether connections from an address may be those of many clients. */
  readonly isShared?: (address: string) => boolean;
  /** The address of whoever sent a request, which a proxy may have passed on. */
  readonly addressOf?: (request: IncomingMessage) => string;
  readonly limits: Limits;
  readonly clock: Clock;
}

export interface RunningHttp {
  readonly url: string;
  readonly port: number;
  /** Accepts no more requests. Resolves when those under way are answered, or were cut off after `graceMs`. */
  close(graceMs: number): Promise<void>;
}

/** How often Node looks for slow clients. */
const CHECK_MS = 1_000;
/** Longer than the idle timeout of usual load balancers, which would otherwise send requests on connections being closed. */
const KEEP_ALIVE_MS = 75_000;

/** The address of a view holds its query of up to 16,384 characters, of which each takes three or more when encoded. */
const MAX_HEAD_BYTES = 64 * 1024;

/** Listens. Rejects with the system's error if it cannot. */
export async function listen(handler: RequestListener, options: ListenOptions): Promise<RunningHttp> {
  const { host, port, tls, limits, clock, hstsSeconds = 0 } = options;
  const settings = {
    headersTimeout: limits.headersMs,
    requestTimeout: limits.requestMs,
    connectionsCheckingInterval: CHECK_MS,
    keepAliveTimeout: KEEP_ALIVE_MS,
    maxHeaderSize: MAX_HEAD_BYTES,
    // Node would answer with an empty body.
    requireHostHeader: false,
  };
  /** Open connections, each with the response to its last request. */
  const connections = new Map<Socket, ServerResponse | undefined>();
  const share = addressShare(options);
  const answer: RequestListener = (request, response) => {
    // Browsers must not guess the type of an answer or show it in a frame: logs contain text from anybody.
    response.setHeader("X-Content-Type-Options", "nosniff");
    response.setHeader("X-Frame-Options", "DENY");
    if (hstsSeconds > 0) response.setHeader("Strict-Transport-Security", `max-age=${hstsSeconds}`);
    const isNamed = request.headers.host !== undefined || request.httpVersion !== "1.1";
    connections.set(request.socket, response);
    if (isNamed && !share.takeRequest(request, response)) return sendError(response, TOO_MANY);
    if (isNamed) return handler(request, response);
    response.setHeader("Connection", "close");
    sendError(response, new RpcError("bad_request", "an HTTP/1.1 request must have the header Host"));
  };
  const server: Server =
    tls === undefined
      ? createServer(settings, answer)
      : createTlsServer({ ...settings, ...tls, minVersion: "TLSv1.2" }, answer);
  server.on("connection", share.takeConnection);
  server.on(tls === undefined ? "connection" : "secureConnection", (socket: Socket) => {
    connections.set(socket, undefined);
    socket.once("close", () => connections.delete(socket));
  });
  // Node's own method, which `close` calls, takes a response for sent once it was handed over, and cuts it off. It also
  // only closes what is idle now: a connection whose response ends later would stay open until its keep-alive timeout.
  server.closeIdleConnections = () => {
    for (const [socket, response] of connections) {
      if (response === undefined || response.writableFinished) socket.destroy();
      else response.once("finish", () => socket.destroySoon());
    }
  };
  // Closes the connection of a client that stops reading. Requests and responses both count as activity.
  server.setTimeout(limits.stalledMs, (socket: Socket) => socket.destroy());
  server.on("clientError", answerMalformed);
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen({ host, port, exclusive: true }, () => {
      server.off("error", reject);
      resolve();
    });
  });
  const { port: actual } = server.address() as AddressInfo;
  return {
    port: actual,
    url: `${tls === undefined ? "http" : "https"}://${host.includes(":") ? `[${host}]` : host}:${actual}`,
    close: (graceMs) =>
      new Promise((resolve) => {
        const timer = clock.after(graceMs, () => server.closeAllConnections());
        server.close(() => {
          timer.stop();
          resolve();
        });
      }),
  };
}

const TOO_MANY = new RpcError(
  "rate_limited",
  "too many requests of this address are open: wait until some have ended",
  {
    retryAfterMs: 1_000,
  },
);

/** Bounds the connections of an address; of one that comes by a proxy, its open requests. */
function addressShare({ limits, isShared = () => true, addressOf }: ListenOptions) {
  const connections = new AddressShares(limits.connectionsPerAddress);
  const requests = new AddressShares(limits.connectionsPerAddress);
  return {
    /** Closes a connection that is one too many: before TLS there are no words for it. */
    takeConnection(socket: Socket): void {
      const address = unmapped(socket.remoteAddress ?? "");
      if (address === "" || isShared(address)) return;
      const release = connections.take(address);
      if (release === undefined) socket.destroy();
      else socket.once("close", release);
    },
    takeRequest(request: IncomingMessage, response: ServerResponse): boolean {
      const address = addressOf?.(request) ?? "";
      // A client of this machine, or a proxy that says nothing of who asks.
      if (address === "" || isShared(address)) return true;
      const release = requests.take(address);
      if (release !== undefined) response.once("close", release);
      return release !== undefined;
    },
  };
}

/** Answers what is not a valid request with an error in the usual form, if the connection still allows it. */
function answerMalformed(error: NodeJS.ErrnoException, socket: Socket): void {
  if (!socket.writable || error.code === "ECONNRESET") {
    socket.destroy();
    return;
  }
  const [status, type, message] = MALFORMED[error.code ?? ""] ?? [
    "400 Bad Request",
    "bad_request",
    "this is not an HTTP/1.1 request",
  ];
  const body = JSON.stringify({ type, message });
  socket.end(
    `HTTP/1.1 ${status}\r\nContent-Type: application/json\r\nX-Content-Type-Options: nosniff\r\nX-Frame-Options: DENY\r\nContent-Length: ${Buffer.byteLength(body)}\r\nConnection: close\r\n\r\n${body}`,
  );
}

const MALFORMED: Readonly<Record<string, readonly [status: string, type: string, message: string]>> = {
  HPE_HEADER_OVERFLOW: ["431 Request Header Fields Too Large", "too_large", "the headers must be at most 64 KiB"],
  ERR_HTTP_REQUEST_TIMEOUT: ["408 Request Timeout", "timeout", "the request did not arrive in time"],
};
