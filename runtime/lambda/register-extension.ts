import { connect, type Socket } from "node:net";

/** Path of the Extensions API, version 2020-01-01 ("Using the Lambda Extensions API to create extensions"). */
const EXTENSIONS = "/2020-01-01/extension";
const NAME = "tool";
/** The head of an answer that has what is needed; its body is not read. */
const IDENTIFIED = /^HTTP\/1\.1 200 [\s\S]*?\r\nlambda-extension-identifier: *([\x21-\x7e]+) *\r\n/i;
const CLOSES = /\r\nconnection: *close *\r\n/i;
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
    let head = "";
    const read = (bytes: Buffer) => {
      head += bytes.toString("latin1");
      if (!head.includes("\r\n\r\n") && head.length < MAX_HEAD_LENGTH) return;
      socket.off("data", read).resume();
      const [, identifier] = IDENTIFIED.exec(head) ?? [];
      // That it is ready. Without events there is no answer before the end.
      if (identifier !== undefined) {
        const next: Socket = CLOSES.test(head) ? open() : socket;
        next.unref().write(`${begin("GET", "event/next")}Lambda-Extension-Identifier: ${identifier}\r\n\r\n`);
      } else socket.destroy();
      resolve();
    };
    socket.on("data", read).on("close", () => resolve());
    const headers = `Lambda-Extension-Name: ${NAME}\r\nContent-Type: application/json\r\nContent-Length: ${body.length}`;
    socket.write(`${begin("POST", "register")}${headers}\r\n\r\n${body}`);
  });
}
