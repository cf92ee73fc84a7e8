import { maxHeaderSize } from "node:http";
import type { Header } from "../exchange.ts";

/**
 * Anything that a header's value must not contain (RFC 9110, section 5.5): other than visible characters, blanks, tabs
 * and bytes beyond ASCII. A line end would begin another header.
 */
export const UNSENDABLE = /[^\t\x20-\x7e\x80-\xff]/;

/** The incoming bytes are no HTTP/1.1 response. The connection cannot be used any further. */
class MalformedResponse extends Error {}

export interface ResponseHead {
  readonly status: number;
  /** As it came: its characters are not looked at. */
  readonly reason: string;
  /** Without those that belong to the connection (RFC 9110, section 7.6.1). */
  readonly headers: Header[];
  /** The connection may carry another request afterwards. */
  readonly keepsAlive: boolean;
}

/** Takes a response in this order: interim heads, the head, parts of the body, the end. */
export interface ResponseSink {
  /** 102 and 103; 100 is ignored, since the body is sent without waiting. */
  interim(head: ResponseHead): void;
  head(head: ResponseHead): void;
  data(part: Buffer): void;
  end(trailers: readonly Header[]): void;
}

/** Limit of a head, and of the trailers. Node's own clients and servers have the same. */
const MAX_HEAD_BYTES = maxHeaderSize;
/** A chunk's size with its extensions, which nobody uses. */
const MAX_CHUNK_LINE_BYTES = 1024;

type State = "head" | "length" | "chunk-line" | "chunk" | "chunk-end" | "trailers" | "until-close" | "ended";

/**
 * Reads the responses of one connection, RFC 9112: one `begin` before each. Strict, as Node's parser is: both a length
 * and a transfer coding, two lengths, lone line feeds and control characters are refused, because others might read
 * such a response differently.
 */
export class ResponseParser {
  readonly #sink: ResponseSink;
  #state: State = "ended";
  #isHead = false;
  /** Bytes of the body or chunk that are still to come. */
  #left = 0;
  /** The begin of a head, a chunk's line or the trailers, whose end has not come yet. */
  #rest: Buffer | undefined;
  #hasBegun = false;

  constructor(sink: ResponseSink) {
    this.#sink = sink;
  }

  /** The next bytes are the response to a request with this method. */
  begin(method: string): void {
    this.#state = "head";
    this.#isHead = method === "HEAD";
    this.#hasBegun = false;
  }

  /** At least one byte of the response came. */
  get hasBegun(): boolean {
    return this.#hasBegun;
  }

  /** Throws MalformedResponse, also for bytes that come without a request. */
  read(bytes: Buffer): void {
    this.#hasBegun = true;
    let part = this.#rest === undefined ? bytes : Buffer.concat([this.#rest, bytes]);
    this.#rest = undefined;
    while (part.length > 0) {
      const used = this.#step(part);
      if (used === 0) {
        this.#rest = part;
        return;
      }
      part = used === part.length ? EMPTY : part.subarray(used);
    }
  }

  /** The other side has closed. Returns true if that was the end of the response. */
  close(): boolean {
    if (this.#state !== "until-close") return false;
    this.#end([]);
    return true;
  }

  /** Returns how many bytes were used; 0 if more are needed. */
  #step(part: Buffer): number {
    switch (this.#state) {
      case "head":
        return this.#readHead(part);
      case "length":
      case "chunk": {
        const size = Math.min(part.length, this.#left);
        this.#left -= size;
        this.#sink.data(size === part.length ? part : part.subarray(0, size));
        if (this.#left === 0) {
          if (this.#state === "chunk") this.#state = "chunk-end";
          else this.#end([]);
        }
        return size;
      }
      case "until-close":
        this.#sink.data(part);
        return part.length;
      case "chunk-line":
        return this.#readChunkLine(part);
      case "chunk-end":
        if (part.length < 2) return 0;
        if (part[0] !== CR || part[1] !== LF) throw new MalformedResponse("a chunk is longer than it says");
        this.#state = "chunk-line";
        return 2;
      case "trailers":
        return this.#readTrailers(part);
      case "ended":
        throw new MalformedResponse("bytes after the end of the response");
    }
  }

  #readHead(part: Buffer): number {
    // Some servers close a body with one line end too many.
    if (part[0] === CR && (part.length === 1 || part[1] === LF)) return part.length === 1 ? 0 : 2;
    const end = part.indexOf("\r\n\r\n");
    if (end === -1 || end > MAX_HEAD_BYTES) {
      if (part.length > MAX_HEAD_BYTES) throw new MalformedResponse(`headers of more than ${MAX_HEAD_BYTES} bytes`);
      if (part.includes("\n\n")) throw new MalformedResponse(LONE_LINE_END);
      // If the other end speaks another protocol (TLS, a shell's message), more is not waited for.
      if (!"HTTP/1.".startsWith(part.toString("latin1", 0, Math.min(7, part.length)))) {
        throw new MalformedResponse("it does not begin with HTTP/1.");
      }
      return 0;
    }
    const text = part.toString("latin1", 0, end);
    const lineEnd = text.indexOf("\r\n");
    const [, minor, status, reason = ""] =
      STATUS_LINE.exec(lineEnd === -1 ? text : text.slice(0, lineEnd)) ?? refuse("the first line is not a status line");
    const fields = readFields(lineEnd === -1 ? "" : text.slice(lineEnd + 2));
    this.#take(Number(status), reason, minor === "1", fields);
    return end + 4;
  }

  #take(status: number, reason: string, isHttp11: boolean, fields: Fields): void {
    const { headers, length, codings, connection } = fields;
    if (codings !== "" && length !== undefined) refuse("both Content-Length and Transfer-Encoding");
    if (codings !== "" && codings !== "chunked") refuse(`the transfer coding ${JSON.stringify(codings)}`);
    const keepsAlive = isHttp11 ? !connection.includes("close") : connection.includes("keep-alive");
    const head = { status, reason, headers, keepsAlive };
    if (status < 200) {
      if (status === 101 || status < 100) refuse(`the status ${status}`);
      if (status !== 100) this.#sink.interim(head);
      return;
    }
    const isBodiless = this.#isHead || status === 204 || status === 304;
    const isUntilClose = !isBodiless && codings === "" && length === undefined;
    this.#sink.head(isUntilClose ? { ...head, keepsAlive: false } : head);
    if (isBodiless || length === 0) this.#end([]);
    else if (isUntilClose) this.#state = "until-close";
    else if (length === undefined) this.#state = "chunk-line";
    else {
      this.#state = "length";
      this.#left = length;
    }
  }

