import { createServer } from "node:net";

/** The first port above `port` that can be listened on just now; undefined where there is none among the next `tries`. */
export async function nextFreePort(host: string, port: number, tries: number): Promise<number | undefined> {
  for (let next = port + 1; next <= Math.min(65535, port + tries); next++) {
    if (await isFree(host, next)) return next;
  }
  return undefined;
}

function isFree(host: string, port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once("error", () => resolve(false));
    server.listen({ host, port, exclusive: true }, () => server.close(() => resolve(true)));
  });
}
