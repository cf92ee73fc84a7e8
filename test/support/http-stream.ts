// Requests and responses as bytes on one connection, one after another: what a client that writes ahead sees.
import { connect } from "node:net";

export interface StreamedResponse {
  readonly status: number;
  /** By lower-case name, in the order in which they came. */
  readonly headers: readonly (readonly [name: string, value: string])[];
  readonly body: Buffer;
}

export interface Conversation {
  readonly responses: readonly StreamedResponse[];
  /** The bytes that came and are no whole response. */
  readonly rest: Buffer;
}

/**
 * Writes all of it and reads one response per method, in order; the connection is closed then, or when the other end
 * closes it. With `leaveAfterMs` the client is gone after that time, whatever has come.
 */
export function converse(
  port: number,
  bytes: Buffer,
  methods: readonly string[],
  leaveAfterMs?: number,
): Promise<Conversation> {
  return new Promise((resolve, reject) => {
    const socket = connect({ host: "127.0.0.1", port }, () => socket.write(bytes));
    const parts: Buffer[] = [];
    const leave = leaveAfterMs === undefined ? undefined : setTimeout(() => socket.destroy(), leaveAfterMs);
    socket.setTimeout(60_000, () => socket.destroy(new Error(`no answer within 60 s to ${bytes.toString("latin1")}`)));
    socket.on("data", (part) => {
      parts.push(part);
      if (readResponses(Buffer.concat(parts), methods, false).responses.length === methods.length) socket.destroy();
    });
    // A refusal closes the connection while the rest is still being written.
    socket.on("error", (error: NodeJS.ErrnoException) => {
      if (!["ECONNRESET", "EPIPE"].includes(error.code ?? "")) reject(error);
    });
    socket.on("close", () => {
      clearTimeout(leave);
      resolve(readResponses(Buffer.concat(parts), methods, true));
    });
  });
}

function readResponses(bytes: Buffer, methods: readonly string[], isClosed: boolean): Conversation {
  const responses: StreamedResponse[] = [];
  let rest = bytes;
  for (const method of methods) {
    const read = readResponse(rest, method, isClosed);
    if (read === undefined) break;
    responses.push(read.response);
    rest = read.rest;
  }
  return { responses, rest };
}

function readResponse(bytes: Buffer, method: string, isClosed: boolean) {
  const end = bytes.indexOf("\r\n\r\n");
  if (end === -1) return undefined;
  const [first = "", ...lines] = bytes.toString("latin1", 0, end).split("\r\n");
  const status = Number(/^HTTP\/1\.1 (\d{3})/.exec(first)?.[1]);
  if (Number.isNaN(status)) throw new Error(`no response: ${first}`);
  const after = bytes.subarray(end + 4);
  if (status < 200) return readResponse(after, method, isClosed);
  const headers = lines.map((line) => {
    const colon = line.indexOf(":");
    return [line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim()] as const;
  });
  const value = (name: string) => headers.find(([own]) => own === name)?.[1];
  const framed = bodyOf(after, method, status, value, isClosed);
  return framed && { response: { status, headers, body: framed.body }, rest: framed.rest };
}

function bodyOf(
  bytes: Buffer,
  method: string,
  status: number,
  value: (name: string) => string | undefined,
  isClosed: boolean,
): { body: Buffer; rest: Buffer } | undefined {
  if (method === "HEAD" || status === 204 || status === 304) return { body: Buffer.alloc(0), rest: bytes };
  if (value("transfer-encoding") === "chunked") return dechunked(bytes);
  const length = value("content-length");
  if (length === undefined) return isClosed ? { body: bytes, rest: Buffer.alloc(0) } : undefined;
  if (bytes.length < Number(length)) return undefined;
  return { body: bytes.subarray(0, Number(length)), rest: bytes.subarray(Number(length)) };
}

function dechunked(bytes: Buffer): { body: Buffer; rest: Buffer } | undefined {
  const parts: Buffer[] = [];
  for (let at = 0; ; ) {
    const lineEnd = bytes.indexOf("\r\n", at);
    if (lineEnd === -1) return undefined;
    const size = Number.parseInt(bytes.toString("latin1", at, lineEnd), 16);
    const next = lineEnd + 2 + size + 2;
    if (bytes.length < next) return undefined;
    if (size === 0) return { body: Buffer.concat(parts), rest: bytes.subarray(next) };
    parts.push(bytes.subarray(lineEnd + 2, next - 2));
    at = next;
  }
}
