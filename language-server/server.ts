// The language server over any connection. What it answers is in service/methods.ts; how it is reached is up to the host,
// node.ts or browser.ts. Only types of the protocol library are imported here.
import type {
  ApplyWorkspaceEditParams,
  CancellationToken,
  DocumentDiagnosticParams,
  InitializeParams,
  InitializeResult,
  WorkspaceDiagnosticParams,
} from "vscode-languageserver";
import type { TextEdit as Edit } from "../grammar/problem.ts";
import { type ClientFeatures, readClient, serverCapabilities } from "./capabilities.ts";
import { Diagnostics } from "./diagnostics.ts";
import { cancelled, ErrorAnswer, failed, notInitialized, shutDown } from "./error-answer.ts";
import type { Host } from "./host.ts";
import { OpenDocuments } from "./open-documents.ts";
import {
  type EditorSettings,
  isPage,
  type Method,
  type Move,
  methods,
  plainMethods,
  Refusal,
  readSettings,
  type ToolDocument,
  type WorkspaceMethod,
  workspaceMethods,
} from "./service/index.ts";

export interface LanguageServerOptions {
  readonly version: string;
  /** The address of a code's explanation, with `{code}` for the code, unless the client names its own. */
  readonly documentation?: string | undefined;
  /** Whether settings of Pro get a hint, as the free edition does not deploy them. */
  readonly hintsPro?: boolean;
}

/** Serves the client at the other end of the host's connection, until that closes. */
export function startServer(host: Host, options: LanguageServerOptions): void {
  new Server(host, options).listen();
}

/** The section of an editor's settings that is ours. */
const SETTINGS = "tool";

/** No setting means a file in there, and the development log grows with every request. */
const UNWATCHED = /\/(?:node_modules|\.git|\.tool)\//;

class Server {
  readonly #host: Host;
  readonly #options: LanguageServerOptions;
  readonly #documents: OpenDocuments;
  readonly #diagnostics: Diagnostics;
  readonly #methods = methods();
  readonly #workspaceMethods = workspaceMethods();
  #phase: "new" | "serving" | "stopped" = "new";
  #client: ClientFeatures;
  #folders: readonly string[] = [];

