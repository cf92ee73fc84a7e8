import type { ServerResponse } from "node:http";
import { ERROR_STATUS, type RpcError } from "../error.ts";
import { printOutput } from "../rpc/json-text.ts";

/** Clients compare the whole header, so there is no charset. */
const JSON_TYPE = "application/json";

export function sendJson(response: ServerResponse, status: number, value: object): void {
  const body = Buffer.from(printOutput(value));
  response.writeHead(status, { "Content-Type": JSON_TYPE, "Content-Length": body.length });
  response.end(body);
}

export function sendText(response: ServerResponse, status: number, type: string, text: string): void {
  const body = Buffer.from(text);
  response.writeHead(status, { "Content-Type": type, "Content-Length": body.length });
  response.end(body);
}

export function sendNothing(response: ServerResponse): void {
  response.writeHead(204);
  response.end();
}

export interface ErrorForm {
  /** That of the type unless told otherwise. */
  readonly status?: number | undefined;
  /** `{type, message}` unless told otherwise. */
  readonly body?: object | undefined;
}

/** Sends `{type, message}`, with the status of the type, unless told otherwise. */
export function sendError(response: ServerResponse, error: RpcError, answer: ErrorForm = {}): void {
  writeErrorResponse(response, error, answer);
  response.end();
}

/** Like `sendError`, but does not end the response. */
export function writeErrorResponse(
  response: ServerResponse,
  error: RpcError,
  { status = ERROR_STATUS[error.type], body: written = { type: error.type, message: error.message } }: ErrorForm = {},
): void {
  if (error.retryAfterMs !== undefined) {
    response.setHeader("Retry-After", String(Math.max(1, Math.ceil(error.retryAfterMs / 1000))));
  }
  if (error.type === "unauthorized") response.setHeader("WWW-Authenticate", "Bearer");
  const body = Buffer.from(JSON.stringify(written));
  response.writeHead(status, { "Content-Type": JSON_TYPE, "Content-Length": body.length });
  response.write(body);
}
