import { createServer, type RequestListener, type Server, type ServerResponse } from "node:http";
import { createServer as createTlsServer } from "node:https";
import type { AddressInfo, Socket } from "node:net";
import { RpcError } from "../error.ts";
import type { Limits } from "../limits.ts";
import { sendError } from "./send.ts";

export interface ListenOptions {
  readonly host: string;
  /** 0: a free one. */
  readonly port: number;
  /** PEM texts; without them plain HTTP. */
  readonly tls?: { readonly cert: string; readonly key: string } | undefined;
  readonly limits: Limits;
}

export interface RunningHttp {
  readonly url: string;
  readonly port: number;
  /** Takes no more requests and resolves when those under way are answered, or cut off after `graceMs`. */
  close(graceMs: number): Promise<void>;
}

/** How often slow clients are looked for. */
const CHECK_MS = 1_000;
/** Longer than the idle time of usual load balancers, which otherwise ask on a connection that is just being closed. */
const KEEP_ALIVE_MS = 75_000;

/** Listens. Rejects with the system's error where it cannot. */
export async function listen(handler: RequestListener, options: ListenOptions): Promise<RunningHttp> {
  const { host, port, tls, limits } = options;
  const settings = {
    headersTimeout: limits.headersMs,
    requestTimeout: limits.requestMs,
    connectionsCheckingInterval: CHECK_MS,
    keepAliveTimeout: KEEP_ALIVE_MS,
    // Node would answer with an empty body.
    requireHostHeader: false,
  };
  /** Open connections, each with the answer to its last request. */
  const connections = new Map<Socket, ServerResponse | undefined>();
  const answer: RequestListener = (request, response) => {
    // An answer is what its type says, and no part of another page: texts of logs are anybody's.
    response.setHeader("X-Content-Type-Options", "nosniff");
    response.setHeader("X-Frame-Options", "DENY");
    const isNamed = request.headers.host !== undefined || request.httpVersion !== "1.1";
    connections.set(request.socket, response);
    if (isNamed) return handler(request, response);
    response.setHeader("Connection", "close");
    sendError(response, new RpcError("bad_request", "a request of HTTP/1.1 must have the header Host"));
  };
  const server: Server =
    tls === undefined
      ? createServer(settings, answer)
      : createTlsServer({ ...settings, ...tls, minVersion: "TLSv1.2" }, answer);
  server.on(tls === undefined ? "connection" : "secureConnection", (socket: Socket) => {
    connections.set(socket, undefined);
    socket.once("close", () => connections.delete(socket));
  });
  // Node's own, which `close` calls as well, takes an answer for sent when it was handed over, and cuts it off. And it
  // closes what is idle now: a connection whose answer ends later would stay as long as it is kept alive.
  server.closeIdleConnections = () => {
    for (const [socket, response] of connections) {
      if (response === undefined || response.writableFinished) socket.destroy();
      else response.once("finish", () => socket.destroySoon());
    }
  };
  // A reader that stops reading; asking and answering count as movement.
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
        const timer = setTimeout(() => server.closeAllConnections(), graceMs);
        server.close(() => {
          clearTimeout(timer);
          resolve();
        });
      }),
  };
}

/** What could not be read as a request is answered like everything else, as far as the connection allows. */
function answerMalformed(error: NodeJS.ErrnoException, socket: Socket): void {
  if (!socket.writable || error.code === "ECONNRESET") {
    socket.destroy();
    return;
  }
  const [status, type, message] = MALFORMED[error.code ?? ""] ?? [
    "400 Bad Request",
    "bad_request",
    "this is no HTTP/1.1 request",
  ];
  const body = JSON.stringify({ type, message });
  socket.end(
    `HTTP/1.1 ${status}\r\nContent-Type: application/json\r\nX-Content-Type-Options: nosniff\r\nX-Frame-Options: DENY\r\nContent-Length: ${Buffer.byteLength(body)}\r\nConnection: close\r\n\r\n${body}`,
  );
}

const MALFORMED: Readonly<Record<string, readonly [status: string, type: string, message: string]>> = {
  HPE_HEADER_OVERFLOW: ["431 Request Header Fields Too Large", "too_large", "the headers must take at most 16 KiB"],
  ERR_HTTP_REQUEST_TIMEOUT: ["408 Request Timeout", "timeout", "the request did not come in time"],
};
