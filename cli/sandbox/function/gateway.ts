// A gateway in front of a function: real requests become events, and answers real responses, by the rules that the
// gateways' pages give. What it cannot make sense of is answered as they do, with their bare error messages.

import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { type Clock, systemClock } from "../../../grammar/units/clock.ts";
import { type GatewayKind, type GatewayNames, type GatewayRequest, gatewayEventOf } from "./events.ts";
import type { InvokeResult, LocalFunction } from "./function.ts";

/** "Payload size: 10 MB" of API Gateway; an event of more than 6 MB the function does not get. */
const MAX_REQUEST_BYTES = 10 * 1024 * 1024;
const MAX_EVENT_BYTES = 6 * 1024 * 1024;

/** "The metadata JSON and the delimiter must lie within the first 16 KB of the stream." */
const MAX_HEAD_BYTES = 16 * 1024;

/** Name of the server in every response whose head has none. */
export const SERVER = "tool-sandbox";

const METHODS = new Set(["DELETE", "GET", "HEAD", "OPTIONS", "PATCH", "POST", "PUT"]);

export interface GatewayOptions {
  readonly kind: GatewayKind;
  readonly target: Pick<LocalFunction, "invoke">;
  readonly stage?: string;
  /** The names of the API in the event; if absent, those of an API that serves no other purpose. */
  readonly names?: Partial<GatewayNames>;
  /** The path and query that the gateway sees, if it is not the request's own. */
  readonly url?: string;
  /** `responseTransferMode: STREAM`, or a function URL's RESPONSE_STREAM. */
  readonly streams: boolean;
  /** From the request's end to the last byte of the response; no limit if it is absent. */
  readonly timeoutMs?: number;
  /** The machine's clock if it is absent. */
  readonly clock?: Clock;
  /** How requests come, as the event says it; https if it is absent. */
  readonly scheme?: GatewayRequest["scheme"];
}

export interface Gateway {
  readonly port: number;
  close(): Promise<void>;
}

