import * as vscode from "vscode";
import {
  type BaseLanguageClient,
  ExecuteCommandRequest,
  type LanguageClientOptions,
  type Middleware,
  State,
} from "vscode-languageclient";
import { documentSelector } from "./document-selector.ts";
import { type WorkspaceProjects, workspaceSchemes } from "./projects.ts";
import { runServerCommand } from "./server-commands.ts";

/** After this many exits within three minutes the server stays down: it would fail again. "Restart Server" tries again. */
const MAX_RESTARTS = 4;

/** The address of a code's explanation, with `{code}` for the code: a command of this extension. */
export const EXPLANATION = "command:tool.explainProblem?%5B%22{code}%22%5D";

/** The language server: in a thread of Node, or in a worker of a browser. */
export interface LanguageServer {
  /** A client that starts the server when it is started, and again after a crash. */
  client(options: LanguageClientOptions): BaseLanguageClient;
  /** Ends the server if its client did not. */
  end(): Promise<void>;
}

export interface ClientParts {
  readonly output: vscode.LogOutputChannel;
  readonly projects: WorkspaceProjects;
  readonly server: LanguageServer;
  /** Changes to what the server answers. */
  readonly middleware?: Middleware;
}

/** The features of the editor that the language server serves. */
export class Client implements vscode.Disposable {
  readonly #parts: ClientParts;
  #client: BaseLanguageClient | undefined;
  #started: Promise<void> | undefined;

  constructor(parts: ClientParts) {
    this.#parts = parts;
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
    const { output, projects, server, middleware } = this.#parts;
    // A new one each time: a client whose server never answered can be neither stopped nor started.
    const client = server.client({
      documentSelector: documentSelector(workspaceSchemes()),
      // The editor's own JSON server reports syntax errors.
      initializationOptions: { syntax: false, documentation: EXPLANATION },
      outputChannel: output,
      connectionOptions: { maxRestartCount: MAX_RESTARTS },
      initializationFailedHandler: () => false,
      // The server's diagnostics, which are asked for, then have the name that the problem matcher has: what a task finds
      // in a file that is not open takes the place of what the server found, and nothing is listed twice.
      diagnosticCollectionName: "tool pushed",
      middleware: {
        ...middleware,
        // Sent here and not by the client, which shows what the server refuses as a failure.
        executeCommand: (command, args) =>
          runServerCommand(projects, args, (commandArgs) =>
            client.sendRequest(ExecuteCommandRequest.type, { command, arguments: [...commandArgs] }),
          ),
      },
    });
    this.#client = client;
    try {
      await client.start();
    } catch (error) {
      output.error("the language server does not start", error);
      void this.#sayThatItIsDown();
    }
  }

  async #stop(): Promise<void> {
    const { output, server } = this.#parts;
    await this.#client?.dispose().catch((error) => output.warn("the language server was ended", error));
    await server.end();
  }

  async #sayThatItIsDown(): Promise<void> {
    const show = "Show Output";
    const chosen = await vscode.window.showErrorMessage(
      "The language server of tool does not start. The output says why; Restart Server tries again.",
      show,
    );
    if (chosen === show) this.#parts.output.show();
  }
}
