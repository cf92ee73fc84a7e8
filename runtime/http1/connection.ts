import { connect, type Socket } from "node:net";
import { Readable } from "node:stream";
import type { Header } from "../exchange.ts";
import { type ResponseHead, ResponseParser, UNSENDABLE } from "./response-parser.ts";

export interface OutgoingRequest {
  readonly method: string;
  /** Path and query, as they go over the wire. */
  readonly target: string;
  readonly headers: readonly Header[];
  readonly body: Readable | undefined;
  /** As Content-Length among the headers says; undefined: sent in chunks. */
  readonly bodyBytes: number | undefined;
}

export interface IncomingResponse extends ResponseHead {
  /** A whole body if it came along with the head, as most do. */
  readonly body: Buffer | Readable;
  /** Known when the body has ended. */
  trailers(): readonly Header[];
}

/** Takes the outcome of one request. Exactly one of `response` and `failed` is called. */
export interface ExchangeOutcome {
  interim(head: ResponseHead): void;
  response(response: IncomingResponse): void;
  failed(error: Error, how: { readonly wasSent: boolean; readonly hasAnswered: boolean }): void;
}

export interface ConnectionOptions {
  readonly host: string;
  readonly port: number;
  /** The connection may take the next request. */
  readonly onIdle: (connection: Connection) => void;
  readonly onClosed: (connection: Connection) => void;
}

/** A connection to the app, with one request at a time. */
export class Connection {
  readonly #options: ConnectionOptions;
  readonly #socket: Socket;
  readonly #parser: ResponseParser;
  #isConnected = false;
  #isDestroyed = false;
  #transfer: Transfer | undefined;

  constructor(options: ConnectionOptions) {
    this.#options = options;
    this.#parser = new ResponseParser({
      interim: (head) => this.#transfer?.outcome.interim(head),
      head: (head) => {
        if (this.#transfer !== undefined) this.#transfer.head = head;
      },
      data: (part) => this.#transfer?.take(part),
      end: (trailers) => this.#transfer?.end(trailers),
    });
    const socket = connect({ host: options.host, port: options.port, noDelay: true });
    this.#socket = socket;
    socket.on("connect", () => {
      this.#isConnected = true;
    });
    socket.on("data", (bytes) => this.#read(bytes));
    socket.on("end", () => this.#closed(new Error("the app closed the connection")));
    socket.on("error", (error) => this.#closed(error));
    socket.on("close", () => this.#closed(new Error("the connection was closed")));
  }

  /** Returns a function that gives the request up. Throws if it cannot be sent as it is; nothing has been sent then. */
  send(request: OutgoingRequest, outcome: ExchangeOutcome): () => void {
    const head = headOf(request);
    const { method, body, bodyBytes } = request;
    this.#parser.begin(method);
    const transfer = new Transfer(outcome, this.#socket, body);
    this.#transfer = transfer;
    // A GET is sent again in any case.
    if (body === undefined && method === "GET") this.#socket.write(head, "latin1");
    else if (body === undefined) this.#write(head, transfer);
    else {
      // The head goes into one packet with what there is of the body, but does not wait for more of it.
      this.#socket.cork();
      const tried = this.#write(head, transfer, true);
      setImmediate(() => {
        this.#socket.uncork();
        tried();
      });
      this.#sendBody(body, bodyBytes, transfer);
    }
    return () => {
      if (this.#transfer === transfer) this.destroy();
    };
  }

  /**
   * Writes a head and notices if the first try fails: the socket was dead before, and the app has seen nothing. A
   * write that fails later may have brought some of its bytes to the app.
   */
  #write(head: string, transfer: Transfer, isCorked = false): () => void {
    transfer.isTried = !isCorked;
    let isFirstTry = true;
    this.#socket.write(head, "latin1", (error) => {
      if (error && isFirstTry) transfer.isTried = false;
    });
    // Node reports a write that failed at once in the next tick, before this.
    const tried = () => {
      transfer.isTried = true;
      process.nextTick(() => {
        isFirstTry = false;
      });
    };
    if (!isCorked) tried();
    return tried;
  }

  destroy(error?: Error): void {
    this.#closed(error ?? new Error("given up"));
  }

  #sendBody(body: Readable, bodyBytes: number | undefined, transfer: Transfer): void {
    const socket = this.#socket;
    let sentBytes = 0;
    // The request may be over, and the connection with it, before its body is.
    const isOurs = () => this.#transfer === transfer;
    const onDrain = () => body.resume();
    socket.on("drain", onDrain);
    body.on("data", (part: Buffer) => {
      if (!isOurs() || part.length === 0) return;
      sentBytes += part.length;
      let hasRoom: boolean;
      if (bodyBytes === undefined) {
        socket.cork();
        socket.write(`${part.length.toString(16)}\r\n`, "latin1");
        socket.write(part);
        hasRoom = socket.write("\r\n", "latin1");
        socket.uncork();
      } else if (sentBytes > bodyBytes) {
        // The app would read the rest as another request.
        this.#closed(new Error("the body is longer than its Content-Length"));
        return;
      } else hasRoom = socket.write(part);
      if (!hasRoom) body.pause();
    });
    body.once("end", () => {
      socket.off("drain", onDrain);
      if (!isOurs()) return;
      if (bodyBytes === undefined) socket.write("0\r\n\r\n", "latin1");
      else if (sentBytes < bodyBytes) this.#closed(new Error("the body is shorter than its Content-Length"));
      transfer.isSent = true;
    });
    body.once("error", (error) => {
      socket.off("drain", onDrain);
      if (isOurs()) this.#closed(error);
    });
  }

  #read(bytes: Buffer): void {
    const transfer = this.#transfer;
    try {
      this.#parser.read(bytes);
    } catch (error) {
      this.#closed(error as Error);
      return;
    }
    if (transfer === undefined) return;
    transfer.settle(this);
    this.#release(transfer);
  }

