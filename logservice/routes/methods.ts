import type { IncomingMessage, ServerResponse } from "node:http";
import { RpcError } from "../error.ts";
import { sendError, sendNothing } from "../http/send.ts";

export type RequestHandler = (request: IncomingMessage, response: ServerResponse) => void;

/** Refuses the other methods of a path (405). It is added after the handlers of `methods`. */
export function onlyBy(methods: string): RequestHandler {
  return (_, response) => {
    response.setHeader("Allow", methods);
    sendError(response, new RpcError("bad_request", `use ${methods}`), { status: 405 });
  };
}

/** Allows pages of other origins to read the answer. */
export function allowBrowsers(response: ServerResponse): void {
  response.setHeader("Access-Control-Allow-Origin", "*");
  response.setHeader("Access-Control-Expose-Headers", "Retry-After");
}

/** How long browsers may cache the permission. They cap it at a day. */
const PREFLIGHT_SECONDS = 86_400;

/** Allows pages of other origins to send a POST. */
export function preflight(_: IncomingMessage, response: ServerResponse): void {
  allowBrowsers(response);
  response.setHeader("Access-Control-Allow-Methods", "POST");
  response.setHeader(
    "Access-Control-Allow-Headers",
    "Authorization, Content-Type, Content-Encoding, Idempotency-Key, X-Team",
  );
  response.setHeader("Access-Control-Max-Age", String(PREFLIGHT_SECONDS));
  sendNothing(response);
}
