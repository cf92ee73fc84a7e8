import { connect, createServer, type Socket } from "node:net";

/** An app listens on one of them, or on all addresses: `localhost` is ::1 for some servers and 127.0.0.1 for others. */
const LOOPBACK = ["127.0.0.1", "::1"] as const;

/**
 * Below the ports that systems give to outgoing connections (from 32768 on Linux, 49152 elsewhere): an app that listens
 * seconds after its port was chosen would find one of those taken by a stranger's connection now and then.
 */
const FIRST_PORT = 20_000;
const LAST_PORT = 31_999;

/** If this many random ports are taken, all may be; the system then chooses one. */
const TRIES = 50;

/** A port that was free on 127.0.0.1 a moment ago; on ::1 it may be taken. Rejects if no port is free. */
export async function anyPort(random: () => number = Math.random): Promise<number> {
  for (let tries = 0; tries < TRIES; tries++) {
    // At random: two processes that look at the same moment rarely find the same one.
    const port = FIRST_PORT + Math.floor(random() * (LAST_PORT - FIRST_PORT + 1));
    try {
      return await listenOnce(port);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "EADDRINUSE") throw error;
    }
  }
  return listenOnce(0);
}

/** The port, which was listened on and is free again. */
function listenOnce(port: number): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once("error", reject);
    server.listen(port, "127.0.0.1", () => {
      const address = server.address();
      server.close(() => resolve((address as { port: number }).port));
    });
  });
}

/** The loopback address on which a process accepts connections to this port. */
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
