import type {
  CancellationToken,
  DocumentDiagnosticParams,
  DocumentDiagnosticReport,
  WorkspaceDiagnosticParams,
  WorkspaceDiagnosticReport,
  WorkspaceDocumentDiagnosticReport,
} from "vscode-languageserver";
import type { Diagnostic } from "vscode-languageserver-types";
import type { ClientFeatures } from "./capabilities.ts";
import { Debounce } from "./debounce.ts";
import { cancelled } from "./error-answer.ts";
import type { Host } from "./host.ts";
import type { OpenDocuments } from "./open-documents.ts";
import { diagnose } from "./service/index.ts";

/** Diagnostics are pushed when nothing was typed for this long: less than a glance at the line takes. */
const DEBOUNCE_MS = 120;

/**
 * Work in steps yields to other requests after this long. Yielding costs microseconds; one step may take longer than this.
 */
const SLICE_MS = 5;

/** The key of the request to pull everything again, among those of documents. */
const REFRESH = "";

/** Brings diagnostics to the client: pushed some time after a change, or pulled by the client, never both. */
export class Diagnostics {
  readonly #host: Host;
  readonly #documents: OpenDocuments;
  readonly #client: () => ClientFeatures;
  readonly #log: (what: string, error: unknown) => void;
  readonly #debounce: Debounce;
  /** Incremented when the project's files or the settings change: earlier diagnostics are then out of date. */
  #epoch = 0;

  constructor({ host, documents, client, log }: DiagnosticsParts) {
    this.#host = host;
    this.#documents = documents;
    this.#client = client;
    this.#log = log;
    this.#debounce = new Debounce(DEBOUNCE_MS, host.clock);
  }

  textChanged(uri: string): void {
    if (this.#client().pullsDiagnostics) return;
    this.#pushSoon(uri);
    // The content of tool.json decides which files are error pages, and what these and queries may name.
    if (!uri.endsWith("/tool.json")) return;
    for (const other of this.#documents.uris()) if (/\.(?:html|logq)$/.test(other)) this.#pushSoon(other);
  }

  textClosed(uri: string): void {
    this.#debounce.cancel(uri);
    // Otherwise the client would keep showing the problems of a file that is not open.
    if (!this.#client().pullsDiagnostics) void this.#host.connection.sendDiagnostics({ uri, diagnostics: [] });
  }

  /** The project's files, or the settings, have changed. */
  allChanged(): void {
    this.#epoch++;
    const { pullsDiagnostics, refreshesDiagnostics } = this.#client();
    if (!pullsDiagnostics) for (const uri of this.#documents.uris()) this.#pushSoon(uri);
    // A build changes files by the hundred: one request for all of them.
    else if (refreshesDiagnostics)
      this.#debounce.schedule(REFRESH, () => this.#host.connection.languages.diagnostics.refresh());
  }

  stop(): void {
    this.#debounce.cancelAll();
  }

  #pushSoon(uri: string): void {
    this.#debounce.schedule(uri, () => void this.#push(uri));
  }

  async #push(uri: string): Promise<void> {
    const version = this.#documents.versionOf(uri);
    const isStale = () => this.#documents.versionOf(uri) !== version;
    try {
      const diagnostics = await this.#check(uri, isStale);
      if (diagnostics === undefined || isStale()) return;
      await this.#host.connection.sendDiagnostics({ uri, ...(version !== undefined && { version }), diagnostics });
    } catch (error) {
      this.#log(`cannot check ${uri}`, error);
    }
  }

  async pull(
    { textDocument: { uri }, previousResultId }: DocumentDiagnosticParams,
    token: CancellationToken,
  ): Promise<DocumentDiagnosticReport> {
    const version = this.#documents.versionOf(uri);
    const resultId = `${version}.${this.#epoch}`;
    if (version !== undefined && previousResultId === resultId) return { kind: "unchanged", resultId };
    const isStale = () => token.isCancellationRequested || this.#documents.versionOf(uri) !== version;
    if (isStale()) throw cancelled();
    const items = await this.#check(uri, isStale).catch((error: unknown): Diagnostic[] => {
      this.#log(`cannot check ${uri}`, error);
      return [];
    });
    if (items === undefined || token.isCancellationRequested) throw cancelled();
    return { kind: "full", resultId, items };
  }

  /** Every tool.json at the top of a workspace folder that is not open; the open ones are asked for one by one. */
  async pullWorkspace(
    { previousResultIds }: WorkspaceDiagnosticParams,
    folders: readonly string[],
    token: CancellationToken,
  ): Promise<WorkspaceDiagnosticReport> {
    const { options } = this.#client();
    const items: WorkspaceDocumentDiagnosticReport[] = [];
    if (!options.settings.diagnostics) return { items };
    const previous = new Map(previousResultIds.map(({ uri, value }) => [uri, value]));
    for (const { document, project } of this.#documents.savedConfigs(folders)) {
      const { uri, text } = document;
      const resultId = `disk.${this.#epoch}.${hash(text)}`;
      if (previous.get(uri) === resultId) {
        items.push({ kind: "unchanged", uri, version: null, resultId });
        continue;
      }
      const steps = diagnose(document, project, { ...options, syntax: true });
      const diagnostics = await inSlices(steps, this.#host, () => token.isCancellationRequested);
      if (diagnostics === undefined) throw cancelled();
      items.push({ kind: "full", uri, version: null, resultId, items: diagnostics });
    }
    return { items };
  }

  /** The diagnostics of an open document; undefined if they became stale in the meantime. */
  async #check(uri: string, isStale: () => boolean): Promise<Diagnostic[] | undefined> {
    const projectDocument = this.#documents.find(uri);
    const { options } = this.#client();
    if (projectDocument === undefined || !options.settings.diagnostics) return [];
    return inSlices(diagnose(projectDocument.document, projectDocument.project, options), this.#host, isStale);
  }
}

interface DiagnosticsParts {
  readonly host: Host;
  readonly documents: OpenDocuments;
  /** The client as it is now. */
  readonly client: () => ClientFeatures;
  readonly log: (what: string, error: unknown) => void;
}

/** Takes all steps, and a turn of the event loop after each slice; undefined if the work became stale in between. */
async function inSlices<T>(
  steps: Generator<undefined, T>,
  { nextTurn, clock }: Host,
  isStale: () => boolean,
): Promise<T | undefined> {
  let begin = clock.monotonicMs();
  for (;;) {
    const step = steps.next();
    if (step.done) return step.value;
    if (clock.monotonicMs() - begin < SLICE_MS) continue;
    await nextTurn();
    if (isStale()) return undefined;
    begin = clock.monotonicMs();
  }
}

/** FNV-1a, to tell two texts apart. */
function hash(text: string): string {
  let value = 0x811c9dc5;
  for (let i = 0; i < text.length; i++) value = Math.imul(value ^ text.charCodeAt(i), 0x01000193);
  return (value >>> 0).toString(36);
}