  #readChunkLine(part: Buffer): number {
    const end = part.indexOf("\r\n");
    if (end === -1 || end > MAX_CHUNK_LINE_BYTES) {
      if (part.length > MAX_CHUNK_LINE_BYTES) refuse("a chunk without a size");
      return 0;
    }
    // Thirteen digits are 2^52 bytes.
    const [, size = ""] = CHUNK_LINE.exec(part.toString("latin1", 0, end)) ?? refuse("a chunk without a size");
    this.#left = Number.parseInt(size, 16);
    this.#state = this.#left === 0 ? "trailers" : "chunk";
    return end + 2;
  }

  #readTrailers(part: Buffer): number {
    if (part[0] === CR && part[1] === LF) {
      this.#end([]);
      return 2;
    }
    const end = part.indexOf("\r\n\r\n");
    if (end === -1 || end > MAX_HEAD_BYTES) {
      if (part.length > MAX_HEAD_BYTES) refuse(`trailers of more than ${MAX_HEAD_BYTES} bytes`);
      return 0;
    }
    const { headers } = readFields(part.toString("latin1", 0, end));
    // RFC 9110, section 6.5.1: what says how the message is to be read comes too late.
    this.#end(headers.filter(([name]) => !/^(?:content-length|content-encoding|content-type|host)$/i.test(name)));
    return end + 4;
  }

  #end(trailers: readonly Header[]): void {
    this.#state = "ended";
    this.#sink.end(trailers);
  }
}

interface Fields {
  /** Those for the client. */
  readonly headers: Header[];
  readonly length: number | undefined;
  /** The value of Transfer-Encoding in lower case; empty if there is none. */
  readonly codings: string;
  /** The tokens of Connection, in lower case. */
  readonly connection: readonly string[];
}

/** `Name: value` lines. */
function readFields(text: string): Fields {
  const headers: Header[] = [];
  const connection: string[] = [];
  let length: number | undefined;
  let codings = "";
  for (let at = 0; at < text.length; ) {
    let end = text.indexOf("\r\n", at);
    if (end === -1) end = text.length;
    const colon = text.indexOf(":", at);
    const name = colon === -1 || colon > end ? "" : text.slice(at, colon);
    if (!TOKEN.test(name)) refuse(`the header line ${JSON.stringify(text.slice(at, Math.min(end, at + 60)))}`);
    const value = fieldValue(text.slice(colon + 1, end));
    at = end + 2;
    switch (name.toLowerCase()) {
      case "content-length": {
        const parsed = /^\d{1,15}$/.test(value) ? Number(value) : refuse(`Content-Length ${JSON.stringify(value)}`);
        if (length !== undefined && length !== parsed) refuse("two different values of Content-Length");
        if (length === undefined) headers.push([name, value]);
        length = parsed;
        break;
      }
      case "transfer-encoding":
        codings = codings === "" ? value.toLowerCase() : `${codings}, ${value.toLowerCase()}`;
        break;
      case "connection":
        for (const token of value.split(",")) connection.push(token.trim().toLowerCase());
        break;
      case "keep-alive":
      case "proxy-authenticate":
      case "proxy-authorization":
      case "proxy-connection":
      case "te":
      case "trailer":
      case "upgrade":
        break;
      default:
        headers.push([name, value]);
    }
  }
  const named = connection.filter((token) => token !== "close" && token !== "keep-alive");
  return {
    headers: named.length === 0 ? headers : headers.filter(([name]) => !named.includes(name.toLowerCase())),
    length,
    codings,
    connection,
  };
}

/** Without the blanks around it. */
function fieldValue(text: string): string {
  if (UNSENDABLE.test(text)) refuse("a control character in a header");
  let from = 0;
  let to = text.length;
  while (from < to && isBlank(text.charCodeAt(from))) from++;
  while (to > from && isBlank(text.charCodeAt(to - 1))) to--;
  return text.slice(from, to);
}

const isBlank = (code: number) => code === 0x20 || code === 0x09;

function refuse(what: string): never {
  throw new MalformedResponse(what);
}

const CR = 13;
const LF = 10;
const EMPTY = Buffer.alloc(0);
const LONE_LINE_END = "lines that do not end in CR LF";
const STATUS_LINE = /^HTTP\/1\.([01]) (\d{3})(?: ([^\r\n]*))?$/;
const CHUNK_LINE = /^([\da-f]{1,13})[\t ]*(?:;[\t\x20-\x7e\x80-\xff]*)?$/i;
/** RFC 9110, section 5.6.2. */
const TOKEN = /^[!#$%&'*+\-.^_`|~\dA-Za-z]+$/;
