// A proxy on loopback, as companies have one: it connects to where it is sent, and keeps each CONNECT.
import { createServer, type IncomingHttpHeaders } from "node:http";
import { type AddressInfo, connect, type Socket } from "node:net";

export interface ConnectProxy {
  readonly url: string;
  /** By host and port, as `localhost:8443`. */
  readonly connects: { readonly to: string; readonly headers: IncomingHttpHeaders }[];
}

interface Test {
  teardown(handler: () => Promise<void>): void;
}

/** Starts one that ends with the test. */
export async function startConnectProxy(t: Test): Promise<ConnectProxy> {
  const connects: ConnectProxy["connects"] = [];
  const sockets = new Set<Socket>();
  const server = createServer((_, response) => void response.writeHead(405).end());
  server.on("connect", (request, client: Socket, head: Buffer) => {
    const { url: to = "", headers } = request;
    connects.push({ to, headers });
    const port = Number(to.slice(to.lastIndexOf(":") + 1));
    const target = connect(port, "127.0.0.1", () => {
      client.write("HTTP/1.1 200 Connection Established\r\n\r\n");
      target.write(head);
      client.pipe(target).pipe(client);
    });
    for (const socket of [client, target]) {
      sockets.add(socket);
      socket.on("error", () => {}).on("close", () => [client, target].map((one) => one.destroy()));
    }
  });
  await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
  t.teardown(
    () =>
      new Promise((done) => {
        for (const socket of sockets) socket.destroy();
        server.close(() => done());
      }),
  );
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, connects };
}
