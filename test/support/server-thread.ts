// The bundled language server of the extension, as the extension starts it: a thread with a message port.
import { join } from "node:path";
import { MessageChannel, Worker } from "node:worker_threads";
import { root } from "./cli.ts";

export interface ServerThread {
  request<Result = unknown>(method: string, params: object): Promise<Result>;
  notify(method: string, params: object): void;
  /** Closes the port without a word, as a client does that crashes. */
  hangUp(): void;
  /** The exit code of the thread. */
  readonly exited: Promise<number>;
}

export function startServerThread(): ServerThread {
  const { port1, port2 } = new MessageChannel();
  const worker = new Worker(join(root, "vscode-extension/dist/server.cjs"), {
    workerData: { port: port2, version: "1.2.3" },
    transferList: [port2],
  });
  const pending = new Map<number, { resolve: (result: never) => void; reject: (error: Error) => void }>();
  let count = 0;
  port1.on("message", ({ id, result, error }: { id?: number; result?: never; error?: { message: string } }) => {
    const one = id === undefined ? undefined : pending.get(id);
    if (error !== undefined) one?.reject(new Error(error.message));
    else one?.resolve(result!);
  });
  return {
    request: (method, params) =>
      new Promise((resolve, reject) => {
        pending.set(++count, { resolve, reject });
        port1.postMessage({ jsonrpc: "2.0", id: count, method, params });
      }),
    notify: (method, params) => port1.postMessage({ jsonrpc: "2.0", method, params }),
    hangUp: () => port1.close(),
    exited: new Promise((resolve, reject) => {
      worker.once("error", reject);
      worker.once("exit", resolve);
    }),
  };
}
