import type { DidChangeTextDocumentParams, TextDocumentItem } from "vscode-languageserver";
import { TextDocument } from "vscode-languageserver-textdocument";
import type { Clock } from "../grammar/units/clock.ts";
import { CloudNames } from "./cloud-names.ts";
import type { Host } from "./host.ts";
import { ProjectFolder, projectFolderOf } from "./project-folder.ts";
import { type DocumentKind, documentKindOf, normalUri, type Project, ToolDocument } from "./service/index.ts";
import { TrafficFacts } from "./traffic-facts.ts";

/** The texts that the client has open, as the features see them, and the projects that they belong to. */
export class OpenDocuments {
  readonly #directoryOf: Host["directoryOf"];
  readonly #clock: Clock;
  readonly #profiles: Host["profiles"];
  readonly #cloud: CloudNames;
  readonly #traffic: TrafficFacts;
  readonly #open = new Map<string, OpenText>();
  /** Addresses of the client by their normal form: the client may encode otherwise than paths are encoded here. */
  readonly #addresses = new Map<string, string>();
  readonly #projects = new Map<string, ProjectFolder>();

  /** `onLenses` is called when the traffic or the stages of a project have become known, or others. */
  constructor({ directoryOf, clock, profiles, lookUp, askTraffic }: DocumentsHost, onLenses: () => void = () => {}) {
    this.#traffic = new TrafficFacts({ ask: askTraffic, clock, onChange: onLenses });
    this.#cloud = new CloudNames({ lookUp, clock, onStages: onLenses });
    this.#profiles = profiles;
    this.#clock = clock;
    this.#directoryOf = directoryOf;
  }

  open({ uri, languageId, version, text }: TextDocumentItem): void {
    this.#open.set(uri, { text: TextDocument.create(uri, languageId, version, text), document: undefined });
    const normal = normalUri(uri);
    if (normal !== undefined) this.#addresses.set(normal, uri);
  }

  /** Returns false if nothing was changed: the document is not open, or there are no changes. */
  change({ textDocument: { uri, version }, contentChanges }: DidChangeTextDocumentParams): boolean {
    const open = this.#open.get(uri);
    if (open === undefined || contentChanges.length === 0) return false;
    if (typeof version !== "number") throw new Error(`a change of ${uri} has no version`);
    open.text = TextDocument.update(open.text, contentChanges, version);
    return true;
  }

  /** Returns false if the document was not open. */
  close(uri: string): boolean {
    if (!this.#open.delete(uri)) return false;
    const normal = normalUri(uri);
    if (normal !== undefined && this.#addresses.get(normal) === uri) this.#addresses.delete(normal);
    const folder = this.#folderOf(uri);
    if (!this.uris().some((other) => this.#folderOf(other) === folder)) this.#projects.delete(folder);
    return true;
  }

  uris(): readonly string[] {
    return [...this.#open.keys()];
  }

  /** The version of an open document; undefined if it is not open. */
  versionOf(uri: string): number | undefined {
    return this.#open.get(uri)?.text.version;
  }

  /** An open document and its project; undefined if it is not open, or not a file of ours. */
  find(uri: string): ProjectDocument | undefined {
    const open = this.#open.get(uri);
    if (open === undefined) return undefined;
    const project = this.projectOf(uri);
    const kind = documentKindOf(uri, open.text.languageId, project);
    return kind && { document: latest(open, kind), project };
  }

  projectOf(uri: string): ProjectFolder {
    const folder = this.#folderOf(uri);
    let project = this.#projects.get(folder);
    if (project === undefined) {
      project = new ProjectFolder({
        uri: folder,
        directory: this.#directoryOf(folder),
        openConfig: (configUri) => {
          const open = this.#openAt(configUri);
          return open && latest(open, "config");
        },
        clock: this.#clock,
        profiles: this.#profiles,
        cloud: this.#cloud,
        traffic: this.#traffic,
      });
      this.#projects.set(folder, project);
    }
    return project;
  }

  /** Every tool.json that is open, or at the top of one of the folders. */
  configs(folders: readonly string[]): ToolDocument[] {
    const open = this.uris().flatMap((uri) => this.find(uri)?.document ?? []);
    return [
      ...open.filter(({ kind }) => kind === "config"),
      ...Array.from(this.savedConfigs(folders), ({ document }) => document),
    ];
  }

  /** The tool.json at the top of each of the folders, but for those that are open. */
  *savedConfigs(folders: readonly string[]): Generator<ProjectDocument> {
    for (const folder of folders) {
      const uri = `${folder.replace(/\/+$/, "")}/tool.json`;
      if (this.#openAt(uri) !== undefined) continue;
      const project = this.projectOf(uri);
      const document = project.config();
      if (document !== undefined) yield { document, project };
    }
  }

  /** Files have changed: what was read of them is out of date. */
  forgetFiles(): void {
    for (const project of this.#projects.values()) project.forget();
  }

  /** The text that is open at an address, however the client encodes it. */
  #openAt(uri: string): OpenText | undefined {
    // Most addresses are encoded as here, and this is asked for at each key.
    return this.#open.get(uri) ?? this.#open.get(this.#addresses.get(normalUri(uri) ?? uri) ?? uri);
  }

  #folderOf(uri: string): string {
    return projectFolderOf(uri, this.#directoryOf);
  }
}

type DocumentsHost = Pick<Host, "directoryOf" | "clock" | "profiles" | "lookUp" | "askTraffic">;

interface ProjectDocument {
  readonly document: ToolDocument;
  readonly project: Project;
}

interface OpenText {
  /** As the client has it; a change updates it in place. */
  text: TextDocument;
  /** The version that was asked for last. */
  document: ToolDocument | undefined;
}

/** The newest version of a text. What it has computed is passed to the next version. */
function latest(open: OpenText, kind: DocumentKind): ToolDocument {
  const { uri, version } = open.text;
  const text = open.text.getText();
  const previous = open.document;
  if (previous?.version === version && previous.kind === kind && previous.text === text) return previous;
  open.document = new ToolDocument({ uri, version, text, kind }, previous?.memory);
  return open.document;
}
