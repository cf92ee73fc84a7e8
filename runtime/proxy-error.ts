import { STATUS_CODES } from "node:http";
import { prefersJson } from "./accept.ts";
import type { Header, ProxyRequest, ProxyResponse } from "./exchange.ts";

/**
 * An answer of the proxy's own, for clients that do not name HTML (those that do get an error page in its place):
 * `{"status": 503, "error": "Service Unavailable", "message": "...", "id": "..."}` where Accept prefers JSON, else one
 * line of text. `id` is the request's, as in the log, which has the reason.
 */
export function proxyError(
  request: ProxyRequest,
  status: number,
  message: string,
  headers: readonly Header[] = [],
): ProxyResponse {
  const error = STATUS_CODES[status] ?? "Error";
  const [type, body] = prefersJson(request.headers.accept)
    ? ["application/json", `${JSON.stringify({ status, error, message, id: request.id })}\n`]
    : ["text/plain; charset=utf-8", `${status} ${error}: ${message} (request ${request.id})\n`];
  const length = String(Buffer.byteLength(body));
  return { status, headers: [["Content-Type", type], ["Content-Length", length], ...headers], body, message };
}
