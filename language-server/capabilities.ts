import type { InitializeParams, InitializeResult } from "vscode-languageserver";
import { type ClientOptions, DEFAULT_SETTINGS, type Method, type WorkspaceMethod } from "./service/index.ts";

/** The abilities of the client, as it announced them at start. */
export interface ClientFeatures {
  /** The part that features ask for; replaced when settings change. */
  readonly options: ClientOptions;
  /** Whether it asks for diagnostics; otherwise they are pushed. */
  readonly pullsDiagnostics: boolean;
  readonly refreshesDiagnostics: boolean;
  readonly refreshesHints: boolean;
  readonly refreshesLenses: boolean;
  /** Whether it can be asked to show a page of the web. */
  readonly showsPages: boolean;
  /** Whether the server asks it for settings; otherwise it sends them. */
  readonly asksSettings: boolean;
  /** The features that the server may register after the answer to `initialize`. */
  readonly registersSettings: boolean;
  readonly registersWatchers: boolean;
  readonly registersFormatting: boolean;
  readonly changesFolders: boolean;
  /** Whether it compares the version that an edit is for with the one that it has. */
  readonly comparesVersions: boolean;
}

/**
 * `documentation` is the address of a code's explanation, unless the client names its own; `runsTool` says whether the host
 * can run the program, `hintsPro` whether settings of Pro get a hint.
 */
export function readClient(
  params: Partial<InitializeParams>,
  {
    documentation,
    runsTool = false,
    hintsPro = false,
  }: { documentation?: string | undefined; runsTool?: boolean; hintsPro?: boolean },
): ClientFeatures {
  const { capabilities = {}, initializationOptions } = params;
  const { textDocument, workspace, window } = capabilities;
  const item = textDocument?.completion?.completionItem;
  const ownDocumentation: unknown = initializationOptions?.documentation;
  return {
    options: {
      snippets: item?.snippetSupport === true,
      markdown: (textDocument?.hover?.contentFormat ?? item?.documentationFormat ?? []).includes("markdown"),
      syntax: initializationOptions?.syntax !== false,
      createsFiles: workspace?.workspaceEdit?.resourceOperations?.includes("create") === true,
      runsTool,
      ...(hintsPro && { hintsPro }),
      settings: DEFAULT_SETTINGS,
      documentation: typeof ownDocumentation === "string" ? ownDocumentation : documentation,
    },
    pullsDiagnostics: textDocument?.diagnostic !== undefined,
    refreshesDiagnostics: workspace?.diagnostics?.refreshSupport === true,
    refreshesHints: workspace?.inlayHint?.refreshSupport === true,
    refreshesLenses: workspace?.codeLens?.refreshSupport === true,
    showsPages: window?.showDocument?.support === true,
    asksSettings: workspace?.configuration === true,
    registersSettings: workspace?.didChangeConfiguration?.dynamicRegistration === true,
    registersWatchers: workspace?.didChangeWatchedFiles?.dynamicRegistration === true,
    registersFormatting: textDocument?.formatting?.dynamicRegistration === true,
    changesFolders: workspace?.workspaceFolders === true,
    comparesVersions: workspace?.workspaceEdit?.documentChanges === true,
  };
}

/** The capabilities that the server announces to a client: its own part, and that of each row of the tables. */
export function serverCapabilities(
  client: ClientFeatures,
  methods: readonly Method[],
  workspaceMethods: readonly WorkspaceMethod[],
): InitializeResult["capabilities"] {
  return {
    positionEncoding: "utf-16",
    textDocumentSync: { openClose: true, change: INCREMENTAL },
    workspace: {
      workspaceFolders: { supported: true, changeNotifications: true },
      ...Object.assign({}, ...workspaceMethods.map(({ workspaceCapability }) => workspaceCapability)),
    },
    ...(client.pullsDiagnostics && {
      diagnosticProvider: { identifier: "tool", interFileDependencies: true, workspaceDiagnostics: true },
    }),
    ...Object.assign({}, ...[...methods, ...workspaceMethods].map(({ capability }) => capability)),
    // A client that knows JSON formats it, too, and VS Code would ask users to choose between the two formatters. It also
    // has an outline of the same text, which would be listed next to ours.
    ...(!client.options.syntax && {
      documentFormattingProvider: false,
      documentRangeFormattingProvider: false,
      documentSymbolProvider: false,
    }),
  };
}

/** TextDocumentSyncKind.Incremental of the protocol. */
const INCREMENTAL = 2;
