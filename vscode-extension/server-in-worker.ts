import * as vscode from "vscode";
import {
  BrowserMessageReader,
  BrowserMessageWriter,
  LanguageClient,
  type LanguageClientOptions,
  type MessageTransports,
} from "vscode-languageclient/browser";
import type { LanguageServer } from "./client.ts";

// The workers of a browser, which TypeScript knows only together with the rest of the DOM.
declare const Worker: new (url: string) => ServerWorker;
type ServerWorker = ConstructorParameters<typeof BrowserMessageReader>[0] & {
  postMessage(message: WorkerStart): void;
  terminate(): void;
};

/** The first message to the worker. */
export interface WorkerStart {
  readonly version: string;
  /** The address of the folder of its script, with a slash at the end: a worker of the editor has no address of its own. */
  readonly folder: string;
}

/** The language server in a worker, where the extension itself runs in one. */
export class ServerInWorker implements LanguageServer {
  readonly #context: vscode.ExtensionContext;
  #worker: ServerWorker | undefined;

  constructor(context: vscode.ExtensionContext) {
    this.#context = context;
  }

  client(options: LanguageClientOptions): LanguageClient {
    return new LanguageClient("tool", "tool", () => Promise.resolve(this.#connect()), options);
  }

  async end(): Promise<void> {
    this.#worker?.terminate();
  }

  #connect(): MessageTransports {
    const { extension, extensionUri } = this.#context;
    const folder = `${vscode.Uri.joinPath(extensionUri, "dist").toString(true)}/`;
    const worker = new Worker(`${folder}web-server.js`);
    const { version } = extension.packageJSON as { version: string };
    worker.postMessage({ version, folder } satisfies WorkerStart);
    this.#worker?.terminate();
    this.#worker = worker;
    // Not the worker itself: the editor's class of workers is not the one that the client asks for.
    return { reader: new BrowserMessageReader(worker), writer: new BrowserMessageWriter(worker) };
  }
}
