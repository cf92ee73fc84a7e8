// Websockets: http-proxy sends the handshake to the app, and carries the bytes both ways if the app accepts it.
import type { ClientRequest, IncomingMessage } from "node:http";
import type { Socket } from "node:net";
import httpProxy from "http-proxy";
import type { Header, ProxyRequest } from "./exchange.ts";
import { endToEnd, headersByName } from "./forwarded.ts";
import type { ExchangeOutcome } from "./http1/connection.ts";
import { UNSENDABLE } from "./http1/response-parser.ts";

export interface Handshake {
  /** One with an `upgrade`. */
  readonly request: ProxyRequest;
  readonly upstream: { readonly host: string; readonly port: number };
  readonly headers: readonly Header[];
}

/** Takes the outcome of a handshake. Exactly one of the three is called. */
export interface HandshakeOutcome extends Pick<ExchangeOutcome, "response" | "failed"> {
  /** The client has the answer, and the socket belongs to http-proxy now. The others mean that the app refused. */
  switched(status: number): void;
}

/** Returns what gives the handshake up. Throws if it cannot be written. */
export function sendHandshake({ request, upstream, headers }: Handshake, outcome: HandshakeOutcome): () => void {
  const { head } = request.upgrade!;
  const socket = request.upgrade!.socket as Socket;
  const url = request.path + request.query;
  const target = { protocol: "http:", host: upstream.host, port: String(upstream.port) };
  let toApp!: ClientRequest;
  let isConnected = false;
  const failed = (error: Error) =>
    outcome.failed(error, { wasSent: isConnected, hasAnswered: (toApp.socket?.bytesRead ?? 0) > 0 });

  const proxy = httpProxy.createProxyServer();
  proxy.on("proxyReqWs", (proxyReq) => {
    toApp = proxyReq;
    // http-proxy merges the slashes of `//`; the app gets the path as the client sent it.
    toApp.path = url;
    toApp.once("socket", (appSocket) => {
      appSocket.once("connect", () => {
        isConnected = true;
      });
    });
  });
  // The part of a request that http-proxy reads.
  const read = {
    method: "GET",
    url,
    headers: { ...headersByName(headers), connection: "Upgrade", upgrade: "websocket" },
  };
  // Without toProxy, the path would go through url.parse, which changes some paths and throws on others.
  proxy.ws(read as unknown as IncomingMessage, socket, head, { target, toProxy: true }, failed);

  // http-proxy would write a refusal to the socket itself, and end the socket if the app cannot be reached. Both are
  // left to the pipeline, as for any other request. Its listener for the switch stays.
  toApp.removeAllListeners("error").removeAllListeners("response");
  toApp.on("error", failed);
  toApp.on("response", (refusal) => {
    const status = refusal.statusCode!;
    const headers = endToEnd(refusal.rawHeaders);
    // node:http reads some responses that it refuses to write.
    if (status < 200 || headers.some(([, value]) => UNSENDABLE.test(value))) {
      refusal.destroy();
      failed(new Error(`the answer is not HTTP (status ${status})`));
      return;
    }
    const reason = refusal.statusMessage ?? "";
    outcome.response({ status, reason, headers, keepsAlive: false, body: refusal, trailers: () => [] });
  });
  toApp.on("upgrade", (response, appSocket) => {
    // http-proxy passes on that one side has ended; the other could stay half open for ever.
    socket.once("close", () => appSocket.destroy());
    socket.once("end", () => appSocket.destroySoon());
    appSocket.once("close", () => socket.destroySoon());
    appSocket.once("end", () => socket.destroySoon());
    outcome.switched(response.statusCode!);
  });
  return () => toApp.destroy();
}
