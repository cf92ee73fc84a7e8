import { join } from "node:path";
import { MessageChannel, Worker } from "node:worker_threads";
import type * as vscode from "vscode";
import {
  ExecuteCommandRequest,
  LanguageClient,
  type MessageTransports,
  PortMessageReader,
  PortMessageWriter,
  State,
} from "vscode-languageclient/node";
import { documentSelector } from "./document-selector.ts";
import type { Projects } from "./projects.ts";
import { runServerCommand } from "./server-commands.ts";

/** After so many ends within three minutes the server stays down: it would fail again. "Restart Server" tries anew. */
const MAX_RESTARTS = 4;

/** The server holds a few texts and trees; without a bound a mistake in it would take the extension host along. */
const MAX_HEAP_MIB = 512;

/** The language server in a thread, and the features of the editor that it serves. */
export class Client implements vscode.Disposable {
  readonly #client: LanguageClient;
  #worker: Worker | undefined;
  #isWanted = false;

  constructor(context: vscode.ExtensionContext, output: vscode.LogOutputChannel, projects: Projects) {
    const { version } = context.extension.packageJSON as { version: string };
    this.#client = new LanguageClient("tool", "tool", () => Promise.resolve(this.#connect(context, version, output)), {
      documentSelector: documentSelector(),
      // The editor's own JSON server says what is no JSON.
      initializationOptions: { syntax: false },
      outputChannel: output,
      connectionOptions: { maxRestartCount: MAX_RESTARTS },
      // The server's diagnostics, which are asked for, then have the name that the problem matcher has: what a task finds
      // in a file that is not open takes the place of what the server found, and nothing is listed twice.
      diagnosticCollectionName: "tool pushed",
      middleware: {
        // Sent here and not by the client, which shows what the server refuses as a failure.
        executeCommand: (command, args) =>
          runServerCommand(projects, args, (given) =>
            this.#client.sendRequest(ExecuteCommandRequest.type, { command, arguments: [...given] }),
          ),
      },
    });
  }

  get isRunning(): boolean {
    return this.#client.state === State.Running;
  }

  /** Starts the server unless it was started before; once it failed for good, only `restart` does. */
  async start(): Promise<void> {
    if (this.#isWanted) return;
    this.#isWanted = true;
    await this.#client.start();
  }

  async restart(): Promise<void> {
    this.#isWanted = true;
    await this.#client.restart();
  }

  /** Asks the server; waits for it to be there. */
  async request<Result>(method: string, params: object): Promise<Result> {
    await this.#client.start();
    return this.#client.sendRequest<Result>(method, params);
  }

  async notify(method: string, params: object): Promise<void> {
    await this.#client.start();
    return this.#client.sendNotification(method, params);
  }

  async dispose(): Promise<void> {
    await this.#client.dispose();
    await this.#worker?.terminate();
  }

  #connect(context: vscode.ExtensionContext, version: string, output: vscode.LogOutputChannel): MessageTransports {
    const { port1, port2 } = new MessageChannel();
    const worker = new Worker(join(context.extensionPath, "dist/server.cjs"), {
      name: "tool language server",
      workerData: { port: port2, version },
      transferList: [port2],
      // Not those of the extension host: an inspector, for one, can listen on its port only once.
      execArgv: [],
      resourceLimits: { maxOldGenerationSizeMb: MAX_HEAP_MIB },
    });
    // The port closes with the thread; that is what the client takes for a crash.
    worker.on("error", (error) => output.error("the language server failed", error));
    // A client that gave up on a server leaves it behind.
    void this.#worker?.terminate();
    this.#worker = worker;
    return { reader: new PortMessageReader(port1), writer: new PortMessageWriter(port1) };
  }
}