export async function openGateway(options: GatewayOptions): Promise<Gateway> {
  const server = createServer((req, res) => void serveThroughGateway(req, res, options));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    port: (server.address() as AddressInfo).port,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

/** One request, whatever listened for it. */
export async function serveThroughGateway(
  req: IncomingMessage,
  res: ServerResponse,
  options: GatewayOptions,
): Promise<void> {
  await answer(req, res, options).catch((error: Error) => {
    // A result that no gateway could read: a row must see that.
    if (!res.headersSent) refuse(res, 502, `malformed answer: ${error.message}`);
    else res.destroy();
  });
}

async function answer(req: IncomingMessage, res: ServerResponse, options: GatewayOptions): Promise<void> {
  const { kind, target, stage = "production", streams, timeoutMs, scheme, clock = systemClock } = options;
  const atMs = clock.nowMs();
  const body = await bodyOf(req);
  if (body === undefined) return refuse(res, 413, "Request Too Long");
  const method = req.method ?? "GET";
  if (!METHODS.has(method)) return refuse(res, 403, "Missing Authentication Token");
  const [url = "/"] = (options.url ?? req.url ?? "/").split("#", 1);
  if (kind === "rest" && /\?.*[|{}]/.test(url)) return refuse(res, 400, "Bad Request");
  const { rawHeaders } = req;
  const event = gatewayEventOf(
    kind,
    { method, target: url, rawHeaders, body, ip: req.socket.remoteAddress ?? "", atMs, ...(scheme && { scheme }) },
    { stage, domainName: "r3pmxmplak.execute-api.eu-west-1.amazonaws.com", ...options.names },
  );
  const payload = JSON.stringify(event);
  if (Buffer.byteLength(payload) > MAX_EVENT_BYTES) return refuse(res, 413, "Request Too Long");
  const timer = timeoutMs === undefined ? undefined : clock.after(timeoutMs, () => giveUp(res));
  try {
    // Nothing ran: why is for the user.
    const result = await target.invoke(payload).catch((error: Error) => void refuse(res, 502, error.message));
    if (result === undefined) return;
    if (result.kind === "error") refuse(res, 502, "Internal server error");
    else if (streams) await sendStream(res, result);
    else sendDocument(res, kind, await documentOf(result));
  } finally {
    timer?.stop();
  }
}

/** Undefined if it is too large. It is read to its end then, too, as clients read no response before they have sent all. */
async function bodyOf(req: IncomingMessage): Promise<Buffer | undefined> {
  let parts: Buffer[] = [];
  let bytes = 0;
  for await (const part of req) {
    bytes += (part as Buffer).length;
    if (bytes <= MAX_REQUEST_BYTES) parts.push(part as Buffer);
    else parts = [];
  }
  return bytes > MAX_REQUEST_BYTES ? undefined : Buffer.concat(parts);
}

/** The function goes on, and nobody gets its answer. */
function giveUp(res: ServerResponse): void {
  if (res.headersSent) res.destroy();
  else refuse(res, 504, "Endpoint request timed out");
}

/** Whether the client has its answer, or has gone away. */
const isOver = (res: ServerResponse) => res.headersSent || res.destroyed;

export function refuse(res: ServerResponse, status: number, message: string): void {
  if (isOver(res)) return;
  const body = JSON.stringify({ message });
  res.writeHead(status, {
    Server: SERVER,
    "Content-Type": "application/json",
    "Content-Length": Buffer.byteLength(body),
    Connection: "close",
  });
  res.end(body);
}

interface Head {
  readonly statusCode: number;
  readonly headers?: Record<string, string>;
  readonly multiValueHeaders?: Record<string, string[]>;
  readonly cookies?: string[];
}

interface Document extends Head {
  readonly body?: string;
  readonly isBase64Encoded?: boolean;
}

/** A gateway that does not stream gets a streamed answer's bytes as they are, head and all. */
async function documentOf(result: Exclude<InvokeResult, { kind: "error" }>): Promise<Document> {
  if (result.kind === "document") return JSON.parse(result.payload.toString());
  const parts: Buffer[] = [];
  for await (const part of result.body) parts.push(part as Buffer);
  return JSON.parse(Buffer.concat(parts).toString());
}

function sendDocument(res: ServerResponse, kind: GatewayKind, document: Document): void {
  if (isOver(res)) return;
  writeHead(res, kind, document);
  res.end(Buffer.from(document.body ?? "", document.isBase64Encoded ? "base64" : "utf8"));
}

async function sendStream(res: ServerResponse, result: Exclude<InvokeResult, { kind: "error" }>): Promise<void> {
  if (result.kind === "document") throw new Error("the function answered in one piece");
  if (result.type !== "application/vnd.awslambda.http-integration-response") throw new Error(result.type);
  let held: Buffer | undefined = Buffer.alloc(0);
  for await (const part of result.body) {
    if (held === undefined) {
      await written(res, part as Buffer);
      continue;
    }
    held = Buffer.concat([held, part as Buffer]);
    const end = held.indexOf(Buffer.alloc(8));
    if (end === -1 && held.length < MAX_HEAD_BYTES) continue;
    if (end === -1 || end + 8 > MAX_HEAD_BYTES) throw new Error("no end of the head within 16 KB");
    if (!isOver(res)) {
      writeHead(res, "rest", JSON.parse(held.toString("utf8", 0, end)));
      res.flushHeaders();
      if (held.length > end + 8) await written(res, held.subarray(end + 8));
    }
    held = undefined;
  }
  if (held !== undefined) throw new Error("no head");
  if (result.failed() === undefined) res.end();
  else res.destroy();
}

/** When there is room for more. Without a client the rest is read all the same: until then the function is busy. */
function written(res: ServerResponse, part: Buffer): Promise<void> | undefined {
  if (res.destroyed || res.writableEnded || res.write(part)) return undefined;
  return new Promise((resolve) => {
    const done = () => {
      res.off("drain", done);
      res.off("close", done);
      resolve();
    };
    res.on("drain", done).on("close", done);
  });
}

/** Single and repeated headers are merged; names of the connection are the gateway's own. */
function writeHead(res: ServerResponse, kind: GatewayKind, head: Head): void {
  const { statusCode, headers = {}, multiValueHeaders = {}, cookies = [] } = head;
  if (!Number.isInteger(statusCode)) throw new Error(`statusCode ${statusCode}`);
  if (kind !== "rest" && Object.keys(multiValueHeaders).length > 0) throw new Error("multiValueHeaders in format 2.0");
  const pairs: [string, string][] = [
    ...Object.entries(headers).filter(([name]) => multiValueHeaders[name] === undefined),
    ...Object.entries(multiValueHeaders).flatMap(([name, values]) =>
      values.map((one): [string, string] => [name, one]),
    ),
    ...cookies.map((cookie): [string, string] => ["Set-Cookie", cookie]),
  ];
  const own = pairs.filter(([name]) => !/^(connection|transfer-encoding|keep-alive)$/i.test(name));
  if (!own.some(([name]) => /^server$/i.test(name))) own.push(["Server", SERVER]);
  res.writeHead(
    statusCode,
    own.flatMap(([name, value]) => [name, Buffer.from(value).toString("latin1")]),
  );
}
