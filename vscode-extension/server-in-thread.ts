import { join } from "node:path";
import { MessageChannel, Worker } from "node:worker_threads";
import type * as vscode from "vscode";
import {
  LanguageClient,
  type LanguageClientOptions,
  type MessageTransports,
  PortMessageReader,
  PortMessageWriter,
} from "vscode-languageclient/node";
import type { LanguageServer } from "./client.ts";
import { answer } from "./run-for-server.ts";

/** The server holds a few texts and trees; without a limit a bug in it would crash the extension host too. */
const MAX_HEAP_MIB = 512;

/** The language server in a thread of the extension host. */
export class ServerInThread implements LanguageServer {
  readonly #context: vscode.ExtensionContext;
  readonly #output: vscode.LogOutputChannel;
  #worker: Worker | undefined;

  constructor(context: vscode.ExtensionContext, output: vscode.LogOutputChannel) {
    this.#context = context;
    this.#output = output;
  }

  client(options: LanguageClientOptions): LanguageClient {
    return new LanguageClient("tool", "tool", () => Promise.resolve(this.#connect()), options);
  }

  async end(): Promise<void> {
    await this.#worker?.terminate();
  }

  #connect(): MessageTransports {
    const { port1, port2 } = new MessageChannel();
    const { version } = this.#context.extension.packageJSON as { version: string };
    const worker = new Worker(join(this.#context.extensionPath, "dist/server.cjs"), {
      name: "tool language server",
      workerData: { port: port2, version },
      transferList: [port2],
      // Not those of the extension host: an inspector, for one, can listen on its port only once.
      execArgv: [],
      resourceLimits: { maxOldGenerationSizeMb: MAX_HEAP_MIB },
    });
    worker.on("message", answer);
    // The port closes with the thread; that is what the client takes for a crash.
    worker.on("error", (error) => this.#output.error("the language server failed", error));
    // A client that gave up on a server does not end it.
    void this.#worker?.terminate();
    this.#worker = worker;
    return { reader: new PortMessageReader(port1), writer: new PortMessageWriter(port1) };
  }
}
