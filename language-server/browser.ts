// The server in a worker of a browser. It can read no files there, so that features answer as they do in Node for a document
// that is on no disk: paths are neither completed nor checked, and only a tool.json that is open is a project's.
import {
  BrowserMessageReader,
  BrowserMessageWriter,
  createConnection,
  ProposedFeatures,
  ResponseError,
} from "vscode-languageserver/browser";
import { systemClock } from "../grammar/units/clock.ts";
import { type LanguageServerOptions, startServer } from "./server.ts";

// The globals of a worker, which TypeScript knows only together with the rest of the DOM.
declare const self: ConstructorParameters<typeof BrowserMessageReader>[0] & { close(): void };
declare const MessageChannel: new () => {
  readonly port1: { onmessage: () => void };
  readonly port2: { postMessage(message: undefined): void };
};

/** Serves the page that started this worker, by messages, until the page sends exit or ends the worker. */
export function serve(options: LanguageServerOptions): void {
  const connection = createConnection(
    ProposedFeatures.all,
    new BrowserMessageReader(self),
    new BrowserMessageWriter(self),
  );
  connection.onExit(() => self.close());
  const host = {
    connection,
    responseError: (code: number, message: string) => new ResponseError<void>(code, message),
    clock: systemClock,
    directoryOf: () => undefined,
    nextTurn: turns(),
  };
  startServer(host, options);
}

/** Messages of our own are read after those that have arrived. A timer would wait 4 ms once timers have set others. */
function turns(): () => Promise<void> {
  const waiting: (() => void)[] = [];
  const { port1, port2 } = new MessageChannel();
  port1.onmessage = () => waiting.shift()?.();
  return () =>
    new Promise((resolve) => {
      waiting.push(resolve);
      port2.postMessage(undefined);
    });
}
