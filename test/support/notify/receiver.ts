// A receiver of webhooks on loopback: remembers what it is sent, and answers as a test wants.
import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from "node:http";
import { createServer as createTlsServer } from "node:https";
import type { AddressInfo } from "node:net";

export interface Received {
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

export interface Answer {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
}

/** An answer; nothing; the end of the connection; what is not HTTP; an answer without an end. */
export type Behavior = Answer | "hang" | "close" | "garbage" | "endless";

export interface Receiver {
  readonly url: string;
  readonly port: number;
  readonly requests: readonly Received[];
  /** The bodies as JSON. */
  // biome-ignore lint/suspicious/noExplicitAny: what came over the wire, looked at by every test in its own way.
  bodies(): any[];
  /** From now on it answers so, perhaps by the request. */
  behave(behavior: Behavior | ((received: Received) => Behavior)): void;
  /** Resolves when the connection of the last request is closed. */
  closed(): Promise<void>;
  /** Bytes of endless answers. */
  sentBytes(): number;
}

interface Test {
  teardown(handler: () => unknown): void;
}

/** Ends with the test. */
export async function startReceiver(
  t: Test,
  first: Behavior = { status: 200 },
  tls?: { readonly key: string; readonly cert: string },
): Promise<Receiver> {
  const requests: Received[] = [];
  let behave: (received: Received) => Behavior = () => first;
  let closed = Promise.resolve();
  let sentBytes = 0;
  const handle = async (request: IncomingMessage, response: ServerResponse) => {
    closed = new Promise((resolve) => request.socket.once("close", () => resolve()));
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const received = { path: request.url!, headers: request.headers, body: Buffer.concat(chunks).toString() };
    requests.push(received);
    const behavior = behave(received);
    if (behavior === "hang") return;
    if (behavior === "close") return void request.socket.destroy();
    if (behavior === "garbage") return void request.socket.end("+PONG\r\n");
    if (behavior === "endless") {
      response.writeHead(200);
      const block = Buffer.alloc(64 * 1024, "x");
      const write = () => {
        while (!response.destroyed) {
          sentBytes += block.length;
          if (!response.write(block)) return void response.once("drain", write);
        }
      };
      return write();
    }
    response.writeHead(behavior.status, behavior.headers).end(behavior.body ?? "");
  };
  const listener = (request: IncomingMessage, response: ServerResponse) => {
    // A sender that is killed is no failure of the receiver.
    handle(request, response).catch(() => {});
  };
  const server = tls === undefined ? createServer(listener) : createTlsServer(tls, listener);
  server.on("error", () => {});
  server.on("tlsClientError", () => {});
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  t.teardown(async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });
  const { port } = server.address() as AddressInfo;
  return {
    url: `${tls === undefined ? "http" : "https"}://127.0.0.1:${port}/hook`,
    port,
    requests,
    bodies: () => requests.map(({ body }) => JSON.parse(body)),
    behave(behavior) {
      behave = typeof behavior === "function" ? behavior : () => behavior;
    },
    closed: () => closed,
    sentBytes: () => sentBytes,
  };
}
