// The transport: vscode-languageserver over stdio or IPC. What is answered stands in service/methods.ts.
import { readdirSync, readFileSync, statSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { setFlagsFromString } from "node:v8";
import { isMainThread, type MessagePort } from "node:worker_threads";
import {
  type ApplyWorkspaceEditParams,
  type CancellationToken,
  CodeLensRefreshRequest,
  type Connection,
  createConnection,
  DidChangeConfigurationNotification,
  DidChangeWatchedFilesNotification,
  DocumentDiagnosticReportKind,
  DocumentFormattingRequest,
  ErrorCodes,
  type InitializeParams,
  type InitializeResult,
  LSPErrorCodes,
  PortMessageReader,
  PortMessageWriter,
  ProposedFeatures,
  ResponseError,
  TextDocumentSyncKind,
  TextDocuments,
} from "vscode-languageserver/node";
import { TextDocument } from "vscode-languageserver-textdocument";
import type { Diagnostic } from "vscode-languageserver-types";
import type { Directory } from "../schema/index.ts";
import {
  type ClientOptions,
  DEFAULT_SETTINGS,
  diagnose,
  kindOf,
  type Method,
  methods,
  type Project,
  type ProjectFile,
  plainMethods,
  readSettings,
  type Settings,
  ToolDocument,
  type WorkspaceMethod,
  workspaceMethods,
} from "./service/index.ts";

export interface ServerOptions {
  readonly version: string;
  /** Messages of the parent process instead of stdin and stdout. */
  readonly ipc?: boolean;
  /** Messages of a port instead, where the server is a thread of its client; what ends the process ends the thread then. */
  readonly port?: MessagePort;
  /** The address of a code's explanation, with `{code}` for the code, unless the client names its own. */
  readonly documentation?: string;
}

/** Pushed diagnostics wait until nobody has typed for so long: shorter than a glance at the line. */
const DEBOUNCE_MS = 120;

/** Work in steps lets others in after so long. A turn costs some microseconds, and one step may take several times this. */
const SLICE_MS = 5;

/**
 * How much garbage may pile up, in percent of what is in use. V8 would go to several times of that, in a process that
 * sits beside an editor all day; a long file takes about a third more processor time for it, a usual one none.
 */
const HEAP_GROWTH_PERCENT = 60;

/** How long a project's file is believed to be as it was last seen; clients that watch files end it earlier. */
const FILES_TTL_MS = 2000;

/** The section of an editor's settings that is ours. */
const SETTINGS = "tool";

/** Stands for all documents among those that wait. */
const REFRESH = "";

/** No setting means a file in there, and the development log grows with every request. */
const UNWATCHED = /\/(?:node_modules|\.git|\.tool)\//;

/** Serves until the client says exit, goes away, or closes the stream; then the process ends. Never returns. */
export function serve({ version, documentation, ...options }: ServerOptions): Promise<never> {
  // Of a process of its own: flags are for all threads.
  if (isMainThread) setFlagsFromString(`--heap-growing-percent=${HEAP_GROWTH_PERCENT}`);
  new Server(connect(options), version, documentation).listen();
  return new Promise(() => {});
}

function connect({ ipc = false, port }: Pick<ServerOptions, "ipc" | "port">): Connection {
  const features = ProposedFeatures.all;
  if (port !== undefined) {
    port.once("close", () => process.exit());
    return createConnection(features, new PortMessageReader(port), new PortMessageWriter(port));
  }
  return ipc ? createConnection(features) : createConnection(features, process.stdin, process.stdout);
}

class Server {
  readonly #connection: Connection;
  readonly #version: string;
  readonly #documentation: string | undefined;
  readonly #texts = new TextDocuments(TextDocument);
  readonly #documents = new WeakMap<TextDocument, ToolDocument>();
  readonly #projects = new Map<string, DiskProject>();
  readonly #methods: readonly Method[] = methods();
  readonly #workspaceMethods: readonly WorkspaceMethod[] = workspaceMethods();
  readonly #pending = new Map<string, NodeJS.Timeout>();
  /** Counts up when the files of the project changed: results before are of another state. */
  #epoch = 0;
  #phase: "new" | "serving" | "stopped" = "new";
  #client: ClientOptions = {
    snippets: false,
    markdown: false,
    syntax: true,
    createsFiles: false,
    settings: DEFAULT_SETTINGS,
  };
  #pulls = false;
  #refreshes = false;
  #watches = false;
  #changesFolders = false;
  #registersFormatting = false;
  /** How settings come, and what is asked for anew when they change. */
  #asksSettings = false;
  #registersSettings = false;
  #refreshesHints = false;
  #refreshesLenses = false;
  #folders: readonly string[] = [];

  constructor(connection: Connection, version: string, documentation: string | undefined) {
    this.#connection = connection;
    this.#version = version;
    this.#documentation = documentation;
  }

  listen(): void {
    const connection = this.#connection;
    connection.onInitialize((params) => this.#initialize(params));
    connection.onInitialized(() => this.#initialized());
    connection.onShutdown(() => {
      this.#phase = "stopped";
      for (const timer of this.#pending.values()) clearTimeout(timer);
      this.#pending.clear();
    });
    for (const row of this.#methods) {
      connection.onRequest(row.method, (params: DocumentParams, token: CancellationToken) =>
        this.#answer(row, params, token),
      );
    }
    for (const { method, answer } of plainMethods()) {
      connection.onRequest(method, (params: never) => this.#refusal() ?? answer(params, this.#client));
    }
    for (const row of this.#workspaceMethods) {
      connection.onRequest(row.method, (params: never) => this.#refusal() ?? this.#answerWorkspace(row, params));
    }
    connection.onRequest("textDocument/diagnostic", (params: PullParams, token: CancellationToken) =>
      this.#pull(params, token),
    );
    connection.onRequest("workspace/diagnostic", (params: WorkspacePullParams, token: CancellationToken) =>
      this.#pullWorkspace(params, token),
    );
    connection.onDidChangeWatchedFiles(({ changes }) => {
      if (changes.some(({ uri }) => !UNWATCHED.test(uri))) this.#filesChanged();
    });
    connection.onDidChangeConfiguration(({ settings }) => this.#settingsChanged(settings));
    this.#texts.onDidChangeContent(({ document }) => this.#changed(document));
    this.#texts.onDidClose(({ document }) => this.#closed(document));
    this.#texts.listen(connection);
    connection.listen();
  }

  /** What the protocol says to requests before `initialize` and after `shutdown`. */
  #refusal(): ResponseError<void> | undefined {
    if (this.#phase === "serving") return undefined;
    return this.#phase === "new"
      ? new ResponseError(ErrorCodes.ServerNotInitialized, "initialize comes first")
      : new ResponseError(ErrorCodes.InvalidRequest, "the server has been shut down");
  }

  #initialize({ capabilities, initializationOptions, workspaceFolders, rootUri }: InitializeParams): InitializeResult {
    this.#phase = "serving";
    const { textDocument, workspace } = capabilities;
    const item = textDocument?.completion?.completionItem;
    this.#client = {
      snippets: item?.snippetSupport === true,
      markdown: (textDocument?.hover?.contentFormat ?? item?.documentationFormat ?? []).includes("markdown"),
      syntax: initializationOptions?.syntax !== false,
      createsFiles: workspace?.workspaceEdit?.resourceOperations?.includes("create") === true,
      settings: DEFAULT_SETTINGS,
      documentation: textOr(initializationOptions?.documentation, this.#documentation),
    };
    this.#asksSettings = workspace?.configuration === true;
    this.#registersSettings = workspace?.didChangeConfiguration?.dynamicRegistration === true;
    this.#refreshesHints = workspace?.inlayHint?.refreshSupport === true;
    this.#refreshesLenses = workspace?.codeLens?.refreshSupport === true;
    this.#pulls = textDocument?.diagnostic !== undefined;
    this.#refreshes = workspace?.diagnostics?.refreshSupport === true;
    this.#watches = workspace?.didChangeWatchedFiles?.dynamicRegistration === true;
    this.#changesFolders = workspace?.workspaceFolders === true;
    this.#registersFormatting = textDocument?.formatting?.dynamicRegistration === true;
    this.#folders = workspaceFolders?.map(({ uri }) => uri) ?? (rootUri ? [rootUri] : []);
    return {
      serverInfo: { name: "tool", version: this.#version },
      capabilities: {
        positionEncoding: "utf-16",
        textDocumentSync: { openClose: true, change: TextDocumentSyncKind.Incremental },
        workspace: {
          workspaceFolders: { supported: true, changeNotifications: true },
          ...Object.assign({}, ...this.#workspaceMethods.map(({ workspaceCapability }) => workspaceCapability)),
        },
        ...(this.#pulls && {
          diagnosticProvider: { identifier: "tool", interFileDependencies: true, workspaceDiagnostics: true },
        }),
        ...Object.assign({}, ...[...this.#methods, ...this.#workspaceMethods].map(({ capability }) => capability)),
        // Where the client knows JSON it forms it too. VS Code would ask people to choose between the two formatters.
        // And it has an outline of the same text, which would be listed beside ours.
        ...(!this.#client.syntax && {
          documentFormattingProvider: false,
          documentRangeFormattingProvider: false,
          documentSymbolProvider: false,
        }),
      },
    };
  }

  #initialized(): void {
    const connection = this.#connection;
    if (this.#watches) {
      void connection.client
        .register(DidChangeWatchedFilesNotification.type, { watchers: [{ globPattern: "**/*" }] })
        .catch((error: unknown) => this.#log("cannot watch the project's files", error));
    }
    if (!this.#client.syntax && this.#registersFormatting) {
      void connection.client
        .register(DocumentFormattingRequest.type, { documentSelector: [{ language: "toolquery" }] })
        .catch((error: unknown) => this.#log("cannot offer to format queries", error));
    }
    if (this.#registersSettings) {
      void connection.client
        .register(DidChangeConfigurationNotification.type, { section: SETTINGS })
        .catch((error: unknown) => this.#log("cannot follow the settings", error));
    }
    if (this.#asksSettings) this.#settingsChanged(undefined);
    if (!this.#changesFolders) return;
    connection.workspace.onDidChangeWorkspaceFolders(({ added, removed }) => {
      const gone = new Set(removed.map(({ uri }) => uri));
      this.#folders = [...this.#folders.filter((uri) => !gone.has(uri)), ...added.map(({ uri }) => uri)];
      this.#filesChanged();
    });
  }

  /** Answers a row of the table. A feature that fails is a mistake of ours: it is logged, and the client goes on. */
  async #answer({ method, answer }: Method, params: DocumentParams, token: CancellationToken): Promise<unknown> {
    // What is behind this request in the stream is read first: a cancellation, or the change that makes it stale.
    await nextTurn();
    const refusal = this.#refusal();
    if (refusal !== undefined) return refusal;
    if (token.isCancellationRequested) return cancelled();
    const found = this.#find(params.textDocument.uri);
    if (found === undefined) return null;
    try {
      return unlessRefused(await answer({ ...found, client: this.#client, params: params as never }));
    } catch (error) {
      this.#log(`${method} failed`, error);
      return null;
    }
  }

  async #answerWorkspace({ method, isEdit, answer }: WorkspaceMethod, params: never): Promise<unknown> {
    await nextTurn();
    try {
      const result = unlessRefused(answer(params, this.#configs()));
      if (!isEdit || result === null || result instanceof ResponseError) return result;
      await this.#connection.workspace.applyEdit(result as ApplyWorkspaceEditParams);
      return null;
    } catch (error) {
      this.#log(`${method} failed`, error);
      return null;
    }
  }

  /** Every tool.json that is open or stands at the top of a workspace folder. */
  #configs(): ToolDocument[] {
    const open = this.#texts.all().flatMap(({ uri }) => this.#find(uri)?.document ?? []);
    const others = this.#folders
      .map((folder) => `${folder.replace(/\/+$/, "")}/tool.json`)
      .filter((uri) => this.#texts.get(uri) === undefined)
      .flatMap((uri) => this.#projectOf(uri).config() ?? []);
    return [...open.filter(({ kind }) => kind === "config"), ...others];
  }

  /** An open document as the features see it; undefined where the file is none of ours. */
  #find(uri: string): { document: ToolDocument; project: Project } | undefined {
    const text = this.#texts.get(uri);
    if (text === undefined) return undefined;
    const project = this.#projectOf(uri);
    const kind = kindOf(uri, text.languageId, project);
    if (kind === undefined) return undefined;
    const content = text.getText();
    let document = this.#documents.get(text);
    if (document?.version !== text.version || document.kind !== kind || document.text !== content) {
      document = new ToolDocument(uri, text.version, content, kind, document?.memory);
      this.#documents.set(text, document);
    }
    return { document, project };
  }

  #projectOf(uri: string): DiskProject {
    const folder = projectFolder(uri);
    let project = this.#projects.get(folder);
    if (project === undefined) {
      project = new DiskProject(folder, (configUri) => this.#openConfig(configUri));
      this.#projects.set(folder, project);
    }
    return project;
  }

  #openConfig(uri: string): ToolDocument | undefined {
    const text = this.#texts.get(uri);
    if (text === undefined) return undefined;
    const known = this.#documents.get(text);
    if (known?.version === text.version && known.text === text.getText()) return known;
    const document = new ToolDocument(uri, text.version, text.getText(), "config", known?.memory);
    this.#documents.set(text, document);
    return document;
  }

  #changed(text: TextDocument): void {
    if (this.#pulls) return;
    this.#pushSoon(text.uri);
    // What tool.json says decides which files are error pages, and what these and queries may name.
    if (!text.uri.endsWith("/tool.json")) return;
    for (const { uri } of this.#texts.all()) if (/\.(?:html|logq)$/.test(uri)) this.#pushSoon(uri);
  }

  #pushSoon(uri: string): void {
    clearTimeout(this.#pending.get(uri));
    const timer = setTimeout(() => {
      this.#pending.delete(uri);
      void this.#push(uri);
    }, DEBOUNCE_MS);
    this.#pending.set(uri, timer);
  }

  async #push(uri: string): Promise<void> {
    const version = this.#texts.get(uri)?.version;
    try {
      const isStale = () => this.#texts.get(uri)?.version !== version;
      const diagnostics = await this.#diagnose(uri, isStale);
      if (diagnostics === undefined || isStale()) return;
      await this.#connection.sendDiagnostics({ uri, ...(version !== undefined && { version }), diagnostics });
    } catch (error) {
      this.#log(`cannot check ${uri}`, error);
    }
  }

  /** The diagnostics of an open document, in slices; undefined where they became stale meanwhile. */
  async #diagnose(uri: string, isStale: () => boolean): Promise<Diagnostic[] | undefined> {
    const found = this.#find(uri);
    if (found === undefined || !this.#client.settings.diagnostics) return [];
    return this.#run(diagnose(found.document, found.project, this.#client), isStale);
  }

  async #run<T>(steps: Generator<undefined, T>, isStale: () => boolean): Promise<T | undefined> {
    let begin = performance.now();
    for (;;) {
      const step = steps.next();
      if (step.done) return step.value;
      if (performance.now() - begin < SLICE_MS) continue;
      await nextTurn();
      if (isStale()) return undefined;
      begin = performance.now();
    }
  }

  async #pull({ textDocument: { uri }, previousResultId }: PullParams, token: CancellationToken): Promise<unknown> {
    await nextTurn();
    const refusal = this.#refusal();
    if (refusal !== undefined) return refusal;
    const text = this.#texts.get(uri);
    const version = text?.version;
    const resultId = `${version}.${this.#epoch}`;
    if (text !== undefined && previousResultId === resultId) {
      return { kind: DocumentDiagnosticReportKind.Unchanged, resultId };
    }
    const isStale = () => token.isCancellationRequested || this.#texts.get(uri)?.version !== version;
    const items = isStale()
      ? undefined
      : await this.#diagnose(uri, isStale).catch((error: unknown): Diagnostic[] => {
          this.#log(`cannot check ${uri}`, error);
          return [];
        });
    if (items === undefined || token.isCancellationRequested) return cancelled();
    return { kind: DocumentDiagnosticReportKind.Full, resultId, items };
  }

  /** Every tool.json at the top of a workspace folder that is not open; the open ones are asked for one by one. */
  async #pullWorkspace({ previousResultIds }: WorkspacePullParams, token: CancellationToken): Promise<unknown> {
    await nextTurn();
    const refusal = this.#refusal();
    if (refusal !== undefined) return refusal;
    const items: unknown[] = [];
    const previous = new Map(previousResultIds.map(({ uri, value }) => [uri, value]));
    for (const folder of this.#client.settings.diagnostics ? this.#folders : []) {
      const uri = `${folder.replace(/\/+$/, "")}/tool.json`;
      const project = this.#projectOf(uri);
      const document = this.#texts.get(uri) === undefined ? project.config() : undefined;
      if (document === undefined) continue;
      const resultId = `disk.${this.#epoch}.${hash(document.text)}`;
      if (previous.get(uri) === resultId) {
        items.push({ kind: DocumentDiagnosticReportKind.Unchanged, uri, version: null, resultId });
        continue;
      }
      const steps = diagnose(document, project, { ...this.#client, syntax: true });
      const diagnostics = await this.#run(steps, () => token.isCancellationRequested);
      if (diagnostics === undefined) return cancelled();
      items.push({ kind: DocumentDiagnosticReportKind.Full, uri, version: null, resultId, items: diagnostics });
    }
    return { items };
  }

  /** Clients that are asked for settings say only that they changed; others send them. */
  #settingsChanged(sent: unknown): void {
    const section = this.#asksSettings
      ? this.#connection.workspace.getConfiguration(SETTINGS)
      : Promise.resolve((sent as Record<string, unknown> | null | undefined)?.[SETTINGS]);
    section
      .then((value: unknown) => this.#apply(readSettings(value)))
      .catch((error: unknown) => this.#log("cannot read the settings", error));
  }

  #apply(settings: Settings): void {
    const before = this.#client.settings;
    this.#client = { ...this.#client, settings };
    if (settings.inlayHints !== before.inlayHints && this.#refreshesHints)
      this.#connection.languages.inlayHint.refresh();
    if (settings.codeLens !== before.codeLens && this.#refreshesLenses) {
      void this.#connection.sendRequest(CodeLensRefreshRequest.type).catch(() => {});
    }
    const isOther = JSON.stringify(settings.severity) !== JSON.stringify(before.severity);
    if (settings.diagnostics !== before.diagnostics || isOther) this.#filesChanged();
  }

  #filesChanged(): void {
    this.#epoch++;
    for (const project of this.#projects.values()) project.forget();
    if (!this.#pulls) for (const { uri } of this.#texts.all()) this.#pushSoon(uri);
    if (!this.#pulls || !this.#refreshes) return;
    // A build changes files by the hundred: one question for all of them.
    clearTimeout(this.#pending.get(REFRESH));
    const timer = setTimeout(() => {
      this.#pending.delete(REFRESH);
      this.#connection.languages.diagnostics.refresh();
    }, DEBOUNCE_MS);
    this.#pending.set(REFRESH, timer);
  }

  #closed({ uri }: TextDocument): void {
    clearTimeout(this.#pending.get(uri));
    this.#pending.delete(uri);
    // What is not open says nothing: the client would show it for ever.
    if (!this.#pulls) void this.#connection.sendDiagnostics({ uri, diagnostics: [] });
    if (![...this.#texts.all()].some((text) => projectFolder(text.uri) === projectFolder(uri))) {
      this.#projects.delete(projectFolder(uri));
    }
  }

  #log(what: string, error: unknown): void {
    this.#connection.console.error(`${what}: ${error instanceof Error ? (error.stack ?? error.message) : error}`);
  }
}

interface DocumentParams {
  readonly textDocument: { readonly uri: string };
}
interface PullParams extends DocumentParams {
  readonly previousResultId?: string;
}
interface WorkspacePullParams {
  readonly previousResultIds: readonly { readonly uri: string; readonly value: string }[];
}

const textOr = (value: unknown, otherwise: string | undefined) => (typeof value === "string" ? value : otherwise);

const nextTurn = () => new Promise<void>((resolve) => setImmediate(resolve));

/** What was asked for and cannot be is an error with a sentence for the person who asked. */
function unlessRefused(answer: unknown): unknown {
  if (typeof answer === "object" && answer !== null && "refused" in answer) {
    return new ResponseError(LSPErrorCodes.RequestFailed, String(answer.refused));
  }
  return answer ?? null;
}

const cancelled = () => new ResponseError(LSPErrorCodes.RequestCancelled, "cancelled");

/** FNV-1a, to tell two texts apart. */
function hash(text: string): string {
  let value = 0x811c9dc5;
  for (let i = 0; i < text.length; i++) value = Math.imul(value ^ text.charCodeAt(i), 0x01000193);
  return (value >>> 0).toString(36);
}

/** The folder of the project that a document belongs to: the nearest one with a tool.json, else its own. With a slash. */
function projectFolder(uri: string): string {
  const own = uri.slice(0, uri.lastIndexOf("/") + 1);
  const path = pathOf(own);
  if (path === undefined || uri.endsWith("/tool.json")) return own;
  let folder = own;
  // Error pages and queries stand a few folders below at most.
  for (let level = 0; level < MAX_LEVELS_UP; level++) {
    const here = pathOf(`${folder}tool.json`);
    if (here !== undefined && statOf(here) === "file") return folder;
    const up = folder.slice(0, folder.lastIndexOf("/", folder.length - 2) + 1);
    if (up.length >= folder.length || !/^file:\/\/.*\/./.test(up)) break;
    folder = up;
  }
  return own;
}

const MAX_LEVELS_UP = 4;

/** A project's folder on disk. What was seen is believed for a moment: a keystroke must not read the disk again. */
class DiskProject implements Project {
  readonly uri: string;
  readonly directory?: Directory;
  readonly #path: string | undefined;
  readonly #open: (uri: string) => ToolDocument | undefined;
  readonly #seen = new Map<string, { readonly at: number; readonly value: unknown }>();

  constructor(uri: string, open: (uri: string) => ToolDocument | undefined) {
    this.uri = uri;
    this.#open = open;
    this.#path = pathOf(uri);
    if (this.#path === undefined) return;
    this.directory = {
      kind: (path) => this.#once(`kind ${path}`, () => statOf(`${this.#path}${path}`)),
      read: (path) => this.#once(`read ${path}`, () => attempt(() => readFileSync(`${this.#path}${path}`, "utf8"))),
      list: (path) => this.listFiles(path),
    };
  }

  listFiles(folder: string): readonly ProjectFile[] {
    if (this.#path === undefined) return [];
    return this.#once(`list ${folder}`, () => {
      const entries = attempt(() => readdirSync(`${this.#path}${folder}`, { withFileTypes: true })) ?? [];
      return entries.map((entry) => ({
        name: entry.name,
        kind: entry.isDirectory() ? ("directory" as const) : ("file" as const),
      }));
    });
  }

  config(): ToolDocument | undefined {
    const uri = `${this.uri}tool.json`;
    return (
      this.#open(uri) ??
      this.#once("config", () => {
        const text = this.directory?.read("tool.json");
        return text === undefined ? undefined : new ToolDocument(uri, 0, text, "config");
      })
    );
  }

  forget(): void {
    this.#seen.clear();
  }

  #once<T>(key: string, look: () => T): T {
    const now = performance.now();
    const known = this.#seen.get(key);
    if (known !== undefined && now - known.at < FILES_TTL_MS) return known.value as T;
    const value = look();
    this.#seen.set(key, { at: now, value });
    return value;
  }
}

function statOf(path: string): "file" | "directory" | undefined {
  const stat = attempt(() => statSync(path));
  return stat?.isFile() ? "file" : stat?.isDirectory() ? "directory" : undefined;
}

/** The path of a file's URI; undefined for documents that are on no disk. */
function pathOf(uri: string): string | undefined {
  return uri.startsWith("file:") ? attempt(() => fileURLToPath(uri)) : undefined;
}

function attempt<T>(read: () => T): T | undefined {
  try {
    return read();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === undefined) throw error;
    return undefined;
  }
}