  /** After a whole response to a whole request, the connection is free for the next. */
  #release(transfer: Transfer): void {
    if (!transfer.hasEnded || this.#transfer !== transfer) return;
    // An answer before the end of the request (a refusal): the app may never read the rest.
    if (!transfer.head!.keepsAlive || !transfer.isSent) {
      this.#closed(new Error("the response was the last one"));
      return;
    }
    this.#transfer = undefined;
    if (this.#socket.isPaused()) this.#socket.resume();
    this.#options.onIdle(this);
  }

  #closed(error: Error): void {
    if (this.#isDestroyed) return;
    this.#isDestroyed = true;
    this.#socket.destroy();
    const transfer = this.#transfer;
    const isEnd = transfer?.head !== undefined && !transfer.hasEnded && this.#parser.close();
    this.#transfer = undefined;
    this.#options.onClosed(this);
    if (transfer === undefined) return;
    // Bytes after the end of a response cost the connection, but not the response.
    if (isEnd || transfer.hasEnded) transfer.settle(this);
    else {
      transfer.fail(error, { wasSent: this.#isConnected && transfer.isTried, hasAnswered: this.#parser.hasBegun });
    }
    // The sender waits until its body is read.
    if (!transfer.isSent) transfer.requestBody?.resume();
  }
}

/** A request on its way, and its response. */
class Transfer {
  readonly outcome: ExchangeOutcome;
  readonly requestBody: Readable | undefined;
  readonly #socket: Socket;
  head: ResponseHead | undefined;
  /** The whole request has been sent. */
  isSent: boolean;
  /** Some of it may have reached the app. */
  isTried = true;
  /** The response came to its end. */
  hasEnded = false;
  #parts: Buffer[] = [];
  #body: ResponseBody | undefined;
  #isSettled = false;
  #trailers: readonly Header[] = [];

  constructor(outcome: ExchangeOutcome, socket: Socket, requestBody: Readable | undefined) {
    this.outcome = outcome;
    this.requestBody = requestBody;
    this.isSent = requestBody === undefined;
    this.#socket = socket;
  }

  take(part: Buffer): void {
    if (this.#body === undefined) this.#parts.push(part);
    else if (!this.#body.push(part)) this.#socket.pause();
  }

  end(trailers: readonly Header[]): void {
    this.hasEnded = true;
    this.#trailers = trailers;
    this.#body?.push(null);
  }

  /**
   * Called after each packet. Once the head is there, the response is passed on; with its whole body, if that is there too.
   */
  settle(connection: Connection): void {
    if (this.#isSettled || this.head === undefined) return;
    this.#isSettled = true;
    const trailers = () => this.#trailers;
    // The head is not spread: V8 takes a microsecond for a spread with more members after it.
    const { status, reason, headers, keepsAlive } = this.head;
    if (this.hasEnded) {
      const body = this.#parts.length === 1 ? this.#parts[0]! : Buffer.concat(this.#parts);
      this.outcome.response({ status, reason, headers, keepsAlive, body, trailers });
      return;
    }
    this.#body = new ResponseBody(this.#socket, connection, this);
    for (const part of this.#parts) this.take(part);
    this.#parts = [];
    this.outcome.response({ status, reason, headers, keepsAlive, body: this.#body, trailers });
  }

  fail(error: Error, how: { wasSent: boolean; hasAnswered: boolean }): void {
    if (this.#body !== undefined) this.#body.destroy(error);
    else if (!this.#isSettled) this.outcome.failed(error, how);
    this.#isSettled = true;
  }
}

/** An error before anybody listens (an error page is being read meanwhile) would end the process. */
const NOTHING = () => {};

/** The rest of a body that did not come along with its head. */
class ResponseBody extends Readable {
  readonly #socket: Socket;
  readonly #connection: Connection;
  readonly #transfer: Transfer;

  constructor(socket: Socket, connection: Connection, transfer: Transfer) {
    super();
    this.#socket = socket;
    this.#connection = connection;
    this.#transfer = transfer;
    this.on("error", NOTHING);
  }

  override _read(): void {
    if (!this.#transfer.hasEnded) this.#socket.resume();
  }

  override _destroy(error: Error | null, callback: (error: Error | null) => void): void {
    // The rest is not wanted: reading it to keep the connection may take forever.
    if (!this.#transfer.hasEnded) this.#connection.destroy(error ?? undefined);
    callback(error);
  }
}

function headOf({ method, target, headers, body, bodyBytes }: OutgoingRequest): string {
  if (!TARGET.test(target)) throw new Error(`a request target that cannot be sent: ${JSON.stringify(target)}`);
  let head = `${method} ${target} HTTP/1.1\r\n`;
  for (const [name, value] of headers) {
    if (UNSENDABLE.test(value)) throw new Error(`a header value that cannot be sent: ${name}`);
    head += `${name}: ${value}\r\n`;
  }
  if (body !== undefined && bodyBytes === undefined) head += "Transfer-Encoding: chunked\r\n";
  return `${head}Connection: keep-alive\r\n\r\n`;
}

const TARGET = /^[\x21-\xff]+$/;
