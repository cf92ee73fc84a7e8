import { connect, type Socket } from "node:net";

/** Path of the Extensions API, version 2020-01-01 ("Using the Lambda Extensions API to create extensions"). */
const EXTENSIONS = "/2020-01-01/extension";
const NAME = "tool";
/** Answers before the answer, such as 100 Continue. */
const INTERIM = /^(?:HTTP\/1\.1 1\d\d(?=[ \r])[\s\S]*?\r\n\r\n)+/;
/** The head of an answer that has what is needed; its body is not read. */
const IDENTIFIED = /^HTTP\/1\.[01] 200(?=[ \r])[\s\S]*?\r\nlambda-extension-identifier:[ \t]*([\x21-\x7e]+)[ \t]*\r\n/i;
const CLOSES = /^HTTP\/1\.0|\r\nconnection:(?:[^\r]*,)?[ \t]*close[ \t]*[,\r]/i;
const MAX_HEAD_LENGTH = 16_384;

/**
 * Registers an internal extension at a Runtime API, an address that may have a path: a part of this process that wants no
 * events, only to be there, as the platform sends SIGTERM before SIGKILL only then. Resolves once the platform has answered,
 * whatever it was, or cannot be asked: emulators without extensions end functions without a word.
 *
 * Both requests go over one socket without `node:http`, each of whose requests takes longer than all of this: they are in the
 * way of each cold start.
 */
export function registerExtension(address: string): Promise<void> {
  const [, host = "", port, path] = /^(.*?)(?::(\d+))?(\/.*)?$/.exec(address) ?? [];
  const body = '{"events":[]}';
  const authority = address.slice(0, address.length - (path?.length ?? 0));
  const begin = (method: string, name: string) =>
    `${method} ${path ?? ""}${EXTENSIONS}/${name} HTTP/1.1\r\nHost: ${authority}\r\n`;
  const open = () => connect({ host: host.replace(/^\[|\]$/g, ""), port: Number(port ?? 80) }).on("error", () => {});
  return new Promise((resolve) => {
    const socket = open();
    let received = "";
    const read = (bytes: Buffer) => {
      received += bytes.toString("latin1");
      const [head, ...rest] = received.replace(INTERIM, "").split("\r\n\r\n", 2) as [string, string?];
      if (rest.length === 0 && received.length < MAX_HEAD_LENGTH) return;
      socket.off("data", read).resume();
      const [, identifier] = IDENTIFIED.exec(`${head}\r\n`) ?? [];
      // That it is ready. Without events there is no answer before the end.
      const ask = (next: Socket) =>
        next
          .unref()
          .resume()
          .write(`${begin("GET", "event/next")}Lambda-Extension-Identifier: ${identifier}\r\n\r\n`);
      if (identifier === undefined) socket.destroy();
      else if (CLOSES.test(`${head}\r\n`)) ask(open());
      else {
        ask(socket);
        // Some end a connection after an answer without a word of it, and wait for the question all the same.
        socket.once("close", () => ask(open()));
      }
      resolve();
    };
    socket.on("data", read).on("close", () => resolve());
    const headers = `Lambda-Extension-Name: ${NAME}\r\nContent-Type: application/json\r\nContent-Length: ${body.length}`;
    socket.write(`${begin("POST", "register")}${headers}\r\n\r\n${body}`);
  });
}
