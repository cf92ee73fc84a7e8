import { type ServerResponse, STATUS_CODES } from "node:http";
import type { Readable } from "node:stream";
import type { CancelSignal } from "./cancel-signal.ts";
import { discard, headerOf, type ProxyResponse, type Sent } from "./exchange.ts";

/**
 * Sends a response and resolves with the bytes of the body that were sent, also if the client left meanwhile: the
 * signal says that. Where the body broke off by itself, the reason comes along.
 */
export async function respond(
  response: ProxyResponse,
  res: ServerResponse,
  method: string,
  signal: CancelSignal,
): Promise<Sent> {
  const { status, body, level } = response;
  const reason = response.statusText || STATUS_CODES[status] || "";
  const fields: string[] = [];
  for (const [name, value] of response.headers) fields.push(name, inLatin1(value));
  res.writeHead(status, reason, fields);
  const isBodiless = method === "HEAD" || status === 204 || status === 304;
  if (isBodiless || body === undefined || typeof body === "string" || Buffer.isBuffer(body)) {
    if (isBodiless) discard(body);
    else addTrailers(response, res);
    const bytes = isBodiless || body === undefined ? EMPTY : bytesOf(body as string | Buffer);
    await new Promise<void>((resolve) => {
      res.once("close", resolve);
      // A text goes out in one piece with the head; the two as bytes would be copied or written apart.
      if (bytes.length <= MAX_TEXT_BYTES) res.end(bytes.toString("latin1"), "latin1");
      else res.end(bytes);
    });
    return { bytes: bytes.length, status, level };
  }
  const sent = await stream(body, response, res, signal);
  return { ...sent, status, level: sent.reason === undefined ? level : "error" };
}

/** Turning more into a text costs more than it saves. */
const MAX_TEXT_BYTES = 16 * 1024;

/** Only a body in chunks has a place for trailers: node:http leaves them out elsewhere. */
function addTrailers({ trailers }: ProxyResponse, res: ServerResponse): void {
  const fields = trailers?.() ?? [];
  if (fields.length > 0) res.addTrailers(fields as [string, string][]);
}

const EMPTY = Buffer.alloc(0);

function bytesOf(body: string | Buffer): Buffer {
  return typeof body === "string" ? Buffer.from(body) : body;
}

/** Header values are bytes; text beyond them can only come from the configuration and goes out in UTF-8. */
function inLatin1(value: string): string {
  return /[^\u0000-\u00ff]/.test(value) ? Buffer.from(value).toString("latin1") : value;
}

function stream(
  body: Readable,
  response: ProxyResponse,
  res: ServerResponse,
  signal: CancelSignal,
): Promise<{ readonly bytes: number; readonly reason: string | undefined }> {
  // NaN if the response does not announce its length.
  const expectedBytes = Number(headerOf(response, "content-length") ?? Number.NaN);
  return new Promise((resolve) => {
    let bytes = 0;
    let ended = false;
    let reason: string | undefined;
    const breakOff = (why: string) => {
      if (!signal.aborted) reason ??= why;
      res.destroy();
    };
    body.on("data", (chunk: Buffer) => {
      bytes += chunk.length;
      if (!res.write(chunk)) body.pause();
    });
    res.on("drain", () => body.resume());
    body.once("end", () => {
      ended = true;
      // Less than announced (a file that was cut meanwhile): the client must see that something is missing.
      if (bytes < expectedBytes) breakOff(`${expectedBytes - bytes} bytes are missing`);
      else {
        addTrailers(response, res);
        res.end();
      }
    });
    // An answer that broke off in the middle breaks off for the client too, rather than looking complete.
    body.once("error", (error) => breakOff(error.message));
    const closed = () => {
      if (!ended) breakOff(body.errored?.message ?? "the body was closed before its end");
    };
    body.once("close", closed);
    res.once("close", () => {
      body.destroy();
      resolve({ bytes, reason });
    });
    // It broke off while a middleware waited for something else.
    if (body.closed) closed();
    // The first byte of an event stream may be long in coming; its head must not wait for it.
    setImmediate(() => {
      if (bytes === 0 && !ended && !res.destroyed) res.flushHeaders();
    });
  });
}
