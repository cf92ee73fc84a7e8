import { join } from "node:path";
import { MessageChannel, Worker } from "node:worker_threads";
import * as vscode from "vscode";
import {
  ExecuteCommandRequest,
  LanguageClient,
  type MessageTransports,
  PortMessageReader,
  PortMessageWriter,
  State,
} from "vscode-languageclient/node";
import { documentSelector } from "./document-selector.ts";
import type { WorkspaceProjects } from "./projects.ts";
import { answer } from "./run-for-server.ts";
import { runServerCommand } from "./server-commands.ts";

/** After this many exits within three minutes the server stays down: it would fail again. "Restart Server" tries again. */
const MAX_RESTARTS = 4;

/** The server holds a few texts and trees; without a limit a bug in it would crash the extension host too. */
const MAX_HEAP_MIB = 512;

/** The address of a code's explanation, with `{code}` for the code: a command of this extension. */
export const EXPLANATION = "command:tool.explainProblem?%5B%22{code}%22%5D";

/** The language server in a thread, and the features of the editor that it serves. */
export class Client implements vscode.Disposable {
  readonly #context: vscode.ExtensionContext;
  readonly #output: vscode.LogOutputChannel;
  readonly #projects: WorkspaceProjects;
  #client: LanguageClient | undefined;
  #worker: Worker | undefined;
  #started: Promise<void> | undefined;

  constructor(context: vscode.ExtensionContext, output: vscode.LogOutputChannel, projects: WorkspaceProjects) {
    this.#context = context;
    this.#output = output;
    this.#projects = projects;
  }

  /**
   * Starts the server unless it was started before. If it does not start, a message says so and the rest works without it.
   */
  start(): Promise<void> {
    this.#started ??= this.#start();
    return this.#started;
  }

  async restart(): Promise<void> {
    await this.#stop();
    this.#started = this.#start();
    await this.#started;
  }

  /** Asks the server, once it is there; undefined if it is down. */
  async request<Result>(method: string, params: object): Promise<Result | undefined> {
    await this.start();
    return this.#client?.state === State.Running ? this.#client.sendRequest<Result>(method, params) : undefined;
  }

  async notify(method: string, params: object): Promise<void> {
    await this.start();
    if (this.#client?.state === State.Running) await this.#client.sendNotification(method, params);
  }

  async dispose(): Promise<void> {
    await this.#stop();
  }

  async #start(): Promise<void> {
    // A new one each time: a client whose server never answered can be neither stopped nor started.
    const client = new LanguageClient("tool", "tool", () => Promise.resolve(this.#connect()), {
      documentSelector: documentSelector(),
      // The editor's own JSON server reports syntax errors.
      initializationOptions: { syntax: false, documentation: EXPLANATION },
      outputChannel: this.#output,
      connectionOptions: { maxRestartCount: MAX_RESTARTS },
      initializationFailedHandler: () => false,
      // The server's diagnostics, which are asked for, then have the name that the problem matcher has: what a task finds
      // in a file that is not open takes the place of what the server found, and nothing is listed twice.
      diagnosticCollectionName: "tool pushed",
      middleware: {
        // Sent here and not by the client, which shows what the server refuses as a failure.
        executeCommand: (command, args) =>
          runServerCommand(this.#projects, args, (commandArgs) =>
            client.sendRequest(ExecuteCommandRequest.type, { command, arguments: [...commandArgs] }),
          ),
      },
    });
    this.#client = client;
    try {
      await client.start();
    } catch (error) {
      this.#output.error("the language server does not start", error);
      void this.#sayThatItIsDown();
    }
  }

  async #stop(): Promise<void> {
    await this.#client?.dispose().catch((error) => this.#output.warn("the language server was ended", error));
    await this.#worker?.terminate();
  }

  async #sayThatItIsDown(): Promise<void> {
    const show = "Show Output";
    const chosen = await vscode.window.showErrorMessage(
      "The language server of tool does not start. The output says why; Restart Server tries again.",
      show,
    );
    if (chosen === show) this.#output.show();
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
