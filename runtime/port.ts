import { connect, createServer, type Socket } from "node:net";

/** An app listens on one of them, or on all addresses: `localhost` is ::1 for some servers and 127.0.0.1 for others. */
const LOOPBACK = ["127.0.0.1", "::1"] as const;

/** A port that was free on 127.0.0.1 a moment ago; on ::1 it may be taken. */
export function anyPort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once("error", reject);
    server.listen(0, "127.0.0.1", () => {
      const address = server.address();
      server.close(() => resolve((address as { port: number }).port));
    });
  });
}

/** The loopback address on which somebody accepts connections to this port. */
export async function listeningHost(port: number): Promise<string | undefined> {
  const answers = await Promise.all(LOOPBACK.map((host) => accepts(host, port)));
  return LOOPBACK.find((_, i) => answers[i]);
}

function accepts(host: string, port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket: Socket = connect({ host, port });
    const answer = (accepted: boolean) => {
      socket.destroy();
      resolve(accepted);
    };
    // Loopback answers within microseconds; a full accept queue drops the packet instead.
    socket.setTimeout(250, () => answer(false));
    socket.once("connect", () => answer(true));
    socket.once("error", () => answer(false));
  });
}