  constructor(host: Host, options: LanguageServerOptions) {
    this.#host = host;
    this.#options = options;
    this.#client = readClient({}, {});
    this.#documents = new OpenDocuments(host, () => this.#lensesChanged());
    this.#diagnostics = new Diagnostics({
      host,
      documents: this.#documents,
      client: () => this.#client,
      log: (what, error) => this.#log(what, error),
    });
  }

  listen(): void {
    const { connection } = this.#host;
    connection.onInitialize((params) => this.#initialize(params));
    connection.onInitialized(() => this.#initialized());
    connection.onShutdown(() => {
      this.#phase = "stopped";
      this.#diagnostics.stop();
    });
    for (const row of this.#methods) {
      this.#onRequest(row.method, (params: DocumentParams, token) => this.#answer(row, params, token));
    }
    for (const { method, answer } of plainMethods()) {
      this.#onRequest(method, (params) => answer(params as never, this.#client.options));
    }
    for (const row of this.#workspaceMethods) {
      this.#onRequest(row.method, (params) => this.#answerWorkspace(row, params as never));
    }
    this.#onRequest("textDocument/diagnostic", (params: DocumentDiagnosticParams, token) =>
      this.#diagnostics.pull(params, token),
    );
    this.#onRequest("workspace/diagnostic", (params: WorkspaceDiagnosticParams, token) =>
      this.#diagnostics.pullWorkspace(params, this.#folders, token),
    );
    connection.onDidOpenTextDocument(({ textDocument }) => {
      this.#documents.open(textDocument);
      this.#diagnostics.textChanged(textDocument.uri);
    });
    connection.onDidChangeTextDocument((params) => {
      if (this.#documents.change(params)) this.#diagnostics.textChanged(params.textDocument.uri);
    });
    connection.onDidCloseTextDocument(({ textDocument: { uri } }) => {
      if (this.#documents.close(uri)) this.#diagnostics.textClosed(uri);
    });
    connection.onDidChangeWatchedFiles(({ changes }) => {
      if (changes.some(({ uri }) => !UNWATCHED.test(uri))) this.#filesChanged();
    });
    connection.onDidChangeConfiguration(({ settings }) => this.#settingsChanged(settings));
    connection.listen();
  }

  /** Registers the answer to a request, which waits for its turn and may throw a Refusal or an ErrorAnswer. */
  #onRequest<Params>(method: string, answer: (params: Params, token: CancellationToken) => unknown): void {
    this.#host.connection.onRequest(method, async (params: Params, token: CancellationToken) => {
      // Messages after this request in the stream are read first: a cancellation, or the change that makes it stale.
      await this.#host.nextTurn();
      try {
        if (this.#phase !== "serving") throw this.#phase === "new" ? notInitialized() : shutDown();
        return (await answer(params, token)) ?? null;
      } catch (error) {
        const failure = error instanceof Refusal ? failed(error.message) : error;
        if (failure instanceof ErrorAnswer) return this.#host.responseError(failure.code, failure.message);
        throw error;
      }
    });
  }

  #initialize(params: InitializeParams): InitializeResult {
    const { workspaceFolders, rootUri } = params;
    this.#phase = "serving";
    const { documentation, hintsPro = false } = this.#options;
    this.#client = readClient(params, { documentation, hintsPro, runsTool: this.#host.runTool !== undefined });
    this.#folders = workspaceFolders?.map(({ uri }) => uri) ?? (rootUri ? [rootUri] : []);
    return {
      serverInfo: { name: "tool", version: this.#options.version },
      capabilities: serverCapabilities(this.#client, this.#methods, this.#workspaceMethods),
    };
  }

  #initialized(): void {
    const { options, registersWatchers, registersFormatting, registersSettings, asksSettings, changesFolders } =
      this.#client;
    if (registersWatchers) {
      const watchers = [{ globPattern: "**/*" }];
      this.#register("workspace/didChangeWatchedFiles", { watchers }, "cannot watch the project's files");
    }
    if (!options.syntax && registersFormatting) {
      const documentSelector = [{ language: "toolquery" }];
      this.#register("textDocument/formatting", { documentSelector }, "cannot offer to format queries");
    }
    if (registersSettings) {
      this.#register("workspace/didChangeConfiguration", { section: SETTINGS }, "cannot follow the settings");
    }
    if (asksSettings) this.#settingsChanged(undefined);
    if (!changesFolders) return;
    this.#host.connection.workspace.onDidChangeWorkspaceFolders(({ added, removed }) => {
      const gone = new Set(removed.map(({ uri }) => uri));
      this.#folders = [...this.#folders.filter((uri) => !gone.has(uri)), ...added.map(({ uri }) => uri)];
      this.#filesChanged();
    });
  }

  /** Announces a method that the client wants to be told of after `initialize`. */
  #register(method: string, registerOptions: object, failure: string): void {
    this.#host.connection
      .sendRequest("client/registerCapability", { registrations: [{ id: method, method, registerOptions }] })
      .catch((error: unknown) => this.#log(failure, error));
  }

  /** Answers one row of the table. A feature that throws is our bug: it is logged and the client gets no result. */
  async #answer({ method, answer }: Method, params: DocumentParams, token: CancellationToken): Promise<unknown> {
    if (token.isCancellationRequested) throw cancelled();
    const projectDocument = this.#documents.find(params.textDocument.uri);
    if (projectDocument === undefined) return null;
    try {
      return await answer({ ...projectDocument, client: this.#client.options, params: params as never });
    } catch (error) {
      return this.#failed(method, error);
    }
  }

  async #answerWorkspace({ method, isEdit, answer }: WorkspaceMethod, params: never): Promise<unknown> {
    try {
      const result = answer(params, this.#documents.configs(this.#folders));
      if (isPage(result)) return this.#showPage(result.page);
      if (!isEdit) return result;
      if (isMove(result)) return this.#move(result);
      await this.#host.connection.workspace.applyEdit(result as ApplyWorkspaceEditParams);
      return null;
    } catch (error) {
      return this.#failed(method, error);
    }
  }

  /**
   * Runs the tool, and then asks the client for the change. Not waited for: some clients give up on an answer after ten
   * seconds, and what follows are messages anyway.
   */
  #move(move: Move): null {
    const { runTool } = this.#host;
    if (runTool === undefined) {
      throw new Refusal(`no process can be started here: run \`tool ${move.words.join(" ")}\` in a terminal`);
    }
    const run = async () => {
      const { folder, words, input, title, stages } = move;
      const result = await runTool({ folder, words, input, title, stages });
      if (result === undefined) return;
      if (!result.isDone) {
        this.#show(MESSAGE_TYPE.error, `${move.failed}: ${result.said.replace(/^error: /, "").trim()}`);
        return;
      }
      const now = this.#documents.configs(this.#folders).find(({ uri }) => uri === move.uri);
      const { edits, message, unchanged } = move.after(now, result.place);
      const isChanged = now !== undefined && edits.length > 0 && (await this.#change(now, edits, move.title));
      if (isChanged) this.#show(MESSAGE_TYPE.information, message);
      else this.#show(MESSAGE_TYPE.warning, unchanged);
    };
    run().catch((error: unknown) => {
      this.#log("tool cannot be run", error);
      this.#show(MESSAGE_TYPE.error, `${move.failed}: ${error instanceof Error ? error.message : error}`);
    });
    return null;
  }

  /** A notification: the library's own functions ask for an answer, which some clients do not give. */
  #show(type: number, message: string): void {
    this.#host.connection.sendNotification("window/showMessage", { type, message }).catch(() => {});
  }

  /** Returns false if the client says that it made no change. */
  async #change(document: ToolDocument, edits: readonly Edit[], label: string): Promise<boolean> {
    const { uri } = document;
    const changed = edits.map(({ span, text }) => ({ range: document.rangeOf(span), newText: text }));
    const version = this.#documents.versionOf(uri) ?? null;
    const edit = this.#client.comparesVersions
      ? { documentChanges: [{ textDocument: { uri, version }, edits: changed }] }
      : { changes: { [uri]: changed } };
    // Some clients answer nothing. Others answer an error if the user was asked and said no.
    const refused = { applied: false };
    const result = await this.#host.connection.workspace.applyEdit({ label, edit }).catch(() => refused);
    return result?.applied !== false;
  }

  /** Not waited for: some clients answer once the page is closed, others never. */
  #showPage(uri: string): null {
    const say = () => this.#show(MESSAGE_TYPE.information, uri);
    if (!this.#client.showsPages) say();
    else this.#host.connection.sendRequest("window/showDocument", { uri, external: true }).catch(say);
    return null;
  }

  #failed(method: string, error: unknown): null {
    if (error instanceof Refusal) throw error;
    this.#log(`${method} failed`, error);
    return null;
  }

  /** Clients that are asked for settings say only that they changed; others send them. */
  #settingsChanged(sent: unknown): void {
    const section = this.#client.asksSettings
      ? this.#host.connection.workspace.getConfiguration(SETTINGS)
      : Promise.resolve((sent as Record<string, unknown> | null | undefined)?.[SETTINGS]);
    section
      .then((value: unknown) => this.#apply(readSettings(value)))
      .catch((error: unknown) => this.#log("cannot read the settings", error));
  }

  #apply(settings: EditorSettings): void {
    const { options, refreshesHints, refreshesLenses } = this.#client;
    const before = options.settings;
    this.#client = { ...this.#client, options: { ...options, settings } };
    if (settings.inlayHints !== before.inlayHints && refreshesHints) {
      this.#host.connection.languages.inlayHint.refresh();
    }
    if (settings.codeLens !== before.codeLens && refreshesLenses) {
      this.#host.connection.sendRequest("workspace/codeLens/refresh").catch(() => {});
    }
    const isOther = JSON.stringify(settings.severity) !== JSON.stringify(before.severity);
    if (settings.traffic !== before.traffic) this.#lensesChanged();
    if (settings.diagnostics !== before.diagnostics || isOther) this.#filesChanged();
  }

  /** Lenses say how often rules were hit, and queries are checked by the fields of the log. */
  #lensesChanged(): void {
    if (this.#client.refreshesLenses) this.#host.connection.sendRequest("workspace/codeLens/refresh").catch(() => {});
    this.#diagnostics.allChanged();
  }

  #filesChanged(): void {
    this.#documents.forgetFiles();
    this.#diagnostics.allChanged();
  }

  #log(what: string, error: unknown): void {
    const { console } = this.#host.connection;
    console.error(`${what}: ${error instanceof Error ? (error.stack ?? error.message) : error}`);
  }
}

// MessageType of the protocol. Constants, so that its types are all that is imported.
const MESSAGE_TYPE = { error: 1, warning: 2, information: 3 } as const;

const isMove = (result: unknown): result is Move => typeof (result as Move | null)?.after === "function";

interface DocumentParams {
  readonly textDocument: { readonly uri: string };
}
