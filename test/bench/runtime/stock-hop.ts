// The hop as http-proxy makes it, in the place of ours: what `runtime/hop.ts` over its own client is compared with.
import { EventEmitter } from "node:events";
import { Agent, type IncomingMessage, type ServerResponse } from "node:http";
import { Readable } from "node:stream";
import httpProxy from "http-proxy";
import type { Handler, ProxyRequest, ProxyResponse } from "../../../runtime/exchange.ts";
import { endToEnd, headersByName, headersForApp } from "../../../runtime/forwarded.ts";

export interface StockHopOptions {
  readonly host: string;
  readonly port: number;
  readonly stage: string;
}

/** Sends every request once, without a time limit: whatever fails, the bench ends with it. */
export function stockHop({ host, port, stage }: StockHopOptions): Handler {
  const target = { protocol: "http:", host, port: String(port) };
  const agent = new Agent({ keepAlive: true });
  const proxy = httpProxy.createProxyServer({ target, agent, toProxy: true, selfHandleResponse: true });
  const waiting = new WeakMap<object, (response: ProxyResponse) => void>();
  proxy.on("proxyReq", (proxyReq, req) => {
    // http-proxy has merged the slashes of `//`.
    proxyReq.path = req.url!;
  });
  proxy.on("proxyRes", (proxyRes, req) => {
    const headers = endToEnd(proxyRes.rawHeaders);
    waiting.get(req)!({ status: proxyRes.statusCode!, statusText: proxyRes.statusMessage, headers, body: proxyRes });
  });

  return (request) =>
    new Promise((resolve, reject) => {
      const { method } = request;
      const req = requestForHttpProxy(request, stage);
      waiting.set(req, resolve);
      const buffer = hasBody(request) ? request.body : Readable.from([]);
      proxy.web(req, NO_RESPONSE, { method, buffer }, reject);
    });
}

/**
 * The members of a request that http-proxy reads. The method is not the real one: for some, http-proxy would set a
 * length of 0.
 */
function requestForHttpProxy(request: ProxyRequest, stage: string): IncomingMessage {
  const headers = headersByName(headersForApp(request, stage));
  if (request.headers["transfer-encoding"] !== undefined) headers["transfer-encoding"] = "chunked";
  const socket = { destroyed: false };
  const read = { method: "POST", url: request.path + request.query, httpVersion: "1.1", headers, socket };
  return Object.assign(new EventEmitter(), read, { connection: socket }) as unknown as IncomingMessage;
}

/** http-proxy writes no response here; it asks whether one was written. */
const NO_RESPONSE = { headersSent: false, finished: false } as unknown as ServerResponse;

function hasBody({ headers }: ProxyRequest): boolean {
  return headers["transfer-encoding"] !== undefined || Number(headers["content-length"] ?? 0) > 0;
}
